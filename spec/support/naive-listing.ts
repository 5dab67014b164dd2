/** A listing of what a key can have many of, by looking at all there is. */
import type { OrderedPosition, OrderedRequest } from '../../projections/ordered-listing.ts'

/** What is listed; `order` ascends within a key. */
export interface NaiveEntry {
  readonly key: string
  readonly order: number
}

export interface NaivePage<E> {
  readonly entries: readonly E[]
  readonly prefixes: readonly string[]
  readonly hasNext: boolean
}

function compareEntries(left: NaiveEntry, right: NaiveEntry): number {
  return Buffer.compare(Buffer.from(left.key), Buffer.from(right.key)) || left.order - right.order
}

function isBehind({ key, order }: NaiveEntry, after: OrderedPosition | undefined): boolean {
  if (after === undefined) return true
  const bytes = Buffer.from(key)
  const compared = Buffer.compare(bytes, after.bytes)
  switch (after.kind) {
    case 'after-key':
      return compared > 0
    case 'after-prefix':
      return compared > 0 && !bytes.subarray(0, after.bytes.length).equals(after.bytes)
    case 'after-entry':
      return compared > 0 || (compared === 0 && order > after.order)
  }
}

/** One page of `all`, in any order, as the request has it. */
export function naivePage<E extends NaiveEntry>(all: readonly E[], request: OrderedRequest): NaivePage<E> {
  const { prefix, delimiter, after, entriesMaximum } = request
  const start = prefix.toString()
  const shown = all.filter((entry) => entry.key.startsWith(start) && isBehind(entry, after)).toSorted(compareEntries)
  const page: (E | string)[] = []
  for (const entry of shown) {
    const at = delimiter === undefined ? -1 : entry.key.indexOf(delimiter.toString(), start.length)
    const common = at === -1 ? undefined : entry.key.slice(0, at + (delimiter?.toString() ?? '').length)
    if (common !== undefined && page.at(-1) === common) continue
    if (page.length === entriesMaximum) return { ...split(page), hasNext: entriesMaximum > 0 }
    page.push(common ?? entry)
  }
  return { ...split(page), hasNext: false }
}

function split<E extends NaiveEntry>(page: readonly (E | string)[]): Pick<NaivePage<E>, 'entries' | 'prefixes'> {
  return {
    entries: page.filter((one): one is E => typeof one !== 'string'),
    prefixes: page.filter((one): one is string => typeof one === 'string'),
  }
}
