import { Command, Option } from 'clipanion'
import { damageLines, type DamageRecord } from '../commands/audit/damage-lines.ts'
import { ClientCommand } from '../client/client-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { jsonText } from '../terminal/json-text.ts'
import { TIME_FORMS, timeOption, wholeOption } from '../commands/option-values.ts'
import { eventTable, type StorageEvent } from './event-lines.ts'

const LIMIT_STANDARD = 100
/** Largest page of the server. */
const PAGE_MAXIMUM = 1000

interface Answer {
  readonly events: readonly StorageEvent[]
  readonly next_time: string | null
  readonly next_id: string | null
  readonly begin_time: string | null
  readonly damaged: boolean
  readonly damage?: readonly DamageRecord[]
}

export class EventsListCommand extends ClientCommand {
  static override paths = [['events', 'list']]

  static override usage = Command.Usage({
    category: 'Events',
    description: 'show storage events of a running server, the oldest first',
    details: `
      Reads pages until it has --limit events or there are no more, and prints the cursor from which to continue. It stays
      valid for ever. Ends with 21 if a part of the journal could not be read.
    `,
    examples: [
      ['What happened in the last hour', '$0 events list --since 1h'],
      ['What was deleted in a bucket', '$0 events list --bucket photos --type object.deleted'],
    ],
  })

  since = Option.String('--since,--from', { description: `${TIME_FORMS}, inclusive` })
  until = Option.String('--until,--to', { description: `${TIME_FORMS}, exclusive` })
  bucket = Option.String('--bucket', { description: 'in this bucket' })
  type = Option.String('--type', { description: 'of this type, such as object.created' })
  prefix = Option.String('--prefix', { description: 'of objects whose keys begin with this' })
  limit = Option.String('--limit', { description: `maximum number of events (default: ${LIMIT_STANDARD})` })
  afterTime = Option.String('--after-time', { description: 'continue at a cursor: its time' })
  afterId = Option.String('--after-id', { description: 'continue at a cursor: its id' })

  override async execute(): Promise<number> {
    const limit = wholeOption('--limit', this.limit) ?? LIMIT_STANDARD
    if (limit === 0) throw new ExitError('usage', '--limit must be at least 1')
    const [client, query, events] = [this.client(), this.#query(), [] as StorageEvent[]]
    const table = eventTable(this.context.stdout)
    let cursor = { after_time: this.afterTime ?? null, after_id: this.afterId ?? null }
    let begin: string | null = null
    let shown = 0
    let damaged = false
    const damage: DamageRecord[] = []
    do {
      const asked = {
        ...query,
        after_time: cursor.after_time ?? undefined,
        after_id: cursor.after_id ?? undefined,
        limit: String(Math.min(PAGE_MAXIMUM, limit - shown)),
      }
      const page = (await client.json({ method: 'GET', path: '/events', query: asked })) as Answer
      shown += page.events.length
      damaged ||= page.damaged
      damage.push(...(page.damage ?? []))
      begin = page.begin_time
      cursor = { after_time: page.next_time, after_id: page.next_id }
      if (this.json) events.push(...page.events)
      else for (const line of table.page(page.events)) this.context.stdout.write(`${line}\n`)
    } while (cursor.after_id !== null && shown < limit)
    this.#finish({ events, next_time: cursor.after_time, next_id: cursor.after_id, begin_time: begin, damaged, damage })
    return (damaged ? exitTable.storeDamaged : exitTable.ok).code
  }

  #query(): Record<string, string | undefined> {
    return {
      since: timeOption('--since', this.since),
      until: timeOption('--until', this.until),
      bucket: this.bucket,
      type: this.type,
      prefix: this.prefix,
    }
  }

  #finish(answer: Answer): void {
    const { stdout, stderr } = this.context
    if (answer.damaged) stderr.write('object-store: a part of the journal could not be read; see audit chain\n')
    for (const line of damageLines(answer.damage ?? [])) stderr.write(`${line}\n`)
    if (this.json) stdout.write(`${jsonText(answer)}\n`)
    else if (answer.next_id !== null) {
      stderr.write(`There may be more: --after-time ${answer.next_time} --after-id ${answer.next_id}\n`)
    }
  }
}
