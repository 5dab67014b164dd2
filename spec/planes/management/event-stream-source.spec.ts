/** The pieces of a stream of events: what it says while it reads history of which it shows nothing. */
import { DamageList } from '../../../projections/audit/journal-damage.ts'
import { test } from 'tap'
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { EventStreamSource, STREAM_FORMS } from '../../../planes/management/events/event-stream-source.ts'
import { EventStreams } from '../../../planes/exchange/event-streams.ts'
import type { EventLog } from '../../../projections/events/event-log.ts'
import type { EventCursor } from '../../../projections/events/event-scan.ts'

const HISTORY = 3
const HEAD = cursor(900)

function cursor(sequence: number): EventCursor {
  return { sequence: sequenceOf(sequence), index: 9999, timeMicroseconds: microsecondsOf(sequence * 1_000_000) }
}

/** Pages of a history in which a filter finds nothing, and one event at its end. */
class Pages implements Pick<EventLog, 'collect' | 'head'> {
  readonly head = HEAD
  #read = 0

  collect: EventLog['collect'] = (_, collector) => {
    this.#read += 1
    if (this.#read < HISTORY) {
      return Promise.resolve({
        position: cursor(this.#read * 100),
        isAtEnd: false,
        damaged: false,
        damage: new DamageList(),
        head: HEAD,
      })
    }
    if (this.#read === HISTORY) {
      const event = { type: 'object.created', bucket: 'b', object: 'k', versionId: 'null', size: 1 } as const
      collector.add({ ...HEAD, index: 0, ...event, metadata: {} }, 1)
    }
    return Promise.resolve({ position: HEAD, isAtEnd: true, damaged: false, damage: new DamageList(), head: HEAD })
  }
}

async function piecesOf(form: keyof typeof STREAM_FORMS, heartbeatMilliseconds: number, count: number) {
  const events = new Pages()
  const streams = new EventStreams(events)
  const source = new EventStreamSource(
    {
      after: undefined,
      sinceMicroseconds: undefined,
      bucket: undefined,
      types: undefined,
      prefix: 'narrow',
      follow: true,
      heartbeatMilliseconds,
    },
    { events, streams, owner: 'reader', form: STREAM_FORMS[form], isAllowed: () => true, damageFound: () => undefined },
  )
  const pieces: string[] = []
  // The next piece uses the memory of the last one.
  for (let piece = 0; piece < count; piece += 1) pieces.push(String(await source.next()))
  source.close()
  return pieces
}

function progress(id: string, time: string): string {
  return `{"progress":{"id":"${id}","time":"${time}","head_id":"0000000000000900-9999"}}\n`
}

const LINE =
  '{"id":"0000000000000900-0000","type":"object.created","time":"1970-01-01T00:15:00.000000Z","bucket":"b",' +
  '"object":"k","version_id":"null","size":1,"metadata":{}}\n'

test('heartbeats while it reads the past: lines of JSON', async (t) => {
  t.same(await piecesOf('ndjson', 0, 4), ['\n', '\n', LINE, '\n'])
})

test('heartbeats while it reads the past: lines of JSON that say how far it is', async (t) => {
  t.same(await piecesOf('ndjsonWithProgress', 0, 4), [
    progress('0000000000000100-9999', '1970-01-01T00:01:40.000000Z'),
    progress('0000000000000200-9999', '1970-01-01T00:03:20.000000Z'),
    LINE,
    progress('0000000000000900-9999', '1970-01-01T00:15:00.000000Z'),
  ])
})

test('heartbeats while it reads the past: server-sent events', async (t) => {
  t.same(await piecesOf('sse', 0, 4), [
    ': at entry 100 of 900\nid: 0000000000000100-9999\n\n',
    ': at entry 200 of 900\nid: 0000000000000200-9999\n\n',
    `id: 0000000000000900-0000\nevent: object.created\ndata: ${LINE}\n`,
    ': heartbeat\nid: 0000000000000900-9999\n\n',
  ])
})

test('a past that is read sooner than a heartbeat is due has none', async (t) => {
  t.same(await piecesOf('ndjson', 60_000, 2), [LINE, '\n'])
})
