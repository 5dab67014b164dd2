import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { CliContext } from '../../cli-context.ts'
import { wholeOption } from '../../commands/option-values.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'
import { backupWork } from './backup-command.ts'
import { extractObject } from '../extract.ts'

export class BackupExtractCommand extends Command<CliContext> {
  static override paths = [['backup', 'extract']]

  static override usage = Command.Usage({
    category: 'Backup',
    description: 'take one object out of a backup',
    details: `
      Reads the backup and nothing else; no server is needed. FILE appears when its bytes have the digest that the journal of
      the backup states, and must not exist. An encrypted object, and --version-id, need the credential master key
      (OBJECT_STORE_CREDENTIAL_MASTER_KEY).

      The state of the backup is derived from its journal in a temporary directory first, which takes as long as a start without
      projections.

      Ends with 4 if the backup does not have the object, with 21 if its bytes in the backup are damaged, and with 23 if the
      master key is missing or is not the one of the store.
    `,
    examples: [
      ['The current version', '$0 backup extract /backup/store photos 2026/cat.jpg cat.jpg'],
      ['As it was at record 4711', '$0 backup extract /backup/store photos 2026/cat.jpg cat.jpg --at 4711'],
    ],
  })

  directory = Option.String({ required: true, name: 'DIR' })
  bucket = Option.String({ required: true, name: 'BUCKET' })
  key = Option.String({ required: true, name: 'KEY' })
  file = Option.String({ required: true, name: 'FILE' })
  versionId = Option.String('--version-id', { description: 'this version (default: the current one)' })
  at = Option.String('--at', { description: 'as it was at the record with this sequence' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const { environment, workingDirectory, stderr, stdout } = this.context
    const to = resolve(workingDirectory, this.file)
    if (nodeDisk.exists(to)) throw new ExitError('usage', `${to} already exists`)
    const bar = new ProgressBar(stderr)
    const { bucket, key, versionId } = this
    const { bytes, sha256, isDigestKnown, version } = await backupWork(bar, () =>
      extractObject(nodeDisk, resolve(workingDirectory, this.directory), { bucket, key, versionId }, to, {
        at: wholeOption('--at', this.at),
        masterKey: decodeMasterKey(environment['OBJECT_STORE_CREDENTIAL_MASTER_KEY'] ?? ''),
        progress: (text) => bar.say(text),
      }),
    )
    const proof = isDigestKnown
      ? 'the digest in the journal'
      : 'no digest in the journal yet; each block and part is intact'
    const lines = this.json
      ? [JSON.stringify({ file: to, bytes, sha256, digest_in_journal: isDigestKnown, sequence: version })]
      : [
          `${to} has the ${bytesText(bytes)} of the object.`,
          `sha256    ${sha256}`,
          `proved by ${proof}`,
          `written   by record ${version}`,
        ]
    stdout.write(`${lines.join('\n')}\n`)
    return exitTable.ok.code
  }
}
