/**
 * Stands in for `setInterval`, so that what a store does every second can be made to happen within milliseconds. Its
 * stopwatch stands still: work that shares a thread by the time that it took would not do the same again.
 */
export class Intervals {
  readonly #callbacks = new Map<object, () => void>()
  readonly #real = { set: globalThis.setInterval, clear: globalThis.clearInterval, now: performance.now }

  constructor() {
    const set = (callback: () => void) => {
      const handle = { unref: () => handle, ref: () => handle }
      this.#callbacks.set(handle, callback)
      return handle
    }
    performance.now = () => 0
    globalThis.setInterval = set as unknown as typeof setInterval
    globalThis.clearInterval = (handle) => {
      this.#callbacks.delete(handle as object)
    }
  }

  /** Calls back whatever waits for its time. */
  tick(): void {
    for (const callback of this.#callbacks.values()) callback()
  }

  /** Forgets what a process that ended has left behind. */
  clear(): void {
    this.#callbacks.clear()
  }

  /** The real ones again. */
  restore(): void {
    performance.now = this.#real.now
    globalThis.setInterval = this.#real.set
    globalThis.clearInterval = this.#real.clear
  }
}
