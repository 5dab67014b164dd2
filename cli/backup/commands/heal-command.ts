import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StoppedStoreCommand } from '../../commands/config/stopped-store-command.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { accountOfHost } from '../../values/host-account.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { healStore, type HealReport } from '../heal/heal.ts'

const SHOWN_MAXIMUM = 20

export class StorageHealCommand extends StoppedStoreCommand {
  static override paths = [['storage', 'heal']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'put damaged payloads and segments back from a backup',
    details: `
      The server must not be running. Reads every segment of the journal and every payload in use, or with BUCKET and KEY the
      payloads of that object. What is damaged or missing is written back in its place from the backup in --from, when the
      bytes there have the digest that the journal of this store states: nothing else can be written, so locked versions are
      healed as well. What is intact is not touched. Encrypted payloads need the master key.

      The open segment, at the end of the journal, is healed as far as the backup has it, when both together are one chain up to
      the record that the high-water mark names.

      Each repair is a record of the audit log from the next start on (operation storage.heal).

      Ends with 0 if everything that was read is intact now, with 21 if something stays damaged, with 2 for the backup of another
      store, and with 22 while a server runs. Start the server afterwards; "storage scrub" and "journal verify" then clear what is known of damage.
    `,
    examples: [
      ['One object', '$0 storage heal photos 2026/cat.jpg --from /backup/store --data-dir ./data'],
      ['Everything', '$0 storage heal --from /backup/store --data-dir ./data'],
    ],
  })

  bucket = Option.String({ required: false, name: 'BUCKET' })
  key = Option.String({ required: false, name: 'KEY' })
  from = Option.String('--from', { required: true, description: 'the directory of the backup' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })
  versionId = Option.String('--version-id', { description: 'this version (default: the current one)' })

  override async execute(): Promise<number> {
    const { bucket, key, versionId } = this
    if ((bucket === undefined) !== (key === undefined)) throw new ExitError('usage', 'BUCKET and KEY go together')
    if (versionId !== undefined && key === undefined) throw new ExitError('usage', '--version-id needs BUCKET and KEY')
    const object = bucket === undefined || key === undefined ? undefined : { bucket, key, versionId }
    const bar = new ProgressBar(this.context.stderr)
    const masterKey = decodeMasterKey(this.readConfig().config['credential_master_key']?.reveal() ?? '')
    const from = resolve(this.context.workingDirectory, this.from)
    const progress = (text: string) => bar.say(text)
    const report = await this.withStore((paths) =>
      healStore(nodeDisk, paths, from, { object, masterKey, by: accountOfHost(), progress }),
    ).finally(() => bar.clear())
    const lines = this.json ? [JSON.stringify(asJson(report))] : asText(report)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return (report.left.length === 0 ? exitTable.ok : exitTable.storeDamaged).code
  }
}

function asJson({ checked, healed, left }: HealReport) {
  return { payloads_checked: checked, healed, still_damaged: left }
}

/** The first lines, indented, and how many more there are. */
function shown(lines: readonly string[]): string[] {
  const more = lines.length - SHOWN_MAXIMUM
  return [
    ...lines.slice(0, SHOWN_MAXIMUM).map((line) => `  ${visibleText(line)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}

function asText({ checked, healed, left }: HealReport): string[] {
  return [
    `${checked.toLocaleString('en')} payloads checked, ${healed.length} put back, ${left.length} still damaged`,
    ...(healed.length === 0 ? [] : ['put back from the backup:', ...shown(healed)]),
    ...(left.length === 0 ? [] : ['still damaged:', ...shown(left)]),
  ]
}
