/** Pages of lists ordered by name: buckets, accounts, policies, tokens. The lists are read whole and cut here. */
import { invalid } from '../errors.ts'
import { queryNumber, queryText } from '../schemas/query.ts'
import { type Infer, orNull, text } from '../schemas/schema.ts'

/** The default limit is the maximum: few stores have more entries, and clients without paging see all of them. */
export const NAMED_QUERY = { limit: queryNumber(1000, { minimum: 1, maximum: 1000 }), after: queryText }
export const NEXT_AFTER = { next_after: orNull(text()) }
export const NAMED_OPTIONS = {
  limit: 'only one page, with this many entries, 1 to 1000',
  after: 'continue at next_after of a page',
} as const

/** A page ends when its records reach this many characters of JSON. */
const PAGE_CHARACTERS_MAXIMUM = 1024 ** 2

/** A place in the order of a list: a name, and the id where names may repeat. */
type Place = readonly [name: string, id?: string]

/** Orders by name, then by id, by UTF-16 code units. */
function compare([name, id = '']: Place, [otherName, otherId = '']: Place): number {
  const [one, other] = name === otherName ? [id, otherId] : [name, otherName]
  if (one === other) return 0
  return one < other ? -1 : 1
}

interface PageRequest {
  query<N extends keyof typeof NAMED_QUERY>(name: N): Infer<(typeof NAMED_QUERY)[N]>
}

/** A list, and how its entries are ordered and shown. */
interface NamedList<E> {
  /** In any order. */
  readonly entries: readonly E[]
  readonly placeOf: (entry: E) => Place
  readonly recordOf: (entry: E) => unknown
}

/**
 * The records after a cursor, and the cursor of the next page. A cursor is a place in the order, so entries added or
 * removed meanwhile do not shift the pages.
 * @throws ManagementError INVALID_REQUEST for a cursor that no page returned
 */
export function namedPage<E>(
  request: PageRequest,
  { entries, placeOf, recordOf }: NamedList<E>,
): { readonly records: readonly unknown[]; readonly next: string | null } {
  const sent = request.query('after')
  const limit = request.query('limit')
  const after = sent === undefined ? undefined : readCursor(sent)
  const rest = entries
    .map((entry) => ({ entry, place: placeOf(entry) }))
    .filter(({ place }) => after === undefined || compare(place, after) > 0)
    .toSorted((left, right) => compare(left.place, right.place))
  const records: unknown[] = []
  let characters = 0
  let last: Place | undefined
  for (const { entry, place } of rest) {
    if (last !== undefined && (records.length === limit || characters >= PAGE_CHARACTERS_MAXIMUM)) {
      return { records, next: cursorOf(last) }
    }
    const record = recordOf(entry)
    records.push(record)
    characters += JSON.stringify(record).length
    last = place
  }
  return { records, next: null }
}

/** Opaque, since its content may change; not a secret. */
function cursorOf(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** @throws ManagementError INVALID_REQUEST */
function readCursor(cursor: string): Place {
  const place = placeIn(cursor)
  // The decoder skips characters that are not base64url, so several texts would be the same cursor.
  if (place === undefined || cursorOf(place) !== cursor) throw invalid('after', 'must be next_after of a page')
  return place
}

function placeIn(cursor: string): Place | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [name, id]: readonly unknown[] = Array.isArray(read) ? read : []
    if (typeof name !== 'string') return undefined
    if (id === undefined) return [name]
    return typeof id === 'string' ? [name, id] : undefined
  } catch {
    return undefined
  }
}
