import type { Pairs } from '../../../engine/events/audit.ts'
import { hasClaimOf } from '../../../engine/records/claimed-credentials.ts'
import { jsonText } from '../../terminal/json-text.ts'
import { Command, Option } from 'clipanion'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { LineOutput } from './records/line-output.ts'
import { type RecordLine, recordLine, resultNames } from './records/record-line.ts'
import { hasSegments, readRecords } from './records/record-reader.ts'
import { mayBeMissingIn, type ReportUnreadable, unreadableText } from './records/unreadable-records.ts'
import { recordTable } from './records/record-table.ts'
import { microsecondsOption, TIME_FORMS, wholeOption } from '../option-values.ts'
import { JournalCommand } from './journal-command.ts'
import { isObjectMeant, type ObjectConditions } from '../../../engine/events/record-objects.ts'
import { objectsOfLine } from './records/record-objects.ts'

/** Records that are laid out together with --table. */
const PAGE_LINES = 1000

/** The range to print: sequences inclusive, times in microseconds with `until` exclusive. */
interface Range {
  readonly from: number
  readonly to: number
  readonly since: number
  readonly until: number
  readonly limit: number
}

export class JournalShowCommand extends JournalCommand {
  static override paths = [['journal', 'show']]

  static override usage = Command.Usage({
    category: 'Journal',
    description: 'print records of the journal, one JSON object per line',
    details: `
      PATH is a data directory, or its journal directory; without it the configuration tells.

      Prints the oldest first. It only reads, may run while the server writes, and does not wait for new records. It does
      not check hashes; journal verify does.

      Ends with 21 if a part of the journal could not be read; the rest is printed, and stderr names the records that are
      missing, with the segment and the offset.
    `,
    examples: [
      ['The records of a copy', '$0 journal show /mnt/backup/journal'],
      ['Everything since a time', '$0 journal show --since 2026-08-01T00:00:00Z'],
      ['Who wrote or deleted below a prefix', '$0 journal show --bucket photos --key-prefix 2026/ --result success'],
      ['One request, for a person', '$0 journal show --request-id 0A1B2C3D4E5F6071 --table'],
    ],
  })

  place = Option.String({ required: false, name: 'PATH' })
  from = Option.String('--from', { description: 'first sequence' })
  to = Option.String('--to', { description: 'last sequence' })
  since = Option.String('--since', { description: `${TIME_FORMS}, inclusive` })
  until = Option.String('--until', { description: `${TIME_FORMS}, exclusive` })
  principal = Option.String('--principal', { description: 'exactly this principal' })
  credential = Option.String('--credential', { description: 'by this credential id, or refused when it was claimed' })
  operation = Option.String('--operation', { description: 'exactly this operation, such as s3:PUT' })
  resource = Option.String('--resource', { description: 'resources that begin with this, such as bucket:photos/' })
  bucket = Option.String('--bucket', { description: 'about this bucket, on either plane' })
  key = Option.String('--key', { description: 'about the object with this key, on either plane' })
  keyPrefix = Option.String('--key-prefix', { description: 'about objects whose keys begin with this' })
  result = Option.String('--result', { description: `one of ${resultNames.join(', ')}` })
  requestId = Option.String('--request-id', { description: 'exactly this request' })
  limit = Option.String('--limit', { description: 'maximum number of records' })
  table = Option.Boolean('--table', false, { description: 'print columns instead of JSON' })

  override async execute(): Promise<number> {
    const range = this.#range()
    if (this.result !== undefined && !(resultNames as readonly string[]).includes(this.result)) {
      throw new ExitError('usage', `--result takes one of ${resultNames.join(', ')}`)
    }
    const directory = this.journalAt(this.place)
    if (!hasSegments(directory)) throw new ExitError('notFound', `no journal in ${directory}`)
    let unreadable = 0
    const output = new LineOutput(this.context.stdout)
    const lines = this.#select(directory, range, (part) => {
      if (!mayBeMissingIn(part, range)) return
      unreadable += 1
      this.context.stderr.write(`object-store: ${unreadableText(part)}\n`)
    })
    const table = recordTable(this.context.stdout)
    for (const page of pagesOf(lines)) {
      for (const line of this.table ? table.page(page) : page.map(jsonText)) await output.line(line)
      if (output.closed) break
    }
    await output.finish()
    return (unreadable === 0 ? exitTable.ok : exitTable.storeDamaged).code
  }

  *#select(directory: string, range: Range, reportUnreadable: ReportUnreadable): Generator<RecordLine, void> {
    const matches = recordFilter({
      principal: this.principal,
      credential: this.credential,
      operation: this.operation,
      resource: this.resource,
      bucket: this.bucket,
      key: this.key,
      keyPrefix: this.keyPrefix,
      result: this.result,
      requestId: this.requestId,
    })
    let printed = 0
    if (range.limit === 0) return
    const start = { sequence: range.from, time: range.since }
    for (const record of readRecords(directory, start, reportUnreadable)) {
      // Sequences never decrease; times may, where the clock of the host was set back.
      if (record.sequence > range.to) return
      if (record.sequence < range.from || record.time < range.since || record.time >= range.until) continue
      const line = recordLine(record)
      if (!matches(line)) continue
      yield line
      printed += 1
      if (printed >= range.limit) return
    }
  }

  #range(): Range {
    return {
      from: wholeOption('--from', this.from) ?? 0,
      to: wholeOption('--to', this.to) ?? Number.POSITIVE_INFINITY,
      since: microsecondsOption('--since', this.since) ?? 0,
      until: microsecondsOption('--until', this.until) ?? Number.POSITIVE_INFINITY,
      limit: wholeOption('--limit', this.limit) ?? Number.POSITIVE_INFINITY,
    }
  }
}

/** Lines by the page; there is always a first one, which has the headings. */
function* pagesOf(lines: Iterable<RecordLine>): Generator<readonly RecordLine[], void> {
  let page: RecordLine[] = []
  let isFirst = true
  for (const line of lines) {
    page.push(line)
    if (page.length < PAGE_LINES) continue
    yield page
    isFirst = false
    page = []
  }
  if (isFirst || page.length > 0) yield page
}

/** Conditions on the audit fields of a record; undefined matches every record. */
interface RecordConditions extends ObjectConditions {
  readonly principal?: string | undefined
  /** Id of the credential of the record, or of the credential that a refused request claimed. */
  readonly credential?: string | undefined
  readonly operation?: string | undefined
  /** Beginning of the resource. */
  readonly resource?: string | undefined
  readonly result?: string | undefined
  readonly requestId?: string | undefined
}

/** Makes one predicate of all conditions. A record without the field in question does not meet the condition. */
function recordFilter(conditions: RecordConditions): (line: RecordLine) => boolean {
  const { principal, credential, operation, resource, result, requestId, bucket, key, keyPrefix } = conditions
  const tests: ((line: RecordLine) => boolean)[] = []
  if (principal !== undefined) tests.push((line) => line.principal === principal)
  if (credential !== undefined) tests.push((line) => isOfCredential(line, credential))
  if (operation !== undefined) tests.push((line) => line.operation === operation)
  if (resource !== undefined) {
    tests.push((line) => typeof line.resource === 'string' && line.resource.startsWith(resource))
  }
  if (result !== undefined) tests.push((line) => line.result === result)
  if (requestId !== undefined) tests.push((line) => line.request_id === requestId)
  if ([bucket, key, keyPrefix].some((text) => text !== undefined)) {
    tests.push((line) => objectsOfLine(line).some((object) => isObjectMeant(object, conditions)))
  }
  return (line) => tests.every((test) => test(line))
}

function isOfCredential({ credential_id, metadata }: RecordLine, credential: string): boolean {
  const pairs = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : []
  return credential_id === credential || hasClaimOf(pairs.flat() as Pairs, credential)
}
