import { createInterface } from 'node:readline'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Command, Option } from 'clipanion'
import { damageLines, type DamageRecord } from '../commands/audit/damage-lines.ts'
import { ClientCommand } from '../client/client-command.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { jsonText } from '../terminal/json-text.ts'
import { LineOutput } from '../commands/journal/records/line-output.ts'
import { TIME_FORMS, timeOption } from '../commands/option-values.ts'
import { eventTable, type StorageEvent } from './event-lines.ts'

/** A line of the stream: an event, how far the stream is, or records that cannot be read. */
type Line =
  | StorageEvent
  | { readonly progress: { readonly id: string } }
  | { readonly damage: DamageRecord & { readonly id: string } }

/** Before a stream that ended is opened again. */
const PAUSE_MILLISECONDS = 1000

export class EventsFollowCommand extends ClientCommand {
  static override paths = [['events', 'follow']]

  static override usage = Command.Usage({
    category: 'Events',
    description: 'show storage events of a running server as they happen',
    details: `
      Starts now, or at --since or --after-id, and runs until it is stopped. If the connection breaks, it reconnects and
      continues where it was: no event is lost and none is printed twice. With --json it prints one object per event.
      Records that cannot be read are named on stderr, with --json also as an object with one member "damage" in their
      place. It continues after them, and then ends with 21.
    `,
    examples: [
      ['What is written from now on', '$0 events follow --type object.created'],
      ['From an earlier event on', '$0 events follow --json --after-id 0000000000000042-0000'],
    ],
  })

  since = Option.String('--since,--from', { description: `begin earlier: ${TIME_FORMS}` })
  afterId = Option.String('--after-id', { description: 'begin after this event' })
  bucket = Option.String('--bucket', { description: 'in this bucket' })
  type = Option.String('--type', { description: 'of this type, such as object.created' })
  prefix = Option.String('--prefix', { description: 'of objects whose keys begin with this' })

  #isDamaged = false

  override async execute(): Promise<number> {
    const { stdout, stderr, control } = this.context
    const client = this.client()
    const filter = { bucket: this.bucket, type: this.type, prefix: this.prefix }
    const since = timeOption('--since', this.since)
    let after = this.afterId ?? (since === undefined ? await this.#present() : undefined)
    const output = new LineOutput(stdout)
    const table = eventTable(stdout)
    const print = (event: StorageEvent) => (this.json ? jsonText(event) : table.row(event))
    const stop = new AbortController()
    const forget = control.onStopSignal(() => stop.abort())
    const isOver = () => stop.signal.aborted || output.closed
    if (!this.json) await output.line(table.heading())
    try {
      for (let isFirst = true; !isOver(); isFirst = false) {
        try {
          const query = { ...filter, since, after_id: after, progress: 'true' }
          const response = await client.open({ method: 'GET', path: '/events/stream', query })
          const end = () => response.destroy(new Error('stopped'))
          stop.signal.addEventListener('abort', end, { once: true })
          if (stop.signal.aborted) end()
          await this.#show(response, print, output, (id) => (after = id))
        } catch (error) {
          if (isFirst || !isTemporary(error)) throw error
        }
        if (isOver()) break
        stderr.write('object-store: the stream has ended; connecting again\n')
        await delay(PAUSE_MILLISECONDS, undefined, { signal: stop.signal }).catch(() => undefined)
      }
      await output.finish()
    } finally {
      forget()
    }
    return (this.#isDamaged ? exitTable.storeDamaged : exitTable.ok).code
  }

  /** Prints events until the stream ends or breaks off. */
  async #show(
    response: IncomingMessage,
    print: (event: StorageEvent) => string,
    output: LineOutput,
    passed: (id: string) => void,
  ): Promise<void> {
    try {
      for await (const line of createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (output.closed) return
        if (line === '') continue
        const told = JSON.parse(line) as Line
        if ('progress' in told) {
          passed(told.progress.id)
          continue
        }
        if ('damage' in told) {
          await this.#showDamage(told, output)
          passed(told.damage.id)
          continue
        }
        await output.line(print(told))
        await output.flush()
        passed(told.id)
      }
    } catch {
      // A line that was cut off, or the connection: the event comes again.
    } finally {
      response.destroy()
    }
  }

  async #showDamage(line: { readonly damage: DamageRecord }, output: LineOutput): Promise<void> {
    this.#isDamaged = true
    this.context.stderr.write('object-store: a part of the journal could not be read; see audit chain\n')
    for (const text of damageLines([line.damage])) this.context.stderr.write(`${text}\n`)
    if (!this.json) return
    await output.line(jsonText(line))
    await output.flush()
  }

  /** A position after everything so far. */
  async #present(): Promise<string> {
    const query = { limit: '1' }
    const answer = (await this.client().json({ method: 'GET', path: '/events', query })) as { head_id: string }
    return answer.head_id
  }
}

/** Whether a server that stops or starts may have caused it. */
function isTemporary(error: unknown): boolean {
  return error instanceof ExitError && (error.exit === 'unreachable' || error.exit === 'failed')
}
