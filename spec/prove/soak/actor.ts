/** One connection's worth of work, and what it must know to judge the answers. */
import { type Content, KeyBook } from '../key-book.ts'
import type { Answered, Life } from './life.ts'
import type { SoakApi, SoakWire } from './soak-clients.ts'

/** What an actor talks through during one life of the server. */
export interface Clients {
  readonly life: Life
  readonly wire: SoakWire
  readonly api: SoakApi
}

export interface Actor {
  /** Settles what is in doubt, reads everything it knows of, and returns what is not as it must be. */
  check(clients: Clients): Promise<string[]>
  /**
   * Sends requests until one has no answer.
   * @throws NoAnswerError, WrongAnswerError
   */
  run(clients: Clients): Promise<void>
}

/** An answer that contradicts what was acknowledged before. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError'
}

/** @throws WrongAnswerError */
export function mustBe<A extends Answered>(what: string, answer: A, ...statuses: readonly number[]): A {
  if (statuses.includes(answer.status)) return answer
  const text = answer.text.slice(0, 300)
  throw new WrongAnswerError(`${what}: ${answer.status} instead of ${statuses.join(' or ')}: ${text}`)
}

/** A book of keys whose changes wait for their answers. */
export class SoakBook extends KeyBook {
  /** @throws NoAnswerError, and the content is then in doubt; WrongAnswerError, and it is as it was */
  async write(key: string, content: Content, sending: Promise<Answered>, status: number): Promise<void> {
    const settle = this.sending(key, content)
    const answer = await sending
    settle(answer.status === status)
    mustBe(key, answer, status)
  }
}
