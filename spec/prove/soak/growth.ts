/** Whether something grows, said robustly: of single readings some are always out of line. */

/** A moment in seconds and what was read then. */
export type Reading = readonly [seconds: number, value: number]

/** The middle one, NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/** Theil–Sen: the median of the slopes between all pairs. Up to a quarter of the readings may be anything at all. */
export function slopeOf(readings: readonly Reading[]): number {
  const slopes: number[] = []
  for (const [index, [time, value]] of readings.entries()) {
    for (const [laterTime, laterValue] of readings.slice(index + 1)) {
      if (laterTime !== time) slopes.push((laterValue - value) / (laterTime - time))
    }
  }
  return median(slopes)
}

/** One life of the server as its gauges saw it. */
export interface LifeGauges {
  readonly number: number
  readonly seconds: number
  readonly requests: number
  /** RssAnon in MiB, once a second, from the start of the life. */
  readonly anonymous: readonly Reading[]
  /** Descriptors at the quiet point that are neither sockets nor volumes; undefined when there was none. */
  readonly descriptorsQuiet: number | undefined
}

/** A life has a level after this: most buffers are filled, most code is compiled. */
const WARM_UP_SECONDS = 30
/** And a slope after this: the collector lets heaps grow for minutes before it finds that they need not. */
const LONG_WARM_UP_SECONDS = 120
/** Fewer readings than this after a warm-up say nothing. */
const READINGS_MINIMUM = 20
/** Within a long life, MiB a minute. At a thousand requests a second this is 300 bytes for each. */
const SLOPE_MAXIMUM = 20
/** From the first to the last life, as a part of the middle one, and in MiB. */
const DRIFT = { part: 0.25, mebibytes: 64 } as const
/** No life may hold more, in MiB. */
const ANONYMOUS_MAXIMUM = 1024
const DESCRIPTORS_DRIFT_MAXIMUM = 8

/** What grew, in sentences; nothing when nothing did. */
export function growthOf(lives: readonly LifeGauges[]): string[] {
  return [...slopeFindings(lives), ...driftFindings(lives), ...descriptorFindings(lives)]
}

/** What was read after a warm-up; nothing of a life that was too short. */
function readingsAfter(warmUpSeconds: number, { anonymous }: LifeGauges): readonly Reading[] {
  const warm = anonymous.filter(([seconds]) => seconds >= warmUpSeconds)
  return warm.length < READINGS_MINIMUM ? [] : warm
}

/** Slopes in MiB a minute of the lives that were long enough. */
export function slopesWithin(lives: readonly LifeGauges[]): number[] {
  const readings = lives.map((life) => readingsAfter(LONG_WARM_UP_SECONDS, life))
  return readings.flatMap((warm) => (warm.length === 0 ? [] : [slopeOf(warm) * 60]))
}

function slopeFindings(lives: readonly LifeGauges[]): string[] {
  const slope = median(slopesWithin(lives))
  return slope > SLOPE_MAXIMUM ? [`memory grows by ${slope.toFixed(1)} MiB a minute within a life`] : []
}

/** What a life holds when it is warm; NaN of one that was too short. */
export function levelOf(life: LifeGauges): number {
  return median(readingsAfter(WARM_UP_SECONDS, life).map(([, value]) => value))
}

function driftFindings(lives: readonly LifeGauges[]): string[] {
  const levels = lives.map((life, index): Reading => [index, levelOf(life)]).filter(([, level]) => !Number.isNaN(level))
  const drift = slopeOf(levels) * (levels.length - 1)
  const allowed = Math.max(DRIFT.mebibytes, DRIFT.part * median(levels.map(([, level]) => level)))
  const drifts = drift > allowed ? [`memory grows by ${drift.toFixed(0)} MiB from the first life to the last`] : []
  const peaks = lives.flatMap(({ number, anonymous }) => {
    const peak = Math.max(0, ...anonymous.map(([, value]) => value))
    return peak > ANONYMOUS_MAXIMUM ? [`life ${number} held ${peak.toFixed(0)} MiB`] : []
  })
  return [...drifts, ...peaks]
}

function descriptorFindings(lives: readonly LifeGauges[]): string[] {
  const quiet = lives.flatMap(({ descriptorsQuiet }) => (descriptorsQuiet === undefined ? [] : [descriptorsQuiet]))
  const drift = slopeOf(quiet.map((count, index): Reading => [index, count])) * (quiet.length - 1)
  return drift > DESCRIPTORS_DRIFT_MAXIMUM
    ? [`${drift.toFixed(0)} more descriptors in the last life than in the first`]
    : []
}

/** In MiB: the process that makes the load keeps recipes, not bytes. */
const CLIENT_MAXIMUM = 1536
const CLIENT_DRIFT_MAXIMUM = 256

/** Whether the load itself grows. @param resident RSS in MiB at the end of each life */
export function clientGrowth(resident: readonly number[]): string[] {
  const drift = slopeOf(resident.map((value, index): Reading => [index, value])) * (resident.length - 1)
  const most = Math.max(...resident)
  return [
    ...(drift > CLIENT_DRIFT_MAXIMUM ? [`the load grew by ${drift.toFixed(0)} MiB`] : []),
    ...(most > CLIENT_MAXIMUM ? [`the load held ${most.toFixed(0)} MiB`] : []),
  ]
}

/** A life in words. */
export function lifeLine(life: LifeGauges): string {
  const most = Math.max(0, ...life.anonymous.map(([, value]) => value))
  const level = levelOf(life)
  const warm = Number.isNaN(level) ? 'ended before it was warm' : `${level.toFixed(0)} when warm`
  const memory = `memory at most ${most.toFixed(0)} MiB, ${warm}`
  const quiet = `${life.descriptorsQuiet ?? 'unknown'} descriptors beside sockets and volumes when quiet`
  return `life ${life.number}: ${life.seconds.toFixed(0)} s, ${life.requests} requests; ${memory}; ${quiet}`
}
