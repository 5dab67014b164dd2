/** Time of a simulated world: the clocks and timers of this thread are exchanged for those of a seed. */
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

/** Hours after which what is waited for will never come: no wait of a server is as long. */
const STANDSTILL_MILLISECONDS = 12 * 60 * 60 * 1000

/** Of the stopwatch, from the start of one world of a process to the next: more than any world lasts. */
const WORLD_MILLISECONDS = 2 ** 36

/** Worlds of this process so far. */
let worlds = 0

/** Nothing is left that could bring what is waited for. */
export class StandstillError extends Error {
  override readonly name = 'StandstillError'
}

interface Timer {
  readonly callback: () => void
  readonly everyMilliseconds: number | undefined
  /** Of timers that are due at once, the one that was set first. */
  readonly order: number
  dueMilliseconds: number
}

interface TimerHandle {
  ref(): TimerHandle
  unref(): TimerHandle
  hasRef(): boolean
  refresh(): TimerHandle
}

type Callback = (...given: unknown[]) => void

/**
 * The wall clock says what it was set to, and stands still in between. The stopwatch (`performance.now`) moves to the next
 * timer when nothing else is to be done: then that timer fires. Immediates run in the order in which they were asked for,
 * by the loop of Node; all else of that loop (files, sockets, its threads) has no place in a world.
 *
 * The stopwatch of a process never goes back: modules keep what it said when they were loaded, or in the world before
 * (`refusalPace`). Each world begins so long after the one before that all which fills up by time is full. It says whole
 * milliseconds, as the timers of Node have them, so that differences are the same however late a world begins.
 */
export class SimulatedTime {
  /** Milliseconds since 1970. */
  wallMilliseconds: number
  /** Turns of the loop so far. */
  turns = 0
  readonly #beginsMilliseconds: number
  #elapsedMilliseconds = 0
  #set = 0
  readonly #timers = new Map<object, Timer>()
  readonly #immediates = new Set<object>()
  readonly #real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    setImmediate: globalThis.setImmediate,
    clearImmediate: globalThis.clearImmediate,
    dateNow: Date.now,
    stopwatch: performance.now,
    pause: timersPromises.setTimeout,
    turn: timersPromises.setImmediate,
  }

  constructor(wallMilliseconds: number) {
    this.wallMilliseconds = wallMilliseconds
    worlds += 1
    this.#beginsMilliseconds = worlds * WORLD_MILLISECONDS
    const clear = (handle: unknown) => void this.#timers.delete(handle as object)
    Object.assign(globalThis, {
      setTimeout: (callback: Callback, milliseconds?: number, ...given: unknown[]) =>
        this.#add(() => callback(...given), milliseconds, false),
      setInterval: (callback: Callback, milliseconds?: number, ...given: unknown[]) =>
        this.#add(() => callback(...given), milliseconds, true),
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: (callback: Callback, ...given: unknown[]) => this.#immediate(() => callback(...given)),
      clearImmediate: (handle: NodeJS.Immediate) => {
        this.#immediates.delete(handle)
        this.#real.clearImmediate(handle)
      },
    })
    Date.now = () => this.wallMilliseconds
    performance.now = () => this.#beginsMilliseconds + this.#elapsedMilliseconds
    Object.assign(timersPromises, {
      setTimeout: (milliseconds?: number, value?: unknown, options?: { readonly signal?: AbortSignal }) =>
        this.#pause(milliseconds, value, options?.signal),
      setImmediate: (value?: unknown) => new Promise((resolve) => void this.#immediate(() => resolve(value))),
    })
    syncBuiltinESMExports()
  }

  /** Forgets the timers of a process that has ended. */
  forgetTimers(): void {
    this.#timers.clear()
  }

  /**
   * Lets time pass until `work` has settled.
   * @throws StandstillError when it never will
   */
  async until<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    const last = this.#elapsedMilliseconds + STANDSTILL_MILLISECONDS
    for (;;) {
      await new Promise((resolve) => this.#real.setImmediate(resolve))
      this.turns += 1
      if (isOver) return work
      // Microtasks have run by now, so without an immediate only a timer can go on.
      if (this.#immediates.size === 0) this.#fireNext(last)
    }
  }

  /** The real clocks and timers again. */
  restore(): void {
    const { dateNow, stopwatch, pause, turn, ...timers } = this.#real
    Object.assign(globalThis, timers)
    Date.now = dateNow
    performance.now = stopwatch
    Object.assign(timersPromises, { setTimeout: pause, setImmediate: turn })
    syncBuiltinESMExports()
  }

  #add(callback: () => void, milliseconds = 1, repeats: boolean): TimerHandle {
    const every = Math.max(1, Math.trunc(milliseconds))
    const handle: TimerHandle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => false,
      refresh: () => {
        const timer = this.#timers.get(handle)
        if (timer !== undefined) timer.dueMilliseconds = this.#elapsedMilliseconds + every
        return handle
      },
    }
    this.#set += 1
    this.#timers.set(handle, {
      callback,
      everyMilliseconds: repeats ? every : undefined,
      order: this.#set,
      dueMilliseconds: this.#elapsedMilliseconds + every,
    })
    return handle
  }

  #immediate(callback: () => void): NodeJS.Immediate {
    const handle = this.#real.setImmediate(() => {
      this.#immediates.delete(handle)
      callback()
    })
    this.#immediates.add(handle)
    return handle
  }

  #pause(milliseconds: number | undefined, value: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error)
      const handle = this.#add(() => resolve(value), milliseconds, false)
      signal?.addEventListener('abort', () => {
        this.#timers.delete(handle)
        reject(signal.reason as Error)
      })
    })
  }

  #fireNext(lastMilliseconds: number): void {
    let found: [object, Timer] | undefined
    for (const entry of this.#timers) if (found === undefined || isBefore(entry[1], found[1])) found = entry
    if (found === undefined) throw new StandstillError('nothing is under way, and no timer is set')
    const [handle, timer] = found
    if (timer.dueMilliseconds > lastMilliseconds) throw new StandstillError('hours have passed, and nothing came')
    this.#elapsedMilliseconds = Math.max(this.#elapsedMilliseconds, timer.dueMilliseconds)
    if (timer.everyMilliseconds === undefined) this.#timers.delete(handle)
    else timer.dueMilliseconds = this.#elapsedMilliseconds + timer.everyMilliseconds
    timer.callback()
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  if (one.dueMilliseconds !== other.dueMilliseconds) return one.dueMilliseconds < other.dueMilliseconds
  return one.order < other.order
}
