/** What the counters and histograms of the server say of the last hour. */
import type { Answer } from '../../api/call.ts'

type History = Answer<'GET /system/metrics/history'>
/** The counters and histograms at one time, all since the start of the process. */
export type Reading = History['readings'][number]

/** Which histograms: those whose labels have these values. */
export interface Which {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

const HOUR_MILLISECONDS = 3_600_000
const STEP_MILLISECONDS = 60_000

/** The readings of before with newer ones, without what is more than an hour older than the last. */
export function joinReadings(before: readonly Reading[], newer: readonly Reading[]): Reading[] {
  const first = newer[0]?.time
  const kept = first === undefined ? before : before.filter(({ time }) => Date.parse(time) < Date.parse(first))
  const all = [...kept, ...newer]
  const last = Date.parse(all.at(-1)?.time ?? '')
  return all.filter(({ time }) => last - Date.parse(time) <= HOUR_MILLISECONDS)
}

/** What happened between two readings. */
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

  /** How much counters rose. They begin anew with the process. */
  rise(...names: readonly string[]): number {
    return names.reduce((sum, name) => sum + risen(this.before.counters[name], this.after.counters[name]), 0)
  }

  /** What came into each bucket of the histograms; empty when nothing did. */
  buckets(which: Which): number[] {
    const [before, after] = [bucketsOf(this.before, which), bucketsOf(this.after, which)]
    // What has counted fewer began anew.
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

/** The same bucket of each added up. */
export function addBuckets(all: readonly (readonly number[])[]): number[] {
  const longest = Math.max(0, ...all.map((buckets) => buckets.length))
  return Array.from({ length: longest }, (_, index) => total(all.map((buckets) => buckets[index] ?? 0)))
}

export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Steps of a minute, and one from the last full minute until now. A clock that was set back gives none. */
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
 * The bound in seconds that a part of what was counted stayed within.
 * @returns undefined when nothing was counted; infinity above the last bound
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
