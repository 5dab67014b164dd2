import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type BackupReport, makeBackup } from '../make-backup.ts'
import { exitTable } from '../../exit-codes.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'
import { backupWork, rateOption } from './backup-command.ts'
import { ConfigCommand } from '../../commands/config/config-command.ts'

/** Payloads that a report names. */
const MISSING_SHOWN_MAXIMUM = 20

export class BackupCommand extends ConfigCommand {
  static override paths = [['backup']]

  static override usage = Command.Usage({
    category: 'Backup',
    description: 'copy a store into a directory, also while its server runs',
    details: `
      The first time DIR must be new or empty; after that only what is new is copied. Everything that was acknowledged
      before the command began is in the backup. It must run on the machine of the store, as a user who may read its files.
      The server keeps running, and keeps the files of deleted objects until the command ends.

      DIR is a complete backup when the command ends with 0. An interrupted run leaves the previous backup intact, and the
      next run continues with what was copied. Payloads of deleted objects stay in DIR, for a restore to an earlier
      record, until --prune. The master key is not in the backup: keep a copy of it elsewhere.

      Ends with 21 if the store itself lacks payloads; the backup then has everything else.
    `,
    examples: [
      ['Make a backup, or bring it up to date', '$0 backup /backup/store --data-dir /var/lib/object-store'],
      ['Limit the load on the disks', '$0 backup /backup/store --rate 50MiB'],
    ],
  })

  directory = Option.String({ required: true, name: 'DIR' })
  rate = Option.String('--rate', { description: 'maximum bytes copied per second, such as 50MiB' })
  prune = Option.Boolean('--prune', false, { description: 'remove payloads from DIR that the store has deleted' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const bytesPerSecond = rateOption(this.rate)
    const directory = resolve(this.context.workingDirectory, this.directory)
    const bar = new ProgressBar(this.context.stderr)
    const begun = performance.now()
    const report = await backupWork(bar, () =>
      makeBackup(nodeDisk, new StorePaths(config.data_dir), directory, {
        bytesPerSecond,
        prune: this.prune,
        progress: (text) => bar.say(text),
      }),
    )
    const seconds = Math.round(performance.now() - begun) / 1000
    const lines = this.json ? [asJson(report, seconds)] : asText(report, seconds, directory)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    return (report.missing.length === 0 ? exitTable.ok : exitTable.storeDamaged).code
  }
}

function asJson({ point, deploymentId, ...report }: BackupReport, seconds: number): string {
  const { sequence, hash } = point
  return JSON.stringify({
    ...report,
    sequence,
    hash,
    deployment_id: deploymentId,
    pruned: report.pruned ?? null,
    unnoted: report.unnoted ?? null,
    seconds,
  })
}

function asText(report: BackupReport, seconds: number, directory: string): string[] {
  const { point, records, files, volumes, bytes, missing, pruned, unnoted } = report
  const rate = bytesText(bytes / Math.max(seconds, 0.001))
  return [
    `${directory} is whole up to record ${point.sequence}.`,
    `added       ${records.toLocaleString('en')} records, ${files.toLocaleString('en')} payload files, parts of ${volumes} volumes`,
    `copied      ${bytesText(bytes)} in ${seconds} s, ${rate}/s`,
    `head        ${point.sequence}:${point.hash}`,
    ...(pruned === undefined
      ? []
      : [`removed     ${pruned.files} payload files and ${pruned.volumes} volumes, ${bytesText(pruned.bytes)}`]),
    ...(unnoted === undefined ? [] : [`The store has no note of it (${unnoted}): its metrics name an earlier backup.`]),
    ...(missing.length === 0 ? [] : [`The store lacks ${missing.length} payloads:`]),
    ...missing.slice(0, MISSING_SHOWN_MAXIMUM).map((what) => `  ${what}`),
  ]
}
