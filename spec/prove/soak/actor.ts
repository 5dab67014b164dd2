/** One connection's worth of work, and what it must know to judge the answers. */
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { Answered, Life } from './life.ts'
import type { SoakApi, SoakWire } from './soak-clients.ts'

/** What an actor talks through during one life of the server. */
export interface Clients {
  readonly life: Life
  readonly wire: SoakWire
  readonly api: SoakApi
}

export interface Actor {
  /** Settles what is in doubt, looks at everything it knows of, and returns what is not as it must be. */
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
  throw new WrongAnswerError(
    `${what}: ${answer.status} instead of ${statuses.join(' or ')}: ${answer.text.slice(0, 300)}`,
  )
}

/** Recipes for the bytes of an object, one for each part; undefined where there is no object. */
export type Content = readonly (readonly [size: number, seed: number])[] | undefined

export function bytesOf(content: Content): Buffer {
  const parts = (content ?? []).map(([size, seed]) => sampleBytes(size, seed))
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

export function sizeOf(content: Content): number {
  return (content ?? []).reduce((total, [size]) => total + size, 0)
}

/** What stands under each key: one thing, or several after a request without an answer. Never the bytes themselves. */
export class ContentBook {
  readonly keys: readonly string[]
  readonly #possible = new Map<string, readonly Content[]>()

  constructor(keys: readonly string[]) {
    this.keys = keys
    for (const key of keys) this.#possible.set(key, [undefined])
  }

  current(key: string): Content {
    return this.#possible.get(key)?.[0]
  }

  get present(): string[] {
    return this.keys.filter((key) => this.current(key) !== undefined)
  }

  /**
   * Waits for the answer to a write.
   * @throws NoAnswerError, and the content is then in doubt; WrongAnswerError, and it is as it was
   */
  async write<A extends Answered>(key: string, content: Content, sending: Promise<A>, status: number): Promise<A> {
    const before = this.#possible.get(key) ?? []
    this.#possible.set(key, [...before, content])
    const answer = await sending
    const isDone = answer.status === status
    this.#possible.set(key, isDone ? [content] : before)
    return mustBe(key, answer, status)
  }

  /** Holds an answer to a read of the whole against what may stand there; settles the doubt. Gives what is wrong. */
  settle(key: string, answer: Answered & { readonly body: Buffer }): string | undefined {
    const possible = this.#possible.get(key) ?? []
    const found = possible.find((content) => isThere(answer, content))
    const isFound = found !== undefined || (answer.status === 404 && possible.includes(undefined))
    this.#possible.set(key, [found])
    if (isFound) return undefined
    return `${key}: ${answer.status}, ${answer.body.length} bytes instead of ${JSON.stringify(possible)}`
  }
}

function isThere({ status, body }: Answered & { readonly body: Buffer }, content: Content): boolean {
  if (content === undefined || status !== 200 || body.length !== sizeOf(content)) return false
  return body.equals(bytesOf(content))
}
