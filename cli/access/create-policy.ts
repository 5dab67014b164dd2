import { Command, Option } from 'clipanion'
import { ClientCommand } from '../client/client-command.ts'
import { fields } from '../client/tables.ts'
import { S3_ACTIONS } from '../../planes/s3/authorize.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { BUILT_IN_HELP, builtInOption, builtInStatements, scopeOf } from './built-in-policies.ts'
import { readPolicy } from './read-policy.ts'

export class PolicyCreateCommand extends ClientCommand {
  static override paths = [['policy', 'create']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'create a policy from a JSON file, or one that is built in',
    details: `
      The file holds a list of statements, or an object with such a list in "statements":

      [{"effect": "allow", "actions": ["s3:GetObject", "s3:ListBucket"], "resources": ["bucket:photos", "bucket:photos/*"]}]

      An effect is allow or deny; deny wins over allow. A resource is a bucket, or keys in it; the wildcard * is
      allowed at the end. A policy as AWS writes it (Version, Statement, resources such as arn:aws:s3:::photos/*) is
      translated; what cannot be is refused by its statement. In place of a file, --access with --bucket takes a built-in policy: ${BUILT_IN_HELP}. Actions, or s3:* for all of them:

      ${[...S3_ACTIONS].toSorted().join(', ')}
    `,
    examples: [
      ['Read one bucket', '$0 policy create readers --access read --bucket photos'],
      ['By a file', '$0 policy create readers readers.json'],
    ],
  })

  policyName = Option.String({ name: 'name' })
  file = Option.String({ name: 'file', required: false })
  access = Option.String('--access', { description: 'built-in policy in place of a file: read, write or read-write' })
  bucket = Option.String('--bucket', { description: 'bucket of the built-in policy' })
  prefix = Option.String('--prefix', { description: 'what its keys begin with (default: all of the bucket)' })

  override async execute(): Promise<number> {
    const json = { ...this.#policy(), name: this.policyName }
    this.print(await this.client().json({ method: 'POST', path: '/policies', json }), fields)
    return exitTable.ok.code
  }

  #policy(): Readonly<Record<string, unknown>> {
    const { file, access, bucket, prefix } = this
    if (file !== undefined && access === undefined) return readPolicy(this.context.workingDirectory, file)
    if (file !== undefined || access === undefined || bucket === undefined) {
      throw new ExitError('usage', 'a policy comes from a file, or from --access with --bucket')
    }
    return { statements: builtInStatements(builtInOption('--access', access), scopeOf(bucket, prefix)) }
  }
}
