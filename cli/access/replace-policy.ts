import { Command, Option } from 'clipanion'
import { ClientCommand } from '../client/client-command.ts'
import { encodedPart } from '../client/management-client.ts'
import { idOf } from '../client/route-commands.ts'
import { fields, objectOf } from '../client/tables.ts'
import { exitTable } from '../exit-codes.ts'
import { readPolicy } from './read-policy.ts'

export class PolicyReplaceCommand extends ClientCommand {
  static override paths = [['policy', 'replace']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'replace the statements of a policy with those of a JSON file',
    details: `
      The file is that of policy create. Every account that the policy is attached to may do what the new statements
      allow, from its next request on.
    `,
    examples: [['Let readers read another bucket', '$0 policy replace readers readers.json']],
  })

  policy = Option.String({ name: 'policy' })
  file = Option.String({ name: 'file' })
  newName = Option.String('--name', { description: 'a new name (default: unchanged)' })

  override async execute(): Promise<number> {
    const policy = readPolicy(this.context.workingDirectory, this.file)
    const client = this.client()
    const path = `/policies/${encodedPart(await idOf('policy', this.policy, client))}`
    const name = this.newName ?? objectOf(await client.json({ method: 'GET', path }))['name']
    this.print(await client.json({ method: 'PUT', path, json: { ...policy, name } }), fields)
    return exitTable.ok.code
  }
}
