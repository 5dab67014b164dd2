import { availableParallelism } from 'node:os'
import { Command, Option } from 'clipanion'
import { ExitError, exitTable } from '../../exit-codes.ts'
import {
  type ExpectedHead,
  JournalNotFoundError,
  type VerificationOptions,
  type VerificationReport,
  verifyJournal,
} from '../../../engine/verify/journal-verifier.ts'
import { reportAsJson, reportAsText } from './verify-report.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { JournalCommand } from './journal-command.ts'

const THREADS_MAXIMUM = 256

export class JournalVerifyCommand extends JournalCommand {
  static override paths = [['journal', 'verify']]

  static override usage = Command.Usage({
    category: 'Journal',
    description: 'check every record of the journal and the chain that joins them',
    details: `
      PATH is a data directory, or its journal directory; by default the one in the configuration. With the credential master
      key (OBJECT_STORE_CREDENTIAL_MASTER_KEY) changes of accounts, policies and tokens are authenticated too.

      It only reads, and may run while the server writes. It shares no code with the server, only the specification
      spec/formats/journal.md.

      Prints segment, offset, sequence and verdict of every problem. Ends with 0 if the journal is intact, with 21 if it is
      damaged, with 24 if acknowledged entries are lost from its end, and with 4 if there is no journal.
    `,
    examples: [
      ['Check a copy of a journal', '$0 journal verify /mnt/backup/journal'],
      ['Check a journal', '$0 journal verify --data-dir /var/lib/object-store'],
      ['Check that it still has a record noted elsewhere', '$0 journal verify --expect-head 4711:9f86d0…'],
      ['For a program', '$0 journal verify --json'],
    ],
  })

  place = Option.String({ required: false, name: 'PATH' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })
  threads = Option.String('--threads', { description: 'number of threads (default: one per core)' })
  expectHead = Option.String('--expect-head', { description: 'SEQUENCE:HASH of a record that must be in the journal' })

  override async execute(): Promise<number> {
    const options = { threads: this.#threadCount(), ...this.#expectedHead(), ...this.masterKey() }
    const directory = this.journalAt(this.place)
    const begun = performance.now()
    const report = await this.#verify(directory, options)
    const seconds = (performance.now() - begun) / 1000
    const lines = this.json ? [reportAsJson(report)] : reportAsText(report, seconds)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    if (report.intact) return exitTable.ok.code
    const lost = report.problems.some((problem) => problem.verdict === 'acknowledged entries lost')
    return (lost ? exitTable.dataLost : exitTable.storeDamaged).code
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
      if (error instanceof JournalNotFoundError) throw new ExitError('notFound', error.message)
      if (error instanceof Error && 'syscall' in error) throw new ExitError('failed', error.message, { cause: error })
      throw error
    } finally {
      bar.clear()
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

  #expectedHead(): { expectedHead?: ExpectedHead } {
    if (this.expectHead === undefined) return {}
    const [, sequence = '', hash = ''] = /^(\d{1,16}):([0-9a-f]{64})$/i.exec(this.expectHead) ?? []
    if (hash === '') throw new ExitError('usage', '--expect-head takes SEQUENCE:HASH with 64 hexadecimal digits')
    return { expectedHead: { sequence: Number(sequence), hash: hash.toLowerCase() } }
  }
}
