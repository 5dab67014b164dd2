import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { ClientCommand } from '../../client/client-command.ts'
import { pathOf } from '../../client/management-client.ts'
import { fields } from '../../client/tables.ts'
import { exitTable } from '../../exit-codes.ts'

export class ObjectPutCommand extends ClientCommand {
  static override paths = [['object', 'put']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'upload a file as an object',
    examples: [['A picture', '$0 object put photos 2026/cat.png cat.png --content-type image/png']],
  })

  bucket = Option.String({ name: 'bucket' })
  key = Option.String({ name: 'key' })
  file = Option.String({ name: 'file' })
  contentType = Option.String('--content-type', {
    description: 'type of the object (default: application/octet-stream)',
  })

  override async execute(): Promise<number> {
    const path = resolve(this.context.workingDirectory, this.file)
    const length = statSync(path).size
    const contentType = this.contentType ?? 'application/octet-stream'
    const answer = await this.client().json({
      method: 'PUT',
      path: pathOf('buckets', this.bucket, 'object', this.key),
      upload: { stream: createReadStream(path), length, contentType },
    })
    this.print(answer, fields)
    return exitTable.ok.code
  }
}
