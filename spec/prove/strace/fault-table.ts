/** Every place where a system call of a script can fail, and which of them a run tries. */
import type { TracedCall } from '../../support/disks/system-call-tracer.ts'
import type { Script } from './scripted-work.ts'
import type { Area } from './traced-paths.ts'

/**
 * Those that change files or make them durable. The store writes at positions alone: `write` goes to no file of it.
 * Directories are made once in the life of a store.
 */
export const CALLS = [
  'pwrite64',
  'writev',
  'fdatasync',
  'fsync',
  'openat',
  'rename',
  'unlink',
  'ftruncate',
  'fchmod',
] as const

/** Words of strace for what happens instead of the call. A process that is killed in a call has not carried it out. */
export const FAULTS = {
  EIO: 'error=EIO',
  ENOSPC: 'error=ENOSPC',
  SIGKILL: 'error=EIO:signal=KILL',
} as const

export interface FaultCase {
  readonly script: Script
  readonly area: Area
  readonly call: string
  readonly fault: keyof typeof FAULTS
  /** Which of the calls, counted in each thread from 1. */
  readonly number: number
}

/** Pages of the projections are written by the dozen, one like the other. */
const PAGE_WRITES_MAXIMUM = 6

/** How often a thread makes each call, at most, when nothing fails. */
export function callCounts(calls: readonly TracedCall[]): Map<string, number> {
  const perThread = new Map<string, number>()
  const most = new Map<string, number>()
  for (const { thread, call } of calls) {
    const count = (perThread.get(`${thread} ${call}`) ?? 0) + 1
    perThread.set(`${thread} ${call}`, count)
    most.set(call, Math.max(most.get(call) ?? 0, count))
  }
  return most
}

/** All cases of a script whose calls in an area were counted. */
export function casesOf(script: Script, area: Area, counts: ReadonlyMap<string, number>): FaultCase[] {
  return CALLS.flatMap((call) => {
    const length = Math.min(counts.get(call) ?? 0, area === 'projections' ? PAGE_WRITES_MAXIMUM : Infinity)
    const numbers = Array.from({ length }, (_, index) => index + 1)
    return numbers.flatMap((number) => faultNames.map((fault) => ({ script, area, call, fault, number })))
  })
}

const faultNames = Object.keys(FAULTS) as (keyof typeof FAULTS)[]

/** Of the golden ratio: steps of this part of a table come everywhere before they come anywhere twice. */
const STEP = 0.618_033_988_75

/** `amount` rows of a table, from a place that the seed says on, spread over the whole; all of them once, then again. */
export function rotation<T>(table: readonly T[], amount: number, seed: number): T[] {
  const { length } = table
  if (length === 0) return []
  let step = Math.max(1, Math.round(length * STEP))
  while (divisor(step, length) !== 1) step += 1
  // Consecutive seeds go on where the one before ended.
  const first = (seed * amount) % length
  return Array.from({ length: amount }, (_, index) => table[((first + index) * step) % length] as T)
}

/** At least `amount` cases, spread over the table, and one of each call at the least. */
export function casesToTry(table: readonly FaultCase[], amount: number, seed: number): FaultCase[] {
  const spread = rotation(table, amount, seed)
  const others = CALLS.filter((call) => spread.every((one) => one.call !== call))
  const missing = others.flatMap((call) => {
    const ofCall = table.filter((one) => one.call === call)
    return rotation(ofCall, 1, seed)
  })
  return [...missing, ...spread]
}

function divisor(left: number, right: number): number {
  return right === 0 ? left : divisor(right, left % right)
}
