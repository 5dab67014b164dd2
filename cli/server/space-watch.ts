import type { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import type { Logger } from './log/logger.ts'

const LOOK_MILLISECONDS = 1000

/** Logs once for each change that the disk is full, or no longer full. */
export class SpaceWatch {
  readonly #log: Pick<Logger, 'warn'>
  readonly #space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>
  readonly #timer: NodeJS.Timeout
  #isFull = false

  constructor(log: Pick<Logger, 'warn'>, space: Pick<SpaceGuard, 'space' | 'isBelowReserve'>) {
    this.#log = log
    this.#space = space
    this.#timer = setInterval(() => this.look(), LOOK_MILLISECONDS).unref()
  }

  look(): void {
    const isFull = this.#space.isBelowReserve
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    const { availableBytes, capacityBytes } = this.#space.space
    const message = isFull
      ? 'the disk is full: less than storage.reserved_mib is free, and every upload is refused'
      : 'the disk has space again: uploads are stored'
    this.#log.warn({ availableBytes, capacityBytes }, message)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
