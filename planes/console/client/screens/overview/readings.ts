/** The counters and histograms of the server over the last hour. */
import type { Answer } from '../../api/call.ts'

type History = Answer<'GET /system/metrics/history'>
/** The counters and histograms at one time, all since the start of the process. */
export type Reading = History['readings'][number]

/** Selects histograms by values of their labels. */
export interface Which {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

const HOUR_MILLISECONDS = 3_600_000
const STEP_MILLISECONDS = 60_000

/** Appends newer readings, and drops readings more than an hour older than the last. */
export function joinReadings(before: readonly Reading[], newer: readonly Reading[]): Reading[] {
  const first = newer[0]?.time
  const kept = first === undefined ? before : before.filter(({ time }) => Date.parse(time) < Date.parse(first))
  const all = [...kept, ...newer]
  const last = Date.parse(all.at(-1)?.time ?? '')
  return all.filter(({ time }) => last - Date.parse(time) <= HOUR_MILLISECONDS)
}

/** The change between two readings. */
export class Step {
  readonly before: Reading
  readonly after: Reading

  constructor(before: Reading, after: Reading) {
    this.before = before
    this.after = after
  }

  /** Its end, in seconds since 1970. */
  get time(): number {
    return Date.parse(this.after.time) / 1000
  }

  get seconds(): number {
    return (Date.parse(this.after.time) - Date.parse(this.before.time)) / 1000
  }

  /** Sum of the increases of counters, which restart at 0 with the process. */
  rise(...names: readonly string[]): number {
    return names.reduce((sum, name) => sum + risen(this.before.counters[name], this.after.counters[name]), 0)
  }

  /** Increase of each bucket of the selected histograms; empty without any. */
  buckets(which: Which): number[] {
    const [before, after] = [bucketsOf(this.before, which), bucketsOf(this.after, which)]
    // A smaller total means that the process has restarted.
    const began = total(after) < total(before)
    return after.map((count, index) => count - (began ? 0 : (before[index] ?? 0)))
  }
}

function risen(before = 0, after = 0): number {
  return after < before ? after : after - before
}

function bucketsOf({ histograms }: Reading, { name, labels = {} }: Which): number[] {
  const found = histograms.filter((one) => {
    return one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value)
  })
  return addBuckets(found.map(({ buckets }) => buckets))
}

/** Sums of buckets, over all histograms. */
export function addBuckets(all: readonly (readonly number[])[]): number[] {
  const longest = Math.max(0, ...all.map((buckets) => buckets.length))
  return Array.from({ length: longest }, (_, index) => total(all.map((buckets) => buckets[index] ?? 0)))
}

export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Steps of a minute, and a last one until the newest reading. Readings after a clock was set back give none. */
export function stepsOf(readings: readonly Reading[]): Step[] {
  const minute = ({ time }: Reading) => Math.floor(Date.parse(time) / STEP_MILLISECONDS)
  const ends = readings.filter((reading, index) => {
    const before = readings[index - 1]
    return before === undefined || index === readings.length - 1 || minute(before) !== minute(reading)
  })
  return ends
    .slice(1)
    .map((after, index) => new Step(ends[index] as Reading, after))
    .filter(({ seconds }) => seconds > 0)
}

/** How much a counter rose over all steps. */
export function riseOf(steps: readonly Step[], name: string): number {
  return total(steps.map((step) => step.rise(name)))
}

/**
 * The upper bound, in seconds, of the bucket with the quantile `part`.
 * @returns undefined for an empty histogram; infinity above the last bound
 */
export function quantileOf(buckets: readonly number[], bounds: readonly number[], part: number): number | undefined {
  const all = total(buckets)
  if (all === 0) return undefined
  let seen = 0
  const at = buckets.findIndex((count) => {
    seen += count
    return seen >= part * all
  })
  return bounds[at] ?? Number.POSITIVE_INFINITY
}
