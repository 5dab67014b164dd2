import type { Bench, Target } from './bench.ts'
import type { LimitName } from './figure.ts'
import type { Load } from './load.ts'
import { processorSeconds } from './process-usage.ts'
import type { LoadResult } from './wrk.ts'

const MEBIBYTE = 1024 ** 2
const WARM_UP_SECONDS_MAXIMUM = 3

/** One of two loads that are compared. */
export interface Side {
  readonly figure: string
  readonly label: string
  readonly target: Target
  readonly load: Load
  /** Before each of its turns, and before its warm-up. */
  readonly prepare?: () => Promise<void>
}

export interface Turns {
  readonly connections: number
  /** Of each turn. */
  readonly seconds: number
  readonly rounds: number
  /** Bytes of one object: the figures are then MiB a second. */
  readonly objectBytes?: number
  readonly limits: readonly LimitName[]
}

/** The turns of a side, and the processor time of its server in them. */
interface Taken {
  readonly side: Side
  readonly results: LoadResult[]
  processorSeconds: number
}

/**
 * Measures two loads in turns, so that other load of the machine affects both: A B, B A, A B and so on. Adds the median
 * turn of each as a figure.
 * @returns the rate of the second divided by the rate of the first
 * @throws LoadFailedError
 */
export async function measureInTurns(bench: Bench, first: Side, second: Side, turns: Turns): Promise<number> {
  const takenOf = (side: Side): Taken => ({ side, results: [], processorSeconds: 0 })
  const [left, right] = [takenOf(first), takenOf(second)]
  // On one connection a large object is sent in time even by a slow server.
  const warmUpConnections = turns.objectBytes === undefined ? turns.connections : 1
  const warmUpSeconds = Math.min(WARM_UP_SECONDS_MAXIMUM, turns.seconds)
  for (const { side } of [left, right]) {
    await side.prepare?.()
    await bench.runLoad(side.target, side.load, warmUpConnections, warmUpSeconds)
  }
  for (let round = 0; round < turns.rounds; round += 1) {
    for (const taken of round % 2 === 0 ? [left, right] : [right, left]) await takeTurn(bench, taken, turns)
  }
  const [leftRate, rightRate] = [left, right].map((taken) => addMedian(bench, taken, turns)) as [number, number]
  return rightRate / leftRate
}

async function takeTurn(bench: Bench, taken: Taken, { connections, seconds }: Turns): Promise<void> {
  const { target, load, prepare } = taken.side
  await prepare?.()
  const before = target.pid === undefined ? 0 : processorSeconds(target.pid)
  taken.results.push(await bench.runLoad(target, load, connections, seconds))
  if (target.pid !== undefined) taken.processorSeconds += processorSeconds(target.pid) - before
}

function addMedian(bench: Bench, taken: Taken, { objectBytes, limits, rounds }: Turns): number {
  const { side, results } = taken
  const sorted = results.toSorted((one, other) => one.requestsPerSecond - other.requestsPerSecond)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] as LoadResult
  const answered = results.reduce((sum, result) => sum + result.answered, 0)
  const rate = median.requestsPerSecond
  const isBytes = objectBytes !== undefined
  const shown = results.map((result) => Math.round(result.requestsPerSecond * (isBytes ? objectBytes / MEBIBYTE : 1)))
  bench.add({
    name: side.figure,
    label: side.label,
    value: isBytes ? (rate * objectBytes) / MEBIBYTE : rate,
    unit: isBytes ? 'MiB/s' : 'per second',
    latency: median.latency,
    processorMicroseconds: side.target.pid === undefined ? undefined : (taken.processorSeconds * 1_000_000) / answered,
    limits,
    note: rounds === 1 ? undefined : `the median of ${shown.join(', ')}`,
  })
  return rate
}
