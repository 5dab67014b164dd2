import { readEntry } from './entry-form.ts'
import { KIND } from './format-reader.ts'
import { after, arrayAt, integerAt } from './message-pack.ts'

/** The change that sets the order time back; its first two fields are the times. */
const CLOCK_SET_BACK = 81

/**
 * Whether the body between two offsets is of a change that sets the order time back between these times, in microseconds,
 * and does nothing else.
 */
export function setsBack(
  bytes: Buffer,
  [start, end]: readonly [number, number],
  before: number,
  time: number,
): boolean {
  const parts = readEntry(bytes, start, end, KIND.change)
  const changes = parts && arrayAt(bytes, parts.changes, end)
  const fields = changes?.count === 1 ? arrayAt(bytes, changes.at, end) : undefined
  if (fields === undefined || fields.count < 3) return false
  const from = after(bytes, fields.at, end)
  const to = from < 0 ? -1 : after(bytes, from, end)
  if (to < 0) return false
  const [kind, fromTime, toTime] = [fields.at, from, to].map((at) => integerAt(bytes, at, end))
  return kind === CLOCK_SET_BACK && fromTime === before && toTime === time
}
