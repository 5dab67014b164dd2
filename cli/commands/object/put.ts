import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'clipanion'
import { ClientCommand } from '../../client/client-command.ts'
import { pathOf } from '../../client/management-client.ts'
import { fields } from '../../client/tables.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { bucketArgument } from '../option-values.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'

export class ObjectPutCommand extends ClientCommand {
  static override paths = [['object', 'put']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'upload a file, or standard input (-), as an object',
    examples: [
      ['A picture', '$0 object put photos 2026/cat.png cat.png --content-type image/png'],
      ['From a pipe', 'tar c docs | $0 object put backups docs.tar -'],
    ],
  })

  bucket = Option.String({ name: 'bucket' })
  key = Option.String({ name: 'key' })
  file = Option.String({ name: 'file' })
  contentType = Option.String('--content-type', {
    description: 'type of the object (default: application/octet-stream)',
  })

  override async execute(): Promise<number> {
    if (this.file !== '-') return this.#put(resolve(this.context.workingDirectory, this.file))
    // The server must know the length before the first byte, so the input of a pipe is kept on the disk meanwhile.
    const directory = mkdtempSync(join(tmpdir(), 'object-store-put-'))
    try {
      const path = join(directory, 'stdin')
      await this.#keep(path)
      return await this.#put(path)
    } finally {
      rmSync(directory, { recursive: true })
    }
  }

  /** Writes standard input to a file, and shows its progress. */
  async #keep(path: string): Promise<void> {
    const bar = new ProgressBar(this.context.stderr)
    const file = createWriteStream(path, { mode: 0o600 })
    const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      let bytes = 0
      for await (const piece of pieces) {
        bytes += piece.length
        bar.say(`${bytesText(bytes)} read`)
        yield piece
      }
    }
    await pipeline(this.context.stdin, counted, file).finally(() => bar.clear())
  }

  async #put(path: string): Promise<number> {
    const stat = statSync(path)
    if (!stat.isFile()) throw new ExitError('usage', `${path} is not a file; an object is made of one file`)
    const length = stat.size
    const bar = new ProgressBar(this.context.stderr)
    const stream = createReadStream(path)
    stream.on('data', () => bar.draw(stream.bytesRead / Math.max(1, length), bytesText(stream.bytesRead)))
    // The request reads at its own pace; listening must not make it faster.
    stream.pause()
    const contentType = this.contentType ?? 'application/octet-stream'
    const upload = { stream, length, contentType }
    const request = { method: 'PUT', path: pathOf('buckets', bucketArgument(this.bucket), 'object', this.key), upload }
    const answer = await this.client()
      .json(request)
      .finally(() => bar.clear())
    this.print(answer, fields)
    return exitTable.ok.code
  }
}
