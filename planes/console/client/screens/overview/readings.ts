/** What the counters of the server say of the last hour. */

/** The counters at one time. */
export interface Reading {
  readonly time: string
  readonly counters: Readonly<Record<string, number>>
}

/** A value at a time. */
export interface Point {
  readonly time: string
  readonly value: number
}

/** How much a counter rose in a second, between each two readings. A counter begins anew with the process. */
export function ratesOf(readings: readonly Reading[], ...names: readonly string[]): Point[] {
  return between(readings, (before, after, seconds) => rise(before, after, names) / seconds)
}

/** What one counter rose by for each that another did, such as seconds for each sync; 0 where nothing happened. */
export function meansOf(readings: readonly Reading[], sum: string, count: string): Point[] {
  return between(readings, (before, after) => {
    const events = rise(before, after, [count])
    return events === 0 ? 0 : rise(before, after, [sum]) / events
  })
}

/** How much a counter rose over all readings. */
export function riseOf(readings: readonly Reading[], name: string): number {
  const [first, last] = [readings[0], readings.at(-1)]
  return first === undefined || last === undefined ? 0 : rise(first, last, [name])
}

function rise(before: Reading, after: Reading, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + Math.max(0, (after.counters[name] ?? 0) - (before.counters[name] ?? 0)), 0)
}

function between(
  readings: readonly Reading[],
  valueOf: (before: Reading, after: Reading, seconds: number) => number,
): Point[] {
  return readings.slice(1).flatMap((after, index) => {
    const before = readings[index] as Reading
    const seconds = (Date.parse(after.time) - Date.parse(before.time)) / 1000
    // A clock that was set back gives no rate.
    return seconds > 0 ? [{ time: after.time, value: valueOf(before, after, seconds) }] : []
  })
}
