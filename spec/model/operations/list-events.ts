/** The whole list of storage events (spec/manual/management/events.md). */
import { API } from '../../../planes/management/routing/define-route.ts'
import type { EventPage, StorageEvent } from '../../support/storage-events.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { Operation } from '../expectation.ts'
import type { ModelEvent } from '../naive-events.ts'
import type { ModelState } from '../state.ts'
import { sameText } from './buckets.ts'

/** More than the events of one sequence. */
const LIMIT = 1000

export function listEvents(): Operation {
  return {
    request: { method: 'GET', target: `${API}/events?limit=${LIMIT}` },
    outcomes: (world) => {
      const check = (answer: WireAnswer) => difference(world, answer)
      const next = (answer: WireAnswer | undefined) => (answer === undefined ? world : withIds(world, answer))
      return [{ pattern: { status: 200, check }, next }]
    },
  }
}

/** The ids of all events of an answer, in its order. */
export function shownIds(answer: WireAnswer): string[] {
  return pageOf(answer).events.map(({ id }) => id)
}

/** Events of an answer, without those of uploads that the server gave up with their bucket, whose time is its own. */
export function eventsIn(answer: WireAnswer): StorageEvent[] {
  return pageOf(answer).events.filter((event) => !isReclaim(event))
}

/** What clients see of an event, the id of its version undefined while it is not known. */
export function shownEvent(world: ModelState, { type, bucket, key, version, size, facts }: ModelEvent): unknown[] {
  const id = typeof version === 'number' ? world.versionIds.get(version) : version
  return [type, bucket, key, size, facts['etag'], facts['permanent'], facts['delete_marker'], facts['tags'], id]
}

/** The page of an answer. */
export function pageOf({ text }: WireAnswer): EventPage {
  return JSON.parse(text) as EventPage
}

function isReclaim({ type, metadata }: StorageEvent): boolean {
  return type === 'multipart.aborted' && metadata['principal_kind'] === 'system'
}

function difference(world: ModelState, answer: WireAnswer): string | undefined {
  const { next_id: next, damaged } = pageOf(answer)
  if (next !== null || damaged) return 'the list of events is not whole'
  const uploads = new Set([...world.uploads.values()].filter(hasNoBucket(world)).map(({ key }) => key))
  const stranger = pageOf(answer).events.find((event) => isReclaim(event) && !uploads.has(event.object ?? ''))
  if (stranger !== undefined) return `${JSON.stringify(stranger)} is of no upload that lost its bucket`
  const events = eventsIn(answer)
  const expected = world.events.map((event) => shownEvent(world, event))
  const found = events.map(({ type, bucket, object, size, metadata, version_id: id }, index) => {
    const told = [metadata['etag'], metadata['permanent'], metadata['delete_marker'], metadata['tags']]
    const isUnknown = typeof world.events[index]?.version === 'number' && expected[index]?.at(-1) === undefined
    return [type, bucket, object, size, ...told, isUnknown ? undefined : id]
  })
  const at = expected.findIndex((event, index) => sameText(found[index], event) !== undefined)
  if (at === -1 && found.length === expected.length) return undefined
  const place = at === -1 ? expected.length : at
  return `event ${place} of ${found.length}, not ${expected.length}: ${sameText(found[place], expected[place])}`
}

function hasNoBucket({ buckets }: ModelState): (upload: { readonly bucketId: number }) => boolean {
  const ids = new Set([...buckets.values()].map(({ id }) => id))
  return ({ bucketId }) => !ids.has(bucketId)
}

/** The world with the ids of versions that only their events tell: those that were gone before anybody saw them. */
function withIds(world: ModelState, answer: WireAnswer): ModelState {
  const isUnknown = ({ version }: ModelEvent) => typeof version === 'number' && !world.versionIds.has(version)
  if (!world.events.some(isUnknown)) return world
  const named = world.copy()
  for (const [index, { version_id: id }] of eventsIn(answer).entries()) {
    const version = world.events[index]?.version
    if (typeof version === 'number' && id !== undefined) named.versionIds.set(version, id)
  }
  return named
}
