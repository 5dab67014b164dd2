import { Command, Option } from 'clipanion'
import { ClientCommand } from '../../client/client-command.ts'
import { pathOf } from '../../client/management-client.ts'
import { fields } from '../../client/tables.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { bucketArgument, quantityOption, wholeOption } from '../option-values.ts'

const UNLIMITED = 'unlimited'

export class QuotaSetCommand extends ClientCommand {
  static override paths = [['quota', 'set']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'set the quota of a bucket; limits not given stay unchanged',
    examples: [
      ['Ten GiB, and as many objects as before', '$0 quota set photos --bytes 10GiB'],
      ['No limit on the number of objects', '$0 quota set photos --objects unlimited'],
    ],
  })

  bucket = Option.String({ name: 'bucket' })
  bytes = Option.String('--bytes', { description: 'maximum bytes of current objects, such as 10GiB, or unlimited' })
  objects = Option.String('--objects', { description: 'maximum number of current objects, or unlimited' })

  override async execute(): Promise<number> {
    const { bytes, objects } = this
    if (bytes === undefined && objects === undefined) throw new ExitError('usage', '--bytes or --objects is missing')
    const given = {
      ...limitOf('bytes', bytes, (text) => quantityOption('--bytes', text, 'bytes')),
      ...limitOf('objects', objects, (text) => wholeOption('--objects', text)),
    }
    const client = this.client()
    const path = pathOf('buckets', bucketArgument(this.bucket), 'quota')
    const { quota } = (await client.json({ method: 'GET', path })) as { quota: Readonly<Record<string, unknown>> }
    this.print(await client.json({ method: 'PUT', path, json: { quota: { ...quota, ...given } } }), fields)
    return exitTable.ok.code
  }
}

/** A limit in the form of the specification (Quota); nothing where it is not given. */
function limitOf(name: string, text: string | undefined, read: (text: string) => number | undefined): object {
  if (text === undefined) return {}
  return { [name]: text === UNLIMITED ? { mode: UNLIMITED } : { mode: 'limit', [name]: read(text) } }
}
