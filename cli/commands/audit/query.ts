import { jsonText } from '../../terminal/json-text.ts'
import { Command, Option } from 'clipanion'
import { TIME_FORMS, timeOption, wholeOption } from '../option-values.ts'
import { damageLines, type DamageRecord } from './damage-lines.ts'
import { ClientCommand } from '../../client/client-command.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { namedRecordTable } from '../journal/records/record-table.ts'
import { type Cursor, type Event, readEvents } from './event-pages.ts'
import { followEvents } from './follow.ts'

const LIMIT_STANDARD = 100
/** Records shown before the new ones with --follow. */
const FOLLOWED_STANDARD = 10
export class AuditQueryCommand extends ClientCommand {
  static override paths = [['audit', 'query']]

  static override usage = Command.Usage({
    category: 'Audit',
    description: 'show records of the audit log of a running server, the newest first',
    details: `
      --since and --until reduce how much is read, and so do --principal, --bucket, and --bucket with
      --key, as far as the index of records is made (audit.index); the other options filter the result.
      Reads pages until there are --limit records or the range ends, and prints a cursor to continue
      from. A cursor is the time and the id of a record, and works in both directions: with
      --oldest-first it continues with later records.

      With --follow it prints the newest records and then each new one until it is stopped, except the
      requests of whoever follows. With --json it prints one object per record.

      Ends with 21 if a part of the range could not be read; audit chain says which.
    `,
    examples: [
      ['Everything about an object, on either plane', '$0 audit query --bucket photos --key 2026/cat.jpg'],
      ['Refusals of the last hour', '$0 audit query --result denied --since 1h'],
      ['Whether the key of root is being guessed', '$0 audit query --credential root --result denied'],
      ['What is asked of a bucket now', '$0 audit query --bucket photos --follow'],
    ],
  })

  since = Option.String('--since,--from', { description: `${TIME_FORMS}, inclusive` })
  until = Option.String('--until,--to', { description: `${TIME_FORMS}, exclusive` })
  principal = Option.String('--principal', { description: 'exactly this principal' })
  credential = Option.String('--credential', { description: 'by this credential id, or refused when it was claimed' })
  operation = Option.String('--operation', { description: 'exactly this operation, such as s3:PUT' })
  resource = Option.String('--resource', { description: 'resources that begin with this, such as bucket:photos/' })
  bucket = Option.String('--bucket', { description: 'about this bucket, on either plane' })
  key = Option.String('--key', { description: 'about the object with this key, on either plane' })
  keyPrefix = Option.String('--key-prefix', { description: 'about objects whose keys begin with this' })
  result = Option.String('--result', { description: 'attempted, success, denied or failure' })
  sourceIp = Option.String('--source-ip', { description: 'exactly this address' })
  requestId = Option.String('--request-id', { description: 'exactly this request' })
  limit = Option.String('--limit', {
    description: `maximum number of records (default: ${LIMIT_STANDARD}, with --follow ${FOLLOWED_STANDARD})`,
  })
  oldestFirst = Option.Boolean('--oldest-first', false, { description: 'print in the order of the log' })
  follow = Option.Boolean('--follow', false, { description: 'keep printing new records' })
  afterTime = Option.String('--after-time', { description: 'continue at a cursor: its time' })
  afterId = Option.String('--after-id', { description: 'continue at a cursor: its id' })

  /** That the pages met. */
  readonly #damage: DamageRecord[] = []

  override async execute(): Promise<number> {
    const limit = wholeOption('--limit', this.limit)
    if (limit === 0) throw new ExitError('usage', '--limit must be at least 1')
    const after = this.#after()
    const isPage = this.oldestFirst || after !== undefined || this.until !== undefined
    if (this.follow && isPage) {
      throw new ExitError(
        'usage',
        '--follow cannot be combined with --oldest-first, --until, --after-time or --after-id',
      )
    }
    const damaged = this.follow
      ? await this.#follow(limit ?? FOLLOWED_STANDARD)
      : await this.#pages(after, limit ?? LIMIT_STANDARD)
    if (damaged) this.context.stderr.write('object-store: a part of the range could not be read; see audit chain\n')
    for (const line of damageLines(this.#damage)) this.context.stderr.write(`${line}\n`)
    return (damaged ? exitTable.storeDamaged : exitTable.ok).code
  }

  async #follow(count: number): Promise<boolean> {
    const table = namedRecordTable(this.context.stdout)
    const lines = (events: readonly Event[]) => (this.json ? events.map(jsonText) : table.page(events))
    const { damaged } = await followEvents(this.client(), this.#query(), count, lines, this.context)
    return damaged
  }

  async #pages(first: Cursor | undefined, limit: number): Promise<boolean> {
    const [client, query, events] = [this.client(), this.#query(), [] as Event[]]
    const order = this.oldestFirst ? 'asc' : 'desc'
    const table = namedRecordTable(this.context.stdout)
    let after = first
    let shown = 0
    let damaged = false
    do {
      const page = await readEvents(client, query, { order, after, limit: limit - shown })
      shown += page.events.length
      damaged ||= page.damaged
      this.#damage.push(...page.damage)
      after = page.next
      if (this.json) events.push(...page.events)
      else for (const line of table.page(page.events)) this.context.stdout.write(`${line}\n`)
    } while (after !== undefined && shown < limit)
    this.#finish(events, after, damaged)
    return damaged
  }

  /** @throws ExitError `usage` */
  #after(): Cursor | undefined {
    const [time, id] = [this.afterTime, this.afterId]
    if ((time === undefined) !== (id === undefined)) {
      throw new ExitError('usage', '--after-time and --after-id go together')
    }
    return time === undefined || id === undefined ? undefined : { time, id }
  }

  #query(): Record<string, string | undefined> {
    return {
      since: timeOption('--since', this.since),
      until: timeOption('--until', this.until),
      principal: this.principal,
      credential_id: this.credential,
      operation: this.operation,
      resource: this.resource,
      bucket: this.bucket,
      key: this.key,
      key_prefix: this.keyPrefix,
      result: this.result,
      source_ip: this.sourceIp,
      request_id: this.requestId,
    }
  }

  #finish(events: readonly Event[], next: Cursor | undefined, damaged: boolean): void {
    const { stdout, stderr } = this.context
    if (this.json) {
      const cursor = { next_time: next?.time ?? null, next_id: next?.id ?? null }
      stdout.write(`${jsonText({ events, ...cursor, damaged, damage: this.#damage })}\n`)
    } else if (next !== undefined) {
      const order = this.oldestFirst ? ' --oldest-first' : ''
      stderr.write(`There may be more: --after-time ${next.time} --after-id ${next.id}${order}\n`)
    }
  }
}
