import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command, Option } from 'clipanion'
import { ClientCommand } from '../../client/client-command.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { brokenOff, pathOf } from '../../client/management-client.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { bucketArgument } from '../option-values.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'

export class ObjectGetCommand extends ClientCommand {
  static override paths = [['object', 'get']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'download an object to a file, or to standard output (-)',
    details: 'The file appears under its name only when it is complete.',
    examples: [
      ['To a file', '$0 object get photos 2026/cat.png cat.png'],
      ['To a pipe', '$0 object get backups docs.tar - | tar x'],
    ],
  })

  bucket = Option.String({ name: 'bucket' })
  key = Option.String({ name: 'key' })
  file = Option.String({ name: 'file', required: false })
  versionId = Option.String('--version-id', { description: 'this version instead of the current one' })

  override async execute(): Promise<number> {
    const response = await this.client().open({
      method: 'GET',
      path: pathOf('buckets', bucketArgument(this.bucket), 'object-content', this.key),
      query: { version_id: this.versionId },
    })
    if (this.file === undefined || this.file === '-') {
      await pipeline(response, this.context.stdout, { end: false }).catch(brokenOff)
      return exitTable.ok.code
    }
    const path = resolve(this.context.workingDirectory, this.file)
    try {
      const bar = new ProgressBar(this.context.stderr)
      const length = Number(response.headers['content-length'])
      const draw = (bytes: number) => bar.draw(bytes / Math.max(1, length), bytesText(bytes))
      await save(response, path, draw).finally(() => bar.clear())
    } catch (error) {
      throw new ExitError('failed', `${path} was not written: ${(error as Error).message}`, { cause: error })
    }
    return exitTable.ok.code
  }
}

/** Writes a stream to a file, which gets its name when it is complete and durable. */
async function save(source: AsyncIterable<Buffer>, path: string, saved: (bytes: number) => void): Promise<void> {
  const partial = `${path}.partial-${process.pid}`
  const file = await nodeDisk.createAsync(partial)
  try {
    let position = 0
    for await (const piece of source) {
      await file.writeAtAsync(piece, position)
      position += piece.length
      saved(position)
    }
    await file.syncAsync()
    await file.closeAsync()
    await nodeDisk.renameAsync(partial, path)
    await nodeDisk.syncDirectoryAsync(dirname(path))
  } catch (error) {
    await file.closeAsync().catch(() => undefined)
    await nodeDisk.removeAsync(partial)
    throw error
  }
}
