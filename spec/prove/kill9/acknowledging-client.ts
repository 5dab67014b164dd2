/**
 * A client of a server that may die at any moment. It knows what was acknowledged to it, and what may or may not have
 * happened because the answer never came.
 */
import type { ClientCounts, Finding } from '../../support/dying-servers/client-findings.ts'
import type { Random } from '../../support/random.ts'
import { elements, type WireAnswer, type WireClient } from '../../support/wire-client.ts'
import { bytesOf, type Content, KeyBook, sizeOf } from '../key-book.ts'

export const CRASH_BUCKET = 'crash'

const KEYS = 6
/** Long keys make long records, so that segments of the journal fill up. */
const LONG = 'k'.repeat(700)
const SIZES_SMALL = [0, 1, 300, 2000, 4096, 20_000] as const
/** More than travels with a command: these get files of their own. */
const SIZES_LARGE = [65_537, 200_000, 400_000] as const

/** Appends to one object, after which it is written anew. */
const PIECES_MAXIMUM = 8

/** One connection's worth of requests, one after the other, on keys that no other client touches. */
export class AcknowledgingClient {
  readonly counts: ClientCounts = { acknowledged: 0, unanswered: 0 }
  /** Told of the request id of each acknowledged change that makes an event. */
  readonly #promised: (requestId: string) => void
  readonly #random: Random
  readonly #book: KeyBook
  #seed: number

  /** `number` tells clients apart, in their keys and in the bytes that they send. */
  constructor(number: number, random: Random, promised: (requestId: string) => void = () => undefined) {
    this.#promised = promised
    this.#random = random
    this.#seed = number * 1_000_000_007
    this.#book = new KeyBook(Array.from({ length: KEYS }, (_, index) => `client-${number}/${index}/${LONG}`))
  }

  /** Sends requests until one has no answer. */
  async run(wire: WireClient): Promise<void> {
    while (await this.#step(wire));
  }

  /** Reads every key and returns what is not as it must be. */
  async check(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const key of this.#book.keys) {
      const finding = this.#book.settle(key, await wire.send('GET', pathOf(key)))
      if (finding !== undefined) findings.push(finding)
    }
    return findings
  }

  /** Keys with an object, as far as that is known. */
  get present(): string[] {
    return this.#book.present
  }

  /** One request; false when it had no answer. */
  async #step(wire: WireClient): Promise<boolean> {
    const key = this.#random.of(this.#book.keys)
    const source = this.#random.of(this.#book.keys)
    const choice = this.#random.below(100)
    if (choice < 15) return this.#send(key, undefined, wire.send('DELETE', pathOf(key)))
    const copied = this.#book.current(source)
    if (choice < 35 && source !== key && copied !== undefined) {
      const headers = [['x-amz-copy-source', pathOf(source)]] as const
      return this.#send(key, copied, wire.send('PUT', pathOf(key), { headers }))
    }
    this.#seed += 1
    const own = this.#book.current(key)
    if (choice < 50 && own !== undefined && own.length < PIECES_MAXIMUM) {
      const piece = [this.#random.of(choice < 48 ? SIZES_SMALL : SIZES_LARGE), this.#seed] as const
      const headers = [['x-amz-write-offset-bytes', String(sizeOf(own))]] as const
      return this.#send(key, [...own, piece], wire.send('PUT', pathOf(key), { headers, body: bytesOf([piece]) }))
    }
    const content = [[this.#random.of(choice < 85 ? SIZES_SMALL : SIZES_LARGE), this.#seed]] as const
    return this.#send(key, content, wire.send('PUT', pathOf(key), { body: bytesOf(content) }))
  }

  async #send(key: string, content: Content, sending: Promise<WireAnswer>): Promise<boolean> {
    const changes = content !== undefined || this.#book.current(key) !== undefined
    const settle = this.#book.sending(key, content)
    const answer = await sending.catch(() => undefined)
    if (answer === undefined) {
      this.counts.unanswered += 1
      return false
    }
    if (answer.status < 200 || answer.status > 299) throw new Error(`${key}: ${answer.status} ${answer.text}`)
    this.counts.acknowledged += 1
    if (changes) this.#promised(String(answer.headers['x-amz-request-id']))
    settle(true)
    return true
  }
}

function pathOf(key: string): string {
  return `/${CRASH_BUCKET}/${key}`
}

/** Every key of the bucket, as the server lists them. */
export async function listedKeys(wire: WireClient): Promise<string[]> {
  const answer = await wire.send('GET', `/${CRASH_BUCKET}?list-type=2`)
  return elements(answer.text, 'Key')
}
