/**
 * Bounds how many operations run at once, in all threads and on both planes together: some run, some wait in line for a
 * bounded time, the rest are refused with SlowDown. (Specification: `limits.maximum_concurrent_operations`.)
 *
 * No account may have more than its share of either, and a few places are reserved for administrators (decision 0042).
 * Waiting accounts are served round-robin; within an account, the longest waiting operation first.
 */
import { type Share, Shares } from '../../../engine/shares/shares.ts'
import {
  ACTIVE,
  createSharedGate,
  GateMemory,
  type Place,
  QUEUED,
  RUNNING,
  type SharedGate,
  WAITING,
} from './gate-memory.ts'

export interface ConcurrencyLimits {
  /** Operations that may run at once; at least 1. */
  readonly operationsMaximum: number
  /** Operations that may wait for one to end; 0 refuses at once. */
  readonly queueMaximum: number
  /** Maximum wait of an operation. */
  readonly waitMillisecondsMaximum: number
  /** Maximum part of the places, and of the queue, for one account: 1 to 100. Default 100. */
  readonly accountPercent?: number
}

/** Fraction of the places that is reserved for administrators. */
const RESERVED_PART = 1 / 16
/** Fraction of used places from which places are short, and transfers must progress (see stall-guard.ts). */
const CROWDED_PART = 3 / 4
/** How soon a waiting thread notices a free place of another. Counts in shared memory do not wake a thread. */
const LOOK_MILLISECONDS = 2
/** As above while no operation waits: a place may have been granted to a waiter that had just given up. */
const QUIET_LOOK_MILLISECONDS = 250

/** The place of administrators, whose operations count for no account. */
const ADMINISTRATOR = -1

interface Waiter {
  readonly resolve: (entered: boolean) => void
  readonly deadlineMilliseconds: number
}

/** The entry under which an operation is counted; given back with `leave`. */
export type Entry = Place

export class ConcurrencyGate {
  /** Operations of this thread refused so far, at once or after waiting. */
  rejected = 0

  readonly #limits: ConcurrencyLimits
  readonly #memory: GateMemory
  /** Places of all accounts together, then of each account, and waiting operations of each account. */
  readonly #openMaximum: number
  readonly #crowdedFrom: number
  readonly #shareMaximum: number
  readonly #queueShareMaximum: number
  #active = 0
  #queued = 0
  readonly #early = new Shares('early-bodies')
  /** Waiting operations by account, in order of arrival and so of deadline. The account served longest ago is first. */
  readonly #lines = new Map<Place, Waiter[]>()
  #timer: NodeJS.Timeout | undefined

  /** @param shared counts shared by all threads, each with its own number; by default the gate serves one thread */
  constructor(limits: ConcurrencyLimits, shared: SharedGate = createSharedGate(1), thread = 0) {
    const { operationsMaximum, queueMaximum, accountPercent = 100 } = limits
    this.#limits = limits
    this.#memory = new GateMemory(shared, thread)
    this.#openMaximum = operationsMaximum - Math.floor(operationsMaximum * RESERVED_PART)
    this.#crowdedFrom = Math.ceil(operationsMaximum * CROWDED_PART)
    this.#shareMaximum = Math.ceil((this.#openMaximum * accountPercent) / 100)
    this.#queueShareMaximum = Math.ceil((queueMaximum * accountPercent) / 100)
    setInterval(() => this.#memory.takeGranted(), QUIET_LOOK_MILLISECONDS).unref()
  }

  /** Operations of this thread that have entered and not left, and requests whose small body is on its way. */
  get active(): number {
    return this.#active + this.#early.held
  }

  /** Operations of this thread that wait. */
  get queued(): number {
    return this.#queued
  }

  /**
   * Whether places are short, over all threads: operations wait, few places are free, or many small bodies are late.
   */
  get isCrowded(): boolean {
    if (this.#early.used > this.#early.capacity * CROWDED_PART) return true
    return this.#memory.count(QUEUED) > 0 || this.#memory.count(ACTIVE) >= this.#crowdedFrom
  }

  /**
   * Asks to receive a small body before its operation takes a place. The caller leaves the share when the body has
   * arrived or its client has gone. Undefined: too many are on their way, and this operation needs a place first.
   */
  expectBody(account: string, bytes: number): Share | undefined {
    return this.#early.take(account, bytes)
  }

  /** The entry that an operation is counted under. An administrator has no share, and may use the reserved places. */
  entryOf(account: string, isAdministrator: boolean): Entry {
    return isAdministrator ? ADMINISTRATOR : this.#memory.placeOf(account)
  }

  /**
   * Asks for a place. A caller that gets one calls `leave` exactly once, also if its client has disconnected by the
   * time the promise resolves to true.
   * @returns 'entered' or 'rejected' at once, or a promise of whether a place came free in time
   */
  enter(entry: Entry): 'entered' | 'rejected' | Promise<boolean> {
    if (!this.#lines.has(entry) && this.#take(entry)) return 'entered'
    if (!this.#queue(entry)) {
      this.rejected += 1
      return 'rejected'
    }
    return new Promise((resolve) => {
      const deadlineMilliseconds = performance.now() + this.#limits.waitMillisecondsMaximum
      const line = this.#lines.get(entry)
      if (line === undefined) this.#lines.set(entry, [{ resolve, deadlineMilliseconds }])
      else line.push({ resolve, deadlineMilliseconds })
      if (this.#timer === undefined) this.#timer = setTimeout(() => this.#look(), LOOK_MILLISECONDS)
    })
  }

  /** Gives a place back, to the next waiting operation of any thread. */
  leave(entry: Entry): void {
    if (this.#active === 0) throw new Error('An operation left the gate that had not entered')
    this.#active -= 1
    if (entry !== ADMINISTRATOR) this.#memory.subtractFrom(RUNNING, entry)
    if (this.#memory.count(QUEUED) > 0 && this.#memory.count(ACTIVE) >= this.#openMaximum && this.#memory.passOn())
      return
    this.#memory.subtract(ACTIVE)
    if (this.#queued > 0) this.#serve()
  }

  #take(entry: Entry): boolean {
    const isAdministrator = entry === ADMINISTRATOR
    if (!this.#memory.add(ACTIVE, isAdministrator ? this.#limits.operationsMaximum : this.#openMaximum)) return false
    if (!isAdministrator && !this.#memory.addTo(RUNNING, entry, this.#shareMaximum)) {
      this.#memory.subtract(ACTIVE)
      return false
    }
    this.#active += 1
    return true
  }

  #queue(entry: Entry): boolean {
    if (!this.#memory.add(QUEUED, this.#limits.queueMaximum)) return false
    if (entry !== ADMINISTRATOR && !this.#memory.addTo(WAITING, entry, this.#queueShareMaximum)) {
      this.#memory.subtract(QUEUED)
      return false
    }
    this.#queued += 1
    return true
  }

  /** Admits waiting operations while there are places, one account after the other. */
  #serve(): void {
    // A line moved to the end is visited again by this loop.
    for (const [entry, line] of this.#lines) {
      if (!this.#take(entry)) continue
      const next = this.#unqueue(entry, line)
      this.#lines.delete(entry)
      if (line.length > 0) this.#lines.set(entry, line)
      next.resolve(true)
    }
  }

  #unqueue(entry: Entry, line: Waiter[]): Waiter {
    const first = line.shift()
    if (first === undefined) throw new Error('A line of the gate is empty')
    this.#queued -= 1
    this.#memory.subtract(QUEUED)
    if (entry !== ADMINISTRATOR) this.#memory.subtractFrom(WAITING, entry)
    return first
  }

  #look(): void {
    this.#memory.takeGranted()
    this.#serve()
    this.#refuseOverdue()
    this.#timer = this.#queued > 0 ? setTimeout(() => this.#look(), LOOK_MILLISECONDS) : undefined
  }

  #refuseOverdue(): void {
    const now = performance.now()
    for (const [entry, line] of this.#lines) {
      while (line[0] !== undefined && line[0].deadlineMilliseconds <= now) {
        this.rejected += 1
        this.#unqueue(entry, line).resolve(false)
      }
      if (line.length === 0) this.#lines.delete(entry)
    }
  }
}
