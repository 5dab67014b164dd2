import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { readCheckpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import { timeStampRequest } from '../../engine/checkpoints/time-stamp.ts'
import { ClientCommand } from '../client/client-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { wholeOption } from '../commands/option-values.ts'
import { readSmallFile } from '../terminal/read-file.ts'
import { saveFile } from '../terminal/save-file.ts'

const ANSWER_BYTES_MAXIMUM = 64 * 1024

interface Receipts {
  readonly receipts: readonly { readonly size: number; readonly kind: string; readonly receipt: string }[]
}

export class CheckpointTimestampCommand extends ClientCommand {
  static override paths = [['checkpoint', 'timestamp']]

  static override usage = Command.Usage({
    category: 'Checkpoints',
    description: 'save the time stamp of a checkpoint, or fetch one by hand',
    details: `
      With --output it saves the time stamp of RFC 3161 that the store has, for openssl ts -verify -digest BUNDLE_ROOT
      -in FILE -CAfile AUTHORITY.

      A store that reaches no authority gets one by hand: --request writes the question, any program sends it to an authority
      (Content-Type: application/timestamp-query), and --receipt gives the answer to the store, which checks what it is about
      and keeps it.
    `,
    examples: [
      ['What the store has', '$0 checkpoint timestamp --output checkpoint.tsr'],
      ['By hand', '$0 checkpoint timestamp --size 70000 --request checkpoint.tsq'],
      ['and then', '$0 checkpoint timestamp --size 70000 --receipt checkpoint.tsr'],
    ],
  })

  size = Option.String('--size', { description: 'of the checkpoint; of the last one without it' })
  output = Option.String('--output', { description: 'save the time stamp to this file' })
  request = Option.String('--request', { description: 'write the question for an authority to this file' })
  receipt = Option.String('--receipt', { description: 'give the store the answer in this file' })
  giver = Option.String('--giver', { description: 'who gave it, such as the URL of the authority' })

  override async execute(): Promise<number> {
    const given = [this.output, this.request, this.receipt].filter((file) => file !== undefined)
    if (given.length !== 1) throw new ExitError('usage', 'one of --output, --request and --receipt must be given')
    if (this.giver !== undefined && this.receipt === undefined)
      throw new ExitError('usage', '--giver belongs to --receipt')
    if (this.receipt !== undefined) return this.#give(this.receipt)
    const { size, bundle_root: root } = await this.#checkpoint()
    const file = resolve(this.context.workingDirectory, (this.output ?? this.request) as string)
    if (this.request === undefined) saveFile(file, await this.#kept(size))
    else saveFile(file, timeStampRequest(Buffer.from(root, 'hex'), undefined))
    this.print({ size, bundle_root: root, file }, (done) =>
      Object.entries(done).map(([name, value]) => [name, String(value)]),
    )
    return exitTable.ok.code
  }

  async #give(file: string): Promise<number> {
    const bytes = await readSmallFile(resolve(this.context.workingDirectory, file), ANSWER_BYTES_MAXIMUM)
    const json = {
      receipt: Buffer.from(bytes).toString('base64'),
      ...(this.size !== undefined && { size: wholeOption('--size', this.size) }),
      ...(this.giver !== undefined && { giver: this.giver }),
    }
    const answer = await this.client().json({ method: 'POST', path: '/transparency/receipts', json })
    this.print(answer as Record<string, unknown>, (done) =>
      Object.entries(done).map(([name, value]) => [name, String(value)]),
    )
    return exitTable.ok.code
  }

  /** The checkpoint that is asked about. @throws ExitError `notFound` */
  async #checkpoint(): Promise<{ readonly size: number; readonly bundle_root: string }> {
    const client = this.client()
    const last = async () =>
      readCheckpointNote(await client.text({ method: 'GET', path: '/transparency/checkpoint' })).size
    const size = wholeOption('--size', this.size) ?? (await last())
    // The entry of a checkpoint comes after the entries that it covers.
    const query = { after: size > 1 ? String(size - 1) : undefined, limit: '1' }
    const answer = await client.json({ method: 'GET', path: '/transparency/checkpoints', query })
    const [found] = (answer as { checkpoints: { size: number; bundle_root: string }[] }).checkpoints
    if (found?.size === size) return found
    throw new ExitError('notFound', `there is no checkpoint of ${size} records`)
  }

  /** @throws ExitError `notFound` */
  async #kept(size: number): Promise<Buffer> {
    const answer = await this.client().json({
      method: 'GET',
      path: '/transparency/receipts',
      query: { size: String(size) },
    })
    const kept = (answer as Receipts).receipts.find((one) => one.size === size && one.kind === 'rfc3161')
    if (kept === undefined) throw new ExitError('notFound', `the checkpoint of ${size} records has no time stamp`)
    return Buffer.from(kept.receipt, 'base64')
  }
}
