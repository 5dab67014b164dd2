import { Command, Option } from 'clipanion'
import { ClientCommand } from '../client/client-command.ts'
import { fields } from '../client/tables.ts'
import { S3_ACTIONS } from '../../planes/s3/authorize.ts'
import { exitTable } from '../exit-codes.ts'
import { readStatements } from './read-statements.ts'

export class PolicyCreateCommand extends ClientCommand {
  static override paths = [['policy', 'create']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'create a policy from a JSON file',
    details: `
      The file holds a list of statements, or an object with such a list in "statements":

      [{"effect": "allow", "actions": ["s3:GetObject", "s3:ListBucket"], "resources": ["bucket:photos", "bucket:photos/*"]}]

      An effect is allow or deny; deny wins over allow. A resource is a bucket, or keys in it; the wildcard * is
      allowed at the end. Actions, or s3:* for all of them:

      ${[...S3_ACTIONS].toSorted().join(', ')}
    `,
    examples: [['Read one bucket', '$0 policy create readers readers.json']],
  })

  policyName = Option.String({ name: 'name' })
  file = Option.String({ name: 'file' })

  override async execute(): Promise<number> {
    const statements = readStatements(this.context.workingDirectory, this.file)
    const json = { name: this.policyName, statements }
    this.print(await this.client().json({ method: 'POST', path: '/policies', json }), fields)
    return exitTable.ok.code
  }
}
