import { useMemo } from 'preact/hooks'

/** What columns are ordered by. */
export type Orders<T> = Readonly<Record<string, (item: T) => number>>

/**
 * What was loaded, in another order.
 * @param sort the name of an order, with a `-` before it when the largest come first; any other text: as it was loaded
 */
export function useSorted<T>(items: readonly T[], orders: Orders<T>, sort: string): readonly T[] {
  return useMemo(() => {
    const valueOf = Object.hasOwn(orders, sort.replace('-', '')) ? orders[sort.replace('-', '')] : undefined
    if (valueOf === undefined) return items
    const sign = sort.startsWith('-') ? -1 : 1
    return items.toSorted((left, right) => sign * (valueOf(left) - valueOf(right)))
  }, [items, items.length, sort])
}

/** The next order by a column: the largest first, the smallest first, as it was loaded. */
export function nextSort(sort: string, column: string): string {
  if (sort === `-${column}`) return column
  return sort === column ? '' : `-${column}`
}
