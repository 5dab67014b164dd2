import type { Milliseconds } from '../../engine/brands.ts'
import { behindSentence, clockBehind } from './clock-behind.ts'
import type { Logger } from './log/logger.ts'

const LOOK_MILLISECONDS = 1000

interface ClockSources {
  /** Of the host. */
  readonly clock: () => Milliseconds
  /** The later of the host's clock and the time of the last entry: a read of shared memory. */
  readonly expiryClock: () => Milliseconds
  readonly toleranceSeconds: number
}

/** Logs once for each change that the clock of the host is behind the journal, or no longer behind. */
export class ClockWatch {
  readonly #log: Pick<Logger, 'warn'>
  readonly #sources: ClockSources
  readonly #timer: NodeJS.Timeout
  #isBehind = false

  constructor(log: Pick<Logger, 'warn'>, sources: ClockSources) {
    this.#log = log
    this.#sources = sources
    this.#timer = setInterval(() => this.look(), LOOK_MILLISECONDS).unref()
    this.look()
  }

  look(): void {
    const { clock, expiryClock, toleranceSeconds } = this.#sources
    const behind = clockBehind(clock(), expiryClock())
    const isBehind = behind.milliseconds > toleranceSeconds * 1000
    if (isBehind === this.#isBehind) return
    this.#isBehind = isBehind
    const message = isBehind ? behindSentence(behind) : 'the clock of the host is no longer behind the journal'
    this.#log.warn({ behindSeconds: Math.ceil(behind.milliseconds / 1000) }, message)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
