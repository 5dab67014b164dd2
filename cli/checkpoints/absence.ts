import { basename, dirname, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { searchIndexed } from '../../projections/checkpoints/search-indexed.ts'
import { type RangeSearch, searchRange } from '../../projections/checkpoints/search-range.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { JournalCommand } from '../commands/journal/journal-command.ts'
import { objectArgument, wholeOption } from '../commands/option-values.ts'
import { readSmallFile } from '../terminal/read-file.ts'

const NOTE_BYTES_MAXIMUM = 64 * 1024

interface Check {
  readonly check: 'signature' | 'replay' | 'absence'
  readonly result: 'passed' | 'failed' | 'not proved'
  readonly detail: string
}

export class CheckpointAbsenceCommand extends JournalCommand {
  static override paths = [['checkpoint', 'absence']]

  static override usage = Command.Usage({
    category: 'Checkpoints',
    description: 'prove that no record in a range names an object',
    details: `
      Reads the journal at hand (PATH, --data-dir or the configuration) up to the checkpoint, recomputes its root, and looks at every
      record in the range from --from to --to, both included. A record names an object as its resource, in its details, or in a
      change, under any bucket that ever had the name; a rename names both keys.

      It proves nothing about records after the checkpoint, about requests that were never recorded, or about records that name
      the object only by a number: an upload, a version or a link whose own record is outside the range.

      With --indexed only the records that the record index of the data directory names are read, and those that it does not know:
      that takes milliseconds. A record that names the object is found as surely, but that there is none is then not proved:
      the index may lie, and the journal was not compared with the checkpoint.

      Ends with 0 if no record names it, with 8 if one does or if the journal is not that of the checkpoint, and with 9 without --key, or with
      --indexed.
    `,
    examples: [
      [
        'Nothing about an object in the records from 1000 on',
        '$0 checkpoint absence photos/cat.jpg --checkpoint checkpoint.txt --key store.example/06… --from 1000',
      ],
    ],
  })

  object = Option.String({ name: 'BUCKET/KEY' })
  place = Option.String({ required: false, name: 'PATH' })
  note = Option.String('--checkpoint', { required: true, description: 'file of the checkpoint' })
  key = Option.String('--key', { description: 'key of the log: NAME+ID+KEY' })
  from = Option.String('--from', { description: 'sequence of the first record of the range (default: 0)' })
  to = Option.String('--to', { description: 'sequence of the last one (default: the last that the checkpoint covers)' })
  indexed = Option.Boolean('--indexed', false, { description: 'ask the record index, in place of reading all records' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const object = objectArgument(this.object)
    const slash = object.indexOf('/')
    const note = await this.#checkpoint()
    const range = this.#range(note.size)
    const paths = this.#paths()
    const search = { bucket: object.slice(0, slash), key: object.slice(slash + 1), ...range }
    const report = await searched(paths, note.size, search, this.indexed)
    const { found, first } = report
    const where = `records ${range.from} to ${range.to} of ${note.size}`
    const checks: Check[] = [
      this.#signature(note),
      replayOf(report, note),
      found === 0
        ? absenceOf(report, note, `${where} names ${object}`)
        : { check: 'absence', result: 'failed', detail: `${found} of ${where} name ${object}` },
    ]
    this.context.stdout.write(
      this.json
        ? `${JSON.stringify({ object, origin: note.origin, size: note.size, ...range, checks, found, records: first })}\n`
        : [
            ...checks.map(({ check, result, detail }) => `${check}: ${result}: ${detail}`),
            ...first.map(({ sequence, operation, result }) => `record ${sequence}: ${operation} ${result}`),
            ...(found > first.length ? [`and ${found - first.length} more`] : []),
          ].join('\n') + '\n',
    )
    if (checks.some(({ result }) => result === 'failed')) return exitTable.proofFailed.code
    return (checks.some(({ result }) => result === 'not proved') ? exitTable.notProved : exitTable.ok).code
  }

  async #checkpoint(): Promise<ReturnType<typeof readCheckpointNote>> {
    const bytes = await readSmallFile(resolve(this.context.workingDirectory, this.note), NOTE_BYTES_MAXIMUM)
    try {
      return readCheckpointNote(Buffer.from(bytes).toString())
    } catch (error) {
      throw new ExitError('proofFailed', `${this.note}: ${(error as Error).message}`)
    }
  }

  #range(size: number): { readonly from: number; readonly to: number } {
    const from = wholeOption('--from', this.from) ?? 0
    const to = wholeOption('--to', this.to) ?? size - 1
    if (from > to) throw new ExitError('usage', `--from ${from} is after --to ${to}`)
    if (to >= size) throw new ExitError('usage', `--to: the checkpoint covers the records before ${size}, not ${to}`)
    return { from, to }
  }

  #paths(): StorePaths {
    const journal = this.journalAt(this.place)
    if (basename(journal) === 'journal') return new StorePaths(dirname(journal))
    throw new ExitError('usage', `${journal}: the directory of the journal must be called "journal"`)
  }

  #signature(note: ReturnType<typeof readCheckpointNote>): Check {
    if (this.key === undefined) {
      return {
        check: 'signature',
        result: 'not proved',
        detail: 'no --key was given, so it is not known who signed',
      }
    }
    let key: ReturnType<typeof readVerifierKey>
    try {
      key = readVerifierKey(this.key)
    } catch (error) {
      throw new ExitError('usage', `--key: ${(error as Error).message}`)
    }
    return isSignedBy(note, key)
      ? { check: 'signature', result: 'passed', detail: `the log ${note.origin} signed it` }
      : { check: 'signature', result: 'failed', detail: `no valid signature of this key under ${note.origin}` }
  }
}

type Note = ReturnType<typeof readCheckpointNote>
type Report =
  | ReturnType<typeof searchRange>
  | (Awaited<ReturnType<typeof searchIndexed>> & { readonly records?: never })

/** @throws ExitError `storeDamaged` */
async function searched(paths: StorePaths, size: number, search: RangeSearch, indexed: boolean): Promise<Report> {
  try {
    return indexed ? await searchIndexed(nodeDisk, paths, search) : searchRange(nodeDisk, paths, size, search)
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error
    throw new ExitError('storeDamaged', error.message, { cause: error })
  }
}

/** Whether all records of the checkpoint were read. */
function isSame(report: Report, { size, root }: Note): boolean {
  return report.records === size && report.root?.equals(root) === true
}

function replayOf(report: Report, note: Note): Check {
  const check = 'replay'
  if (report.records === undefined) {
    const detail = `only ${report.read} records were read: without --indexed the root of the checkpoint is recomputed`
    return { check, result: 'not proved', detail }
  }
  return isSame(report, note)
    ? { check, result: 'passed', detail: `the journal at hand has the ${note.size} records of the checkpoint` }
    : {
        check,
        result: 'failed',
        detail: `the journal at hand is not that of the checkpoint: ${report.records} records were read`,
      }
}

/** @param which records name what */
function absenceOf(report: Report, note: Note, which: string): Check {
  const by = report.records === undefined ? 'by the record index, ' : ''
  return { check: 'absence', result: isSame(report, note) ? 'passed' : 'not proved', detail: `${by}none of ${which}` }
}
