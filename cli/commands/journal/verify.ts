import { availableParallelism } from 'node:os'
import { dirname, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { ExitError, exitTable } from '../../exit-codes.ts'
import {
  type ExpectedHead,
  JournalNotFoundError,
  PlaceGoneError,
  type VerificationOptions,
  type VerificationReport,
  verifyJournal,
} from '../../../engine/verify/journal-verifier.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { ChainVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import type { Verdict } from '../../../engine/verify/verdicts.ts'
import { type KeptNote, readKeptNote, requireSameLog } from '../../checkpoints/kept-checkpoint.ts'
import { readKeptState, saveKeptState } from '../../checkpoints/kept-state.ts'
import { isNewer, reportAsJson, reportAsText } from './verify-report.ts'
import { accountOfHost } from '../../values/host-account.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { JournalCommand } from './journal-command.ts'

const THREADS_MAXIMUM = 256
/** Verdicts for entries that existed and are gone. */
const LOST: ReadonlySet<Verdict> = new Set(['acknowledged entries lost', 'rolled back behind a checkpoint'])

export class JournalVerifyCommand extends JournalCommand {
  static override paths = [['journal', 'verify']]

  static override usage = Command.Usage({
    category: 'Journal',
    description: 'check every record of the journal and the chain that joins them',
    details: `
      PATH is a data directory, or its journal directory; by default the one in the configuration. With the credential master
      key (OBJECT_STORE_CREDENTIAL_MASTER_KEY) changes of accounts, policies and tokens are authenticated too.

      It only reads, and may run while the server writes. Without PATH the verdict is kept in the data directory, for
      "storage status", the metrics and "server doctor". It shares no code with the server, only the specification
      spec/formats/journal.md.

      With --checkpoint, one that was kept elsewhere: proves that its records are still the first ones. With --key, from
      elsewhere too: that this log signed it. --keep-state writes a file next to that checkpoint, from which the next
      verification goes on with --since: it reads only from the segment with the last record of the checkpoint on. What
      comes before is taken from the state, which must hash to the checkpoint, and its bytes on the disk are not looked at.

      Prints segment, offset, sequence and verdict of every problem. Ends with 0 if the journal is intact, with 21 if it is
      damaged or was rewritten since the checkpoint, with 24 if entries are lost from its end or it was rolled back behind the
      checkpoint, with 27 if everything is right and some records are of kinds that only a newer version knows, with 8 if the
      checkpoint is of another log or not signed by the key or the state is not that of the checkpoint, and with 4 if there is
      no journal.
    `,
    examples: [
      ['Check a copy of a journal', '$0 journal verify /mnt/backup/journal'],
      ['Check a journal', '$0 journal verify --data-dir /var/lib/object-store'],
      ['Check that it still has a record noted elsewhere', '$0 journal verify --expect-head 4711:9f86d0…'],
      ['Check that it extends a checkpoint', '$0 journal verify --checkpoint kept.txt --key store.example/06…'],
      ['Keep where it came to', '$0 journal verify --checkpoint may.txt --key store.example/06… --keep-state'],
      [
        'Go on from there',
        '$0 journal verify --since may.txt --checkpoint june.txt --key store.example/06… --keep-state',
      ],
      ['For a program', '$0 journal verify --json'],
    ],
  })

  place = Option.String({ required: false, name: 'PATH' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })
  threads = Option.String('--threads', { description: 'number of threads (default: one per core)' })
  expectHead = Option.String('--expect-head', { description: 'SEQUENCE:HASH of a record that must be in the journal' })

  checkpoint = Option.String('--checkpoint', { description: 'file of a checkpoint that the journal must extend' })
  since = Option.String('--since', { description: 'file of a checkpoint, with its state next to it, to go on from' })
  keepState = Option.Boolean('--keep-state', false, { description: 'write the state at the checkpoint next to it' })
  key = Option.String('--key', { description: 'key of the log that must have signed them: NAME+ID+KEY' })

  override async execute(): Promise<number> {
    const kept = await this.#note(this.checkpoint)
    const before = await this.#note(this.since)
    this.#requireWords(before, kept)
    const since = before && { state: await this.#stateOf(before), signer: before.signer }
    const options = {
      threads: this.#threadCount(),
      ...this.#expectedHead(since?.state.segment),
      ...this.masterKey(),
      ...(kept && { checkpoint: kept }),
      ...(since && { since }),
    }
    const directory = this.journalAt(this.place)
    const begun = performance.now()
    const report = await this.#verify(directory, options)
    const seconds = (performance.now() - begun) / 1000
    for (const note of [before, kept]) {
      if (note !== undefined) requireSameLog(note, report)
      note?.requireSigned(report.checkpoints.handovers)
    }
    const notes = { kept, before }
    const lines = this.json ? [reportAsJson(report, notes)] : reportAsText(report, seconds, notes)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    this.#keepVerdict(directory, report)
    if (this.keepState && kept !== undefined && report.intact && report.checkpoints.extendsKept === true) {
      saveKeptState(this.#pathOf(this.checkpoint as string), kept, report)
    }
    if (report.intact) return exitTable.ok.code
    if (isNewer(report)) return exitTable.newerFormat.code
    const lost = report.problems.some(({ verdict }) => LOST.has(verdict))
    return (lost ? exitTable.dataLost : exitTable.storeDamaged).code
  }

  /** Keeps the verdict in the data directory that is configured or named by --data-dir. A PATH is a copy, which is only read. */
  #keepVerdict(directory: string, report: VerificationReport): void {
    const paths = new StorePaths(dirname(directory))
    // What is not known is not verified.
    if (this.place !== undefined || nodeDisk.exists(paths.backupMark) || isNewer(report)) return
    // What does not agree with a head or a checkpoint of the caller may be their mistake.
    const isOfCaller = this.expectHead !== undefined || this.checkpoint !== undefined || this.since !== undefined
    if (!report.intact && isOfCaller) return
    const { deploymentId, firstSequence, headSequence: through, headHash, problems } = report
    // Also the segment with the genesis is read from a state: not the whole chain, which 0 stands for.
    const from = this.since === undefined ? firstSequence : Math.max(1, firstSequence)
    const verdict = { from, through, headHash, program: 'journal verify', problem: problems[0] } as const
    try {
      const who = { atMilliseconds: systemMilliseconds(), by: accountOfHost() }
      new ChainVerdicts(nodeDisk, paths, deploymentId).keep({ ...verdict, ...who }, through)
    } catch (error) {
      this.context.stderr.write(`object-store: the verdict was not kept: ${(error as Error).message}\n`)
    }
  }

  async #verify(directory: string, options: VerificationOptions): Promise<VerificationReport> {
    const bar = new ProgressBar(this.context.stderr)
    try {
      return await verifyJournal(directory, {
        ...options,
        onProgress: ({ bytes, bytesTotal, records }) =>
          bar.draw(bytes / Math.max(bytesTotal, 1), `${records.toLocaleString('en')} records`),
      })
    } catch (error) {
      if (error instanceof PlaceGoneError) {
        throw new ExitError(error.isShorter ? 'dataLost' : 'storeDamaged', error.message)
      }
      if (error instanceof JournalNotFoundError) throw new ExitError('notFound', error.message)
      if (error instanceof Error && 'syscall' in error) throw new ExitError('failed', error.message, { cause: error })
      throw error
    } finally {
      bar.clear()
    }
  }

  #pathOf(path: string): string {
    return resolve(this.context.workingDirectory, path)
  }

  /** @throws ExitError as readKeptNote */
  async #note(path: string | undefined): Promise<KeptNote | undefined> {
    return path === undefined ? undefined : readKeptNote(this.#pathOf(path), path, this.key)
  }

  /** @throws ExitError as readKeptState */
  #stateOf(note: KeptNote): ReturnType<typeof readKeptState> {
    const shown = this.since as string
    return readKeptState(this.#pathOf(shown), shown, note)
  }

  #requireWords(before: KeptNote | undefined, kept: KeptNote | undefined): void {
    if (this.key !== undefined && kept === undefined && before === undefined) {
      throw new ExitError('usage', '--key is that of a --checkpoint or of --since, which are missing')
    }
    if (this.keepState && kept === undefined) throw new ExitError('usage', '--keep-state is that at a --checkpoint')
    if (before !== undefined && kept !== undefined && kept.size < before.size) {
      throw new ExitError('usage', 'the --checkpoint is an earlier one than that of --since')
    }
  }

  #threadCount(): number {
    if (this.threads === undefined) return availableParallelism()
    const threads = /^\d{1,3}$/.test(this.threads) ? Number(this.threads) : 0
    if (threads < 1 || threads > THREADS_MAXIMUM) {
      throw new ExitError('usage', `--threads takes a number from 1 to ${THREADS_MAXIMUM}`)
    }
    return threads
  }

  /** @param from first sequence that is read; a record before it could not be compared */
  #expectedHead(from = 0): { expectedHead?: ExpectedHead } {
    if (this.expectHead === undefined) return {}
    const [, sequence = '', hash = ''] = /^(\d{1,16}):([0-9a-f]{64})$/i.exec(this.expectHead) ?? []
    if (hash === '') throw new ExitError('usage', '--expect-head takes SEQUENCE:HASH with 64 hexadecimal digits')
    if (Number(sequence) < from) {
      const why = `record ${sequence} of --expect-head is before record ${from}, from which --since reads on`
      throw new ExitError('usage', `${why}: verify the whole journal for it`)
    }
    return { expectedHead: { sequence: Number(sequence), hash: hash.toLowerCase() } }
  }
}
