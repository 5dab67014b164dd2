import { useMemo } from 'preact/hooks'

/** Sort values of items, by name of the order. */
export type Orders<T> = Readonly<Record<string, (item: T) => number>>

/**
 * The loaded items in another order.
 * @param sort the name of an order, with `-` in front for largest first; any other text: in the order loaded
 */
export function useSorted<T>(items: readonly T[], orders: Orders<T>, sort: string): readonly T[] {
  return useMemo(() => {
    const valueOf = Object.hasOwn(orders, sort.replace('-', '')) ? orders[sort.replace('-', '')] : undefined
    if (valueOf === undefined) return items
    const sign = sort.startsWith('-') ? -1 : 1
    return items.toSorted((left, right) => sign * (valueOf(left) - valueOf(right)))
  }, [items, items.length, sort])
}

/** The next order by a column: largest first, then smallest first, then as loaded. */
export function nextSort(sort: string, column: string): string {
  if (sort === `-${column}`) return column
  return sort === column ? '' : `-${column}`
}
