import { Command, Option } from 'clipanion'
import { timeOption, wholeOption } from '../option-values.ts'
import { ClientCommand } from '../../client/client-command.ts'
import type { ManagementClient } from '../../client/management-client.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { type TableLine, tableHeading, tableRow } from '../journal/records/record-table.ts'

const LIMIT_STANDARD = 100
/** Largest page of the server, in records. */
const PAGE_MAXIMUM = 1000

/** A page of the server. */
interface Page {
  readonly events: readonly TableLine[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly damaged: boolean
}

type Cursor = Pick<Page, 'next_time' | 'next_id'>

export class AuditQueryCommand extends ClientCommand {
  static override paths = [['audit', 'query']]

  static override usage = Command.Usage({
    category: 'Audit',
    description: 'show records of the audit log of a running server, the oldest first',
    details: `
      Only --since and --until make a query cheaper; the other options filter what is scanned. Reads pages until it has
      --limit records or reaches the end of the range, and prints the cursor from which to continue.

      Ends with 21 if a part of the range could not be read; audit chain says which.
    `,
    examples: [
      ['Everything about an object, on either plane', '$0 audit query --bucket photos --key 2026/cat.jpg'],
      [
        'Refusals of an hour',
        '$0 audit query --result denied --since 2026-08-01T12:00:00Z --until 2026-08-01T13:00:00Z',
      ],
    ],
  })

  since = Option.String('--since', { description: 'RFC 3339 time, inclusive' })
  until = Option.String('--until', { description: 'RFC 3339 time, exclusive' })
  principal = Option.String('--principal', { description: 'exactly this principal' })
  operation = Option.String('--operation', { description: 'exactly this operation, such as s3:PUT' })
  resource = Option.String('--resource', { description: 'resources that begin with this, such as bucket:photos/' })
  bucket = Option.String('--bucket', { description: 'about this bucket, on either plane' })
  key = Option.String('--key', { description: 'about the object with this key, on either plane' })
  keyPrefix = Option.String('--key-prefix', { description: 'about objects whose keys begin with this' })
  result = Option.String('--result', { description: 'attempted, success, denied or failure' })
  sourceIp = Option.String('--source-ip', { description: 'exactly this address' })
  requestId = Option.String('--request-id', { description: 'exactly this request' })
  limit = Option.String('--limit', { description: `maximum number of records (default: ${LIMIT_STANDARD})` })
  afterTime = Option.String('--after-time', { description: 'continue at a cursor: its time' })
  afterId = Option.String('--after-id', { description: 'continue at a cursor: its id' })

  override async execute(): Promise<number> {
    const limit = wholeOption('--limit', this.limit) ?? LIMIT_STANDARD
    if (limit === 0) throw new ExitError('usage', '--limit must be at least 1')
    const query = this.#query()
    const client = this.client()
    if (!this.json) this.context.stdout.write(`${tableHeading}\n`)
    const events: TableLine[] = []
    let cursor: Cursor = { next_time: this.afterTime ?? null, next_id: this.afterId ?? null }
    let shown = 0
    let damaged = false
    do {
      const page = await this.#page(client, query, cursor, Math.min(PAGE_MAXIMUM, limit - shown))
      shown += page.events.length
      damaged ||= page.damaged
      cursor = { next_time: page.next_time, next_id: page.next_id }
      if (this.json) events.push(...page.events)
      else for (const event of page.events) this.context.stdout.write(`${tableRow(event)}\n`)
    } while (cursor.next_id !== null && shown < limit)
    this.#finish(events, cursor, damaged)
    return (damaged ? exitTable.storeDamaged : exitTable.ok).code
  }

  #query(): Record<string, string | undefined> {
    return {
      since: timeOption('--since', this.since),
      until: timeOption('--until', this.until),
      principal: this.principal,
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

  async #page(
    client: ManagementClient,
    query: Readonly<Record<string, string | undefined>>,
    { next_time, next_id }: Cursor,
    limit: number,
  ): Promise<Page> {
    const cursor = { after_time: next_time ?? undefined, after_id: next_id ?? undefined }
    const asked = { ...query, ...cursor, limit: String(limit) }
    return (await client.json({ method: 'GET', path: '/audit/events', query: asked })) as Page
  }

  #finish(events: readonly TableLine[], cursor: Cursor, damaged: boolean): void {
    const { stdout, stderr } = this.context
    if (this.json) stdout.write(`${JSON.stringify({ events, ...cursor, damaged })}\n`)
    else if (cursor.next_id !== null) {
      stderr.write(`There may be more: --after-time ${cursor.next_time} --after-id ${cursor.next_id}\n`)
    }
    if (damaged) stderr.write('object-store: a part of the range could not be read; see audit chain\n')
  }
}
