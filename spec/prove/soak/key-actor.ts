/** Objects of one bucket, by either plane: written, copied, read, listed, deleted. */
import type { Random } from '../../support/random.ts'
import { bytesOf, sizeOf } from '../key-book.ts'
import { type Actor, type Clients, mustBe, SoakBook, WrongAnswerError } from './actor.ts'
import type { Answered } from './life.ts'

const KEYS = 4

export type Sent = Promise<Answered & { readonly body: Buffer }>
/** What one request, or a few, try; with a key of the actor. */
export type Step<A> = (actor: A, clients: Clients, key: string) => Promise<unknown>

/** Each step as often as its number says. */
export function mixOf<A>(rows: readonly (readonly [times: number, step: Step<A>])[]): Step<A>[] {
  return rows.flatMap(([times, step]) => Array.from({ length: times }, () => step))
}

export abstract class KeyActor implements Actor {
  protected readonly random: Random
  protected readonly prefix: string
  protected readonly book: SoakBook
  #seed: number

  /** @param number tells actors apart, in their keys and in the bytes that they send */
  constructor(kind: string, number: number, random: Random) {
    this.random = random
    this.#seed = number * 1_000_003
    this.prefix = `${kind}-${String(number).padStart(4, '0')}/`
    this.book = new SoakBook(Array.from({ length: KEYS }, (_, index) => `${this.prefix}${index}`))
  }

  protected abstract get(clients: Clients, key: string): Sent
  protected abstract step(clients: Clients, key: string): Promise<unknown>

  async check(clients: Clients): Promise<string[]> {
    const wrong: string[] = []
    for (const key of this.book.keys) {
      const finding = this.book.settle(key, await this.get(clients, key))
      if (finding !== undefined) wrong.push(finding.text)
    }
    return wrong
  }

  async run(clients: Clients): Promise<void> {
    for (;;) await this.step(clients, this.random.of(this.book.keys))
  }

  async read(clients: Clients, key: string): Promise<void> {
    const finding = this.book.settle(key, await this.get(clients, key))
    if (finding !== undefined) throw new WrongAnswerError(finding.text)
  }

  /** Writes new bytes of one of these sizes. */
  protected put(
    key: string,
    sizes: readonly number[],
    status: number,
    send: (body: Buffer) => Promise<Answered>,
  ): Promise<unknown> {
    this.#seed += 1
    const content = [[this.random.of(sizes), this.#seed]] as const
    return this.book.write(key, content, send(bytesOf(content)), status)
  }

  /** Copies from another of its keys, where there is something to copy. */
  protected async copy(key: string, status: number, send: (source: string) => Promise<Answered>): Promise<void> {
    const source = this.random.of(this.book.keys)
    const content = this.book.current(source)
    if (source !== key && content !== undefined) await this.book.write(key, content, send(source), status)
  }

  /** Compares the size that an answer without bytes names. */
  protected sized<A extends Answered>(key: string, answer: A, size: (answer: A) => number): void {
    const content = this.book.current(key)
    mustBe(key, answer, content === undefined ? 404 : 200)
    if (content !== undefined && size(answer) !== sizeOf(content)) throw new WrongAnswerError(`${key}: another size`)
  }

  /** Of its own keys the listing is known to the byte. @param listed `key size` */
  protected listed(listed: readonly string[]): void {
    const expected = this.book.present.map((key) => `${key} ${sizeOf(this.book.current(key))}`)
    if (listed.join() !== expected.join()) throw new WrongAnswerError(`${listed.join()} instead of ${expected.join()}`)
  }
}
