/** Holds the storage events of a store against those that a model expects. */
import { isDeepStrictEqual } from 'node:util'
import { type Sequence, sequenceOf, type UploadId } from '../../../engine/brands.ts'
import { JournalDamagedError } from '../../../engine/journal/journal-errors.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { EventLog } from '../../../projections/events/event-log.ts'
import type { EventIds } from '../../../projections/events/event-names.ts'
import { type StorageEvent, storageEventId } from '../../../projections/events/storage-event.ts'
import type { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import type { ModelEvent } from '../../model/naive-events.ts'
import type { TestStore } from '../test-store.ts'

const PAGE = 1000
/** In place of the ids that clients see, which hide the sequences. */
const PLAIN_IDS = {
  versionIds: { encode: (sequence: Sequence) => String(sequence) },
  uploadIds: { encode: (upload: UploadId) => Number(upload) },
} as unknown as EventIds

/** The events of a store, with sequences in place of ids. */
export function eventLogOf({ disk, paths }: TestStore, environment: ProjectionEnvironment): EventLog {
  return new EventLog(disk, paths, environment, PLAIN_IDS)
}

/** @throws JournalDamagedError */
export async function readAllEvents(log: EventLog): Promise<StorageEvent[]> {
  const events: StorageEvent[] = []
  for (let after: { sequence: Sequence; index: number } | undefined; ; ) {
    const page = await log.read({ after, limit: PAGE }, serverTurns)
    events.push(...page.events)
    if (page.damaged) throw new JournalDamagedError('storage events are missing')
    if (page.isAtEnd) return events
    after = page.position
  }
}

/** An event as both sides can say it. */
interface Told {
  readonly id: string
  readonly [fact: string]: unknown
}

/** Those of a model, as the store should have them: their order and ids come from the sequences of their commands. */
export function expectedEvents(
  events: readonly ModelEvent[],
  isWanted: (event: ModelEvent) => boolean = () => true,
): Told[] {
  const numbers = new Map<number, number>()
  const numbered = events.map((event) => {
    const index = numbers.get(event.sequence) ?? 0
    numbers.set(event.sequence, index + 1)
    return { event, id: storageEventId({ sequence: sequenceOf(event.sequence), index }) }
  })
  return numbered
    .filter(({ event }) => isWanted(event))
    .map(({ event: { type, bucket, key, version, size, facts }, id }) => {
      const named = Object.entries(facts).filter(([, value]) => value !== undefined)
      const metadata = Object.fromEntries(
        named.map(([name, value]) => [name, name.endsWith('version_id') ? String(value) : value]),
      )
      return { id, type, bucket, object: key, version: version && String(version), size, metadata }
    })
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
}

export function toldEvent(event: StorageEvent): Told {
  const { type, bucket, object, versionId: version, size, metadata } = event
  const { principal_kind: _who, request_id: _request, ...rest } = metadata
  return { id: storageEventId(event), type, bucket, object, version, size, metadata: rest }
}

/** What differs, first things first; empty when both say the same. */
export function eventDifferences(found: readonly StorageEvent[], expected: readonly ModelEvent[]): string[] {
  const [left, right] = [found.map(toldEvent), expectedEvents(expected)]
  const at = left.findIndex((event, index) => !isDeepStrictEqual(event, right[index]))
  if (at === -1 && left.length === right.length) return []
  const place = at === -1 ? left.length : at
  const [one, other] = [left[place], right[place]].map((event) => JSON.stringify(event) ?? 'none')
  return [`events: ${left.length} of ${right.length}; event ${place} is ${one} instead of ${other}`]
}
