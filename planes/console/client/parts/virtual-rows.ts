/** Which rows of a long list are made, and where. */

interface Window {
  /** The first row that is made, and the one after the last. */
  readonly from: number
  readonly to: number
}

/** Rows made beyond either edge, so that a step of the wheel or the keyboard finds them there. */
const MARGIN_ROWS = 6

/**
 * @param top how far the list is scrolled, and `height` how much of it is seen, in pixels as `rowHeight`
 * @param count how many rows there are
 */
export function windowOf(top: number, height: number, rowHeight: number, count: number): Window {
  const first = Math.floor(top / rowHeight) - MARGIN_ROWS
  const end = Math.ceil((top + height) / rowHeight) + MARGIN_ROWS
  return { from: Math.max(0, Math.min(first, count)), to: Math.max(0, Math.min(end, count)) }
}

/** The row that a key leads to from another; undefined for other keys. */
export function rowAfterKey(key: string, row: number, count: number, page: number): number | undefined {
  const last = count - 1
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: last,
  }
  const target = steps[key]
  return target === undefined ? undefined : Math.max(0, Math.min(last, target))
}
