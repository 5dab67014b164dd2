import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { VerificationReport } from '../../../engine/verify/journal-verifier.ts'
import { type BackupVerification, verifyBackup } from '../verify-backup.ts'
import type { CliContext } from '../../cli-context.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { exitTable } from '../../exit-codes.ts'
import { newerLines } from '../../commands/journal/verify-report.ts'
import { bytesText, ProgressBar } from '../../terminal/progress-bar.ts'
import { backupWork } from './backup-command.ts'

const PROBLEMS_SHOWN_MAXIMUM = 20

export class BackupVerifyCommand extends Command<CliContext> {
  static override paths = [['backup', 'verify']]

  static override usage = Command.Usage({
    category: 'Backup',
    description: 'prove a backup: every record, and every payload by its digest',
    details: `
      Reads the whole backup and changes nothing; no server and no key is needed. With the credential master key
      (OBJECT_STORE_CREDENTIAL_MASTER_KEY) changes of accounts, policies and tokens are authenticated too.

      Ends with 0 if the backup is whole, with 21 if something in it is damaged or missing, with 27 if everything is right
      and its journal has records of kinds that only a newer version knows, and with 4 if there is no finished backup in DIR.
    `,
    examples: [['Prove a backup', '$0 backup verify /backup/store']],
  })

  directory = Option.String({ required: true, name: 'DIR' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const bar = new ProgressBar(this.context.stderr)
    const masterKey = decodeMasterKey(this.context.environment['OBJECT_STORE_CREDENTIAL_MASTER_KEY'] ?? '')
    const report = await backupWork(bar, () =>
      verifyBackup(nodeDisk, resolve(this.context.workingDirectory, this.directory), {
        threads: availableParallelism(),
        ...(masterKey && { masterKey }),
        progress: (text) => bar.say(text),
      }),
    )
    const problems = problemsOf(report)
    const lines = this.json ? [asJson(report, problems)] : asText(report, problems)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    if (problems.length > 0) return exitTable.storeDamaged.code
    return (report.journal.newer.length === 0 ? exitTable.ok : exitTable.newerFormat).code
  }
}

function problemsOf({ journal, payloads }: BackupVerification): string[] {
  const inJournal = journal.problems.map(
    ({ segment, offset, sequence, verdict, detail }) =>
      `${segment} offset ${offset} sequence ${sequence}: ${verdict}: ${detail}`,
  )
  return [...inJournal, ...(payloads?.problems ?? [])]
}

function asJson({ deploymentId, runs, journal, payloads }: BackupVerification, problems: readonly string[]): string {
  const last = runs.at(-1)
  return JSON.stringify({
    whole: problems.length > 0 ? false : journal.newer.length > 0 ? null : true,
    deployment_id: deploymentId,
    points: runs.map(({ made, point }) => ({ made, sequence: point.sequence, hash: point.hash })),
    records: journal.records,
    payloads: payloads?.checked ?? null,
    payload_bytes: payloads?.bytes ?? null,
    missing_in_store: last?.missing ?? [],
    newer: journal.newer,
    problems,
  })
}

function headline({ newer }: VerificationReport, problems: readonly string[]): string {
  if (problems.length > 0)
    return `The backup is NOT whole: ${problems.length} problem${problems.length === 1 ? '' : 's'}.`
  if (newer.length === 0) return 'The backup is whole.'
  return 'The backup is whole up to its last point. After it the journal holds what only a newer version knows.'
}

function asText({ deploymentId, runs, journal, payloads }: BackupVerification, problems: readonly string[]): string[] {
  const last = runs.at(-1)
  const more = problems.length - PROBLEMS_SHOWN_MAXIMUM
  return [
    headline(journal, problems),
    ...newerLines(journal),
    ...problems.slice(0, PROBLEMS_SHOWN_MAXIMUM).map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    '',
    `deployment  ${deploymentId}`,
    `points      ${runs.map(({ point }) => point.sequence).join(', ')}`,
    `made        ${last?.made ?? ''}`,
    `head        ${last?.point.sequence}:${last?.point.hash}`,
    `verified    ${journal.records.toLocaleString('en')} records, ${(payloads?.checked ?? 0).toLocaleString('en')} payloads, ${bytesText(payloads?.bytes ?? 0)}`,
    ...(last === undefined || last.missing.length === 0
      ? []
      : [`note        the store lacked ${last.missing.length} payloads when the backup was made`]),
  ]
}
