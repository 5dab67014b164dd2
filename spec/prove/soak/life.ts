/** One life of the server, from its start to SIGTERM or kill -9, and the rules that every request of it is held to. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessServer } from '../../support/server-process.ts'
import type { Random } from '../../support/random.ts'
import type { Tally } from './tally.ts'

/** Beyond this a request counts as never answered. */
const ANSWER_MILLISECONDS_MAXIMUM = 60_000
/** A request that was sent so long before SIGTERM has been read, and is answered. */
const READ_MILLISECONDS_MAXIMUM = 1000
const BACK_OFF_MILLISECONDS = { least: 50, spread: 200 } as const

/** What both planes answer. */
export interface Answered {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
  /** False when it was cut off; undefined where the client throws then. */
  readonly complete?: boolean
}

/** No answer came, and what became of the request is not known. Whether that was allowed has been judged already. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

export class Life {
  readonly server: ProcessServer
  readonly number: number
  inFlight = 0
  readonly #startedAt = performance.now()
  #resumedAt = this.#startedAt
  readonly #tally: Tally
  readonly #random: Random
  #ending: 'graceful' | 'kill' | undefined
  #endingAt = Number.POSITIVE_INFINITY
  #opened: Promise<void> | undefined
  #open: () => void = () => undefined

  constructor(number: number, server: ProcessServer, tally: Tally, random: Random) {
    this.number = number
    this.server = server
    this.#tally = tally
    this.#random = random
  }

  get isPaused(): boolean {
    return this.#opened !== undefined
  }

  get isEnding(): boolean {
    return this.#ending !== undefined
  }

  /** From now on connections may break. */
  begunToEnd(how: 'graceful' | 'kill'): void {
    this.#ending ??= how
    this.#endingAt = performance.now()
    this.resume()
  }

  /** Requests that are asked for from now on wait. */
  pause(): void {
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve
    })
  }

  resume(): void {
    this.#opened = undefined
    this.#resumedAt = performance.now()
    this.#open()
  }

  /**
   * Sends a request, again after each SlowDown, which says that nothing was done.
   * @param through does not wait while requests are paused
   * @throws NoAnswerError
   */
  async ask<A extends Answered>(kind: string, send: () => Promise<A>, through = false): Promise<A> {
    for (;;) {
      if (!through) await this.#opened
      const startedAt = performance.now()
      const answer = await this.#answerOf(kind, startedAt, send)
      if (!this.#isRefused(kind, startedAt, answer)) {
        this.#tally.answered(kind, performance.now() - startedAt)
        // What was never built is refused with a name, and that is an answer.
        if (answer.status >= 500 && answer.status !== 501) this.#error(kind, `${answer.status} ${answer.text}`)
        return answer
      }
      await sleep(BACK_OFF_MILLISECONDS.least + this.#random.below(BACK_OFF_MILLISECONDS.spread))
    }
  }

  async #answerOf<A extends Answered>(kind: string, startedAt: number, send: () => Promise<A>): Promise<A> {
    this.inFlight += 1
    try {
      const answer = await within(ANSWER_MILLISECONDS_MAXIMUM, send())
      if (answer.complete === false) throw new Error(`an answer of ${answer.status} was cut off`)
      return answer
    } catch (error) {
      throw this.#unanswered(kind, startedAt, String(error))
    } finally {
      this.inFlight -= 1
    }
  }

  /** Whether it is to be sent again. HEAD has no document that says why. */
  #isRefused(kind: string, startedAt: number, { status, code, text }: Answered): boolean {
    if (status !== 503) return false
    if (code === 'SlowDown' || code === 'SLOW_DOWN' || (text === '' && !this.isEnding)) {
      this.#tally.slowDown(kind)
      return true
    }
    // The server was asked to end and says so; what became of the request is not known.
    throw this.#unanswered(kind, startedAt, `503 ${text}`, true)
  }

  #unanswered(kind: string, startedAt: number, why: string, said = false): NoAnswerError {
    const milliseconds = (performance.now() - startedAt).toFixed(0)
    if (!this.isEnding) this.#error(kind, `no answer for ${milliseconds} ms while the server runs: ${why}`)
    else if (!said && this.#ending === 'graceful' && startedAt < this.#endingAt - READ_MILLISECONDS_MAXIMUM) {
      const age = this.#endingAt - startedAt
      this.#error(kind, `sent ${age.toFixed(0)} ms before the orderly end and not answered: ${why}`)
    } else this.#tally.cut(kind)
    return new NoAnswerError(`${kind}: ${why}`)
  }

  #error(kind: string, text: string): void {
    const when = `${secondsSince(this.#startedAt)} s old, ${secondsSince(this.#resumedAt)} s after a pause`
    this.#tally.finding('error', `life ${this.number}, ${when}: ${kind}: ${text}`)
  }
}

function secondsSince(moment: number): string {
  return ((performance.now() - moment) / 1000).toFixed(1)
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not answered within ${milliseconds} ms`)), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
