/**
 * The changes that an entry can make to the store. A closed list; a kind is never reused and a field never moves
 * (spec/formats/journal.md). A change is stored as an array whose first element is its kind.
 */
import type { Sequence } from '../brands.ts'
import { features } from '../features.ts'
import type { RecordTimes } from '../journal/record-times.ts'
import { merged } from '../merged.ts'
import type { ChangeOf, ChangeSchema } from './schema/change.ts'
import { refuse } from './schema/kinds.ts'
import { SPINE_CHANGES } from './spine-changes.ts'

/** Every change, under the name that the code has for it. */
export const CHANGES = merged([SPINE_CHANGES, ...features.map(({ changes }) => changes)])

export type Change = ChangeOf<(typeof CHANGES)[keyof typeof CHANGES]>
type ChangeName = Change['name']
/** The change of a name. */
export type ChangeNamed<N extends ChangeName> = Extract<Change, { name: N }>
const BY_NAME = new Map<string, ChangeSchema>()
const BY_CODE = new Map<unknown, ChangeSchema>()
for (const schema of Object.values(CHANGES)) {
  BY_NAME.set(schema.name, schema)
  BY_CODE.set(schema.code, schema)
}

/** The stored form of a change: its kind, then its fields. */
export function encodeChange(change: Change): unknown[] {
  return (BY_NAME.get(change.name) as ChangeSchema).encode(change)
}

/**
 * The change that was stored.
 * @throws FormError for a kind or a field that this program does not know, and for a field of another type: a newer
 *   store must not be half understood
 */
export function decodeChange(stored: unknown): Change {
  if (!Array.isArray(stored)) return refuse('change', 'array', stored)
  const schema = BY_CODE.get(stored[0]) ?? refuse('change', 'a known kind', stored[0])
  return schema.decode(stored, schema.name) as Change
}

/** Applies a change by the entry of this sequence and these times to `T`. */
type Handler<T, C extends Change> = (target: T, change: C, sequence: Sequence, times: RecordTimes) => void

/** One row for each change; a change without a row does not compile. */
export type ChangeHandlers<T> = { readonly [N in ChangeName]: Handler<T, ChangeNamed<N>> }

/** The row of a change. */
export function handlerOf<T>(handlers: ChangeHandlers<T>, { name }: Change): Handler<T, Change> {
  return handlers[name] as Handler<T, Change>
}
