import { sequenceOf } from '../../../engine/brands.ts'
import { type EventPosition, STORAGE_EVENT_TYPES } from '../../../projections/events/storage-event.ts'
import { CHAIN_PROBLEM_MEMBERS } from '../audit/chain-problem.ts'
import { invalid } from '../errors.ts'
import { anyOf, documented, form, mapOf, object, oneOf, TIME, text, whole } from '../schemas/schema.ts'

/** Pattern of the id of a storage event: the sequence of its entry, and its number within the entry. */
export const STORAGE_EVENT_ID = '\\d{16}-\\d{4}'
const ID_PARTS = /^(\d{16})-(\d{4})$/

/** A storage event as JSON (specification, Storage event). */
export const STORAGE_EVENT = object(
  {
    id: form(STORAGE_EVENT_ID),
    type: oneOf(...STORAGE_EVENT_TYPES),
    time: TIME,
    bucket: text(),
    metadata: mapOf(documented({ type: ['string', 'integer', 'boolean'] })),
  },
  { object: text(), version_id: text(), size: whole() },
)

/** A line of a stream in the place of records that cannot be read. */
export const STREAM_DAMAGE = object({
  damage: object({ id: form(STORAGE_EVENT_ID), ...CHAIN_PROBLEM_MEMBERS }),
})

export const STREAM_LINE = anyOf(STORAGE_EVENT, STREAM_DAMAGE)

/**
 * The position of an event by its id.
 * @throws ManagementError INVALID_REQUEST
 */
export function positionOf(name: string, id: string): EventPosition {
  const [, sequence = '', index = ''] = ID_PARTS.exec(id) ?? []
  if (!Number.isSafeInteger(Number(sequence)) || sequence === '') {
    throw invalid(name, 'must be the id of a storage event')
  }
  return { sequence: sequenceOf(Number(sequence)), index: Number(index) }
}
