/** Computes which rows of a long list are rendered. */

interface Window {
  /** First rendered row, and the row after the last. */
  readonly from: number
  readonly to: number
}

/** Rows rendered beyond either edge, so that scrolling by wheel or keyboard finds them. */
const MARGIN_ROWS = 6

/**
 * @param top scroll position; `height`: visible height; both in pixels, like `rowHeight`
 * @param count number of rows
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
