/** What all listings have in common, in the simplest way there is: order, prefix, delimiter, pages. */

/** The order of S3: by the bytes of the UTF-8 form. */
export function byUtf8(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** Something that a listing shows under a key, or a common prefix in place of all keys that begin with it. */
export type ListEntry<T> = { readonly key: string; readonly item: T } | { readonly prefix: string }

export interface ListFilter {
  readonly prefix: string
  /** Empty for none. */
  readonly delimiter: string
}

export interface ListPage<T> {
  readonly items: readonly { readonly key: string; readonly item: T }[]
  readonly prefixes: readonly string[]
  readonly last: ListEntry<T> | undefined
  readonly isTruncated: boolean
}

/**
 * Entries in the order of S3, which is that of the keys' bytes.
 * @param items those of a key in their own order
 */
export function listEntries<T>(
  keys: ReadonlyMap<string, readonly T[]>,
  { prefix, delimiter }: ListFilter,
): ListEntry<T>[] {
  const entries: ListEntry<T>[] = []
  let lastPrefix: string | undefined
  for (const key of [...keys.keys()].toSorted(byUtf8)) {
    if (!key.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    if (at === -1) {
      entries.push(...(keys.get(key) ?? []).map((item) => ({ key, item })))
      continue
    }
    const common = key.slice(0, at + delimiter.length)
    if (common !== lastPrefix) entries.push({ prefix: common })
    lastPrefix = common
  }
  return entries
}

/** The first entries, common prefixes apart from the rest as they stand in a document. */
export function pageOf<T>(entries: readonly ListEntry<T>[], size: number): ListPage<T> {
  const shown = entries.slice(0, size)
  return {
    items: shown.filter((entry) => 'item' in entry),
    prefixes: shown.flatMap((entry) => ('prefix' in entry ? [entry.prefix] : [])),
    last: shown.at(-1),
    isTruncated: size > 0 && entries.length > size,
  }
}

/** Things by their key, in the order in which they came. */
export function groupByKey<T extends { readonly key: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(item.key)
    if (group === undefined) groups.set(item.key, [item])
    else group.push(item)
  }
  return groups
}
