/** Reads the gauges of one life once a second. */
import { type LifeGauges, type Reading } from './growth.ts'
import type { Life } from './life.ts'
import { type Descriptors, descriptorsOf, memoryOf } from './process-gauges.ts'

const INTERVAL_MILLISECONDS = 1000

export class LifeWatch {
  readonly #life: Life
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #anonymous: Reading[] = []
  #residentMaximum = 0
  #descriptorsMaximum = 0
  #quiet: number | undefined

  constructor(life: Life) {
    this.#life = life
    this.#timer = setInterval(() => this.#read(), INTERVAL_MILLISECONDS)
  }

  /** The last reading, in words. */
  get text(): string {
    const [, anonymous = 0] = this.#anonymous.at(-1) ?? []
    return `${anonymous.toFixed(0)} MiB, ${this.#descriptorsMaximum} descriptors at most`
  }

  quiet({ payloads, deleted, others }: Descriptors): void {
    this.#quiet = payloads + deleted + others
  }

  /** @param requests answered in this life */
  stop(requests: number): LifeGauges {
    clearInterval(this.#timer)
    return {
      number: this.#life.number,
      seconds: this.#seconds,
      requests,
      anonymous: this.#anonymous,
      residentMaximum: this.#residentMaximum,
      descriptorsMaximum: this.#descriptorsMaximum,
      descriptorsQuiet: this.#quiet,
    }
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }

  #read(): void {
    const { pid } = this.#life.server.process
    if (pid === undefined || this.#life.isEnding) return
    const { anonymous, resident } = memoryOf(pid)
    // A process that has ended and has not been waited for holds nothing.
    if (Number.isNaN(anonymous)) return
    this.#anonymous.push([this.#seconds, anonymous])
    this.#residentMaximum = Math.max(this.#residentMaximum, resident)
    this.#descriptorsMaximum = Math.max(this.#descriptorsMaximum, descriptorsOf(pid))
  }
}
