import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { restoreBackup, type RestoreReport } from '../restore.ts'
import type { CliContext } from '../../cli-context.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { exitTable } from '../../exit-codes.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'
import { backupWork, rateOption } from './backup-command.ts'
import { wholeOption } from '../../commands/option-values.ts'

const LOSSES_SHOWN_MAXIMUM = 20

export class RestoreCommand extends Command<CliContext> {
  static override paths = [['restore']]

  static override usage = Command.Usage({
    category: 'Backup',
    description: 'make a data directory from a backup, as it was at a record of its journal',
    details: `
      DATA must be new or empty. Everything is read back and verified before the command ends with 0; until then no server
      opens DATA. Start a server on it with the master key of the store; with any other key it ends with 23.

      Without --at the newest point of the backup is restored. Between two backups the store may have removed payloads that
      no backup copied. A restore to a record that needs them ends with 24; with --accept-losses it leaves them out and
      ends with 3.

      The next start records in the journal that it was restored, and to which record.
    `,
    examples: [
      ['Restore the newest point', '$0 restore /backup/store --to /var/lib/object-store'],
      ['Restore what was there before record 4712', '$0 restore /backup/store --to ./before --at 4711'],
    ],
  })

  directory = Option.String({ required: true, name: 'DIR' })
  to = Option.String('--to', { required: true, description: 'the new data directory' })
  at = Option.String('--at', { description: 'sequence of the last record that is restored' })
  acceptLosses = Option.Boolean('--accept-losses', false, {
    description: 'restore without payloads that DIR does not have',
  })
  rate = Option.String('--rate', { description: 'maximum bytes copied per second, such as 50MiB' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const { environment, workingDirectory, stderr, stdout } = this.context
    const bar = new ProgressBar(stderr)
    const masterKey = decodeMasterKey(environment['OBJECT_STORE_CREDENTIAL_MASTER_KEY'] ?? '')
    const options = {
      at: wholeOption('--at', this.at),
      acceptLosses: this.acceptLosses,
      bytesPerSecond: rateOption(this.rate),
      threads: availableParallelism(),
      ...(masterKey && { masterKey }),
      progress: (text: string) => bar.say(text),
    }
    const to = resolve(workingDirectory, this.to)
    const begun = performance.now()
    const report = await backupWork(bar, () =>
      restoreBackup(nodeDisk, resolve(workingDirectory, this.directory), to, options),
    )
    const seconds = Math.round(performance.now() - begun) / 1000
    const lines = this.json ? [asJson(report, seconds)] : asText(report, seconds, to)
    stdout.write(`${lines.join('\n')}\n`)
    return (report.losses.length === 0 ? exitTable.ok : exitTable.partly).code
  }
}

function asJson({ deploymentId, last, payloads, bytes, losses }: RestoreReport, seconds: number): string {
  return JSON.stringify({
    deployment_id: deploymentId,
    sequence: last.sequence,
    hash: Buffer.from(last.head).toString('hex'),
    payloads: payloads.checked,
    payload_bytes: payloads.bytes,
    bytes,
    losses,
    seconds,
  })
}

function asText({ last, payloads, bytes, losses }: RestoreReport, seconds: number, to: string): string[] {
  return [
    `${to} is the store as it was at record ${last.sequence}, verified.`,
    `copied      ${bytesText(bytes)} in ${seconds} s`,
    `verified    ${payloads.checked.toLocaleString('en')} payloads, ${bytesText(payloads.bytes)}`,
    `head        ${last.sequence}:${Buffer.from(last.head).toString('hex')}`,
    ...(losses.length === 0 ? [] : [`lost        ${losses.length} payloads that no backup has copied:`]),
    ...losses.slice(0, LOSSES_SHOWN_MAXIMUM).map((loss) => `  ${loss}`),
  ]
}
