import { Command, Option } from 'clipanion'
import { EXPIRES_AT } from '../../planes/management/schemas/common.ts'
import { objectPath } from '../../planes/management/routing/route-command.ts'
import { ClientCommand } from '../client/client-command.ts'
import { pathOf } from '../client/management-client.ts'
import { fields } from '../client/tables.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { objectArgument, secondsOption, timeOption, wholeOption } from '../commands/option-values.ts'

/** Of a password with the end of its line; the server takes 1,024. */
const PASSWORD_BYTES_MAXIMUM = 4096

export class ShareCreateCommand extends ClientCommand {
  static override paths = [['share', 'create']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'share an object: prints a link with which anybody can download the object',
    details: `
      Without --version-id the share follows the current object of the key. A password is read from standard input, so
      that neither the history of the shell nor the list of processes has it.
    `,
    examples: [
      ['For a week', '$0 share create photos/2026/cat.jpg --expires 7d'],
      ['Once, with a password', 'pass show cat | $0 share create photos/cat.jpg --max-downloads 1 --password-stdin'],
    ],
  })

  object = Option.String({ name: 'bucket/key' })
  expires = Option.String('--expires', { description: 'seconds until it expires, or a duration such as 12h or 7d' })
  expiresAt = Option.String('--expires-at', { description: EXPIRES_AT })
  versionId = Option.String('--version-id', { description: 'this version, instead of whatever is current' })
  passwordStdin = Option.Boolean('--password-stdin', false, { description: 'read a password from standard input' })
  maxDownloads = Option.String('--max-downloads', { description: 'how often it can be downloaded' })
  fileName = Option.String('--file-name', { description: 'name of the downloaded file (default: the end of the key)' })

  override async execute(): Promise<number> {
    const { bucket, key } = objectPath(objectArgument(this.object))
    const json = {
      version_id: this.versionId,
      password: this.passwordStdin ? await this.#password() : undefined,
      expires_in_seconds: this.expires === undefined ? undefined : secondsOption('--expires', this.expires),
      expires_at: timeOption('--expires-at', this.expiresAt),
      maximum_downloads: wholeOption('--max-downloads', this.maxDownloads),
      file_name: this.fileName,
    }
    const request = { method: 'POST', path: pathOf('buckets', bucket, 'object-shares', key), json }
    this.print(await this.client().json(request), fields)
    return exitTable.ok.code
  }

  /** Standard input without the end of its one line. @throws ExitError `usage` */
  async #password(): Promise<string> {
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of this.context.stdin) {
      pieces.push(Buffer.from(piece as Uint8Array))
      bytes += pieces.at(-1)?.length ?? 0
      if (bytes > PASSWORD_BYTES_MAXIMUM) throw new ExitError('usage', 'standard input is too long for a password')
    }
    const password = Buffer.concat(pieces)
      .toString()
      .replace(/\r?\n$/, '')
    if (password === '') throw new ExitError('usage', 'standard input has no password')
    if (/[\r\n]/.test(password)) throw new ExitError('usage', 'standard input has more than the one line of a password')
    return password
  }
}
