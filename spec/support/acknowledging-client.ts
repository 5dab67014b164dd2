/**
 * A client of a server that may die at any moment. It knows what was acknowledged to it, and what may or may not have
 * happened because the answer never came.
 */
import { type ClientCounts, type Finding, lost, wrong } from './client-findings.ts'
import type { Random } from './random.ts'
import { sampleBytes } from './sample-bytes.ts'
import { elements, type WireAnswer, type WireClient } from './wire-client.ts'

export const CRASH_BUCKET = 'crash'

/** What stands under a key, as a recipe for its bytes; undefined where there is no object. */
type Version = { readonly seed: number; readonly size: number } | undefined

const KEYS = 6
/** Long keys make long records, so that segments of the journal fill up. */
const LONG = 'k'.repeat(700)
const SIZES_SMALL = [0, 1, 300, 2000, 4096, 20_000] as const
/** More than travels with a command: these get files of their own. */
const SIZES_LARGE = [65_537, 200_000, 400_000] as const

/** One connection's worth of requests, one after the other, on keys that no other client touches. */
export class AcknowledgingClient {
  readonly counts: ClientCounts = { acknowledged: 0, unanswered: 0 }
  readonly #random: Random
  readonly #keys: readonly string[]
  /** What may stand under each key: one thing, or two after a request without an answer. */
  readonly #possible = new Map<string, readonly Version[]>()
  #seed: number

  /** `number` tells clients apart, in their keys and in the bytes that they send. */
  constructor(number: number, random: Random) {
    this.#random = random
    this.#seed = number * 1_000_000_007
    this.#keys = Array.from({ length: KEYS }, (_, index) => `client-${number}/${index}/${LONG}`)
    for (const key of this.#keys) this.#possible.set(key, [undefined])
  }

  /** Sends requests until one has no answer. */
  async run(wire: WireClient): Promise<void> {
    while (await this.#step(wire));
  }

  /** Reads every key and returns what is not as it must be. What is found is what stands there from now on. */
  async check(wire: WireClient): Promise<Finding[]> {
    const findings: Finding[] = []
    for (const key of this.#keys) {
      const answer = await wire.send('GET', pathOf(key))
      const possible = this.#possible.get(key) ?? []
      const found = possible.find((version) => isThere(answer, version))
      const isFound = found !== undefined || (answer.status === 404 && possible.includes(undefined))
      if (!isFound) {
        const text = `${key}: ${answer.status}, ${answer.body.length} bytes; ${JSON.stringify(possible)}`
        findings.push(answer.status === 404 ? lost(text) : wrong(text))
      }
      this.#possible.set(key, [found])
    }
    return findings
  }

  /** Keys with an object, as far as that is known. */
  get present(): string[] {
    return this.#keys.filter((key) => this.#current(key) !== undefined)
  }

  #current(key: string): Version {
    return this.#possible.get(key)?.[0]
  }

  /** One request; false when it had no answer. */
  async #step(wire: WireClient): Promise<boolean> {
    const key = this.#random.of(this.#keys)
    const source = this.#random.of(this.#keys)
    const choice = this.#random.below(100)
    if (choice < 15) return this.#send(key, undefined, wire.send('DELETE', pathOf(key)))
    if (choice < 35 && source !== key && this.#current(source) !== undefined) {
      const headers = [['x-amz-copy-source', pathOf(source)]] as const
      return this.#send(key, this.#current(source), wire.send('PUT', pathOf(key), { headers }))
    }
    this.#seed += 1
    const size = this.#random.of(choice < 85 ? SIZES_SMALL : SIZES_LARGE)
    const version = { seed: this.#seed, size }
    return this.#send(key, version, wire.send('PUT', pathOf(key), { body: sampleBytes(size, this.#seed) }))
  }

  async #send(key: string, version: Version, sending: Promise<WireAnswer>): Promise<boolean> {
    const answer = await sending.catch(() => undefined)
    if (answer === undefined) {
      this.counts.unanswered += 1
      this.#possible.set(key, [this.#current(key), version])
      return false
    }
    if (answer.status < 200 || answer.status > 299) throw new Error(`${key}: ${answer.status} ${answer.text}`)
    this.counts.acknowledged += 1
    this.#possible.set(key, [version])
    return true
  }
}

function pathOf(key: string): string {
  return `/${CRASH_BUCKET}/${key}`
}

function isThere(answer: WireAnswer, version: Version): boolean {
  if (version === undefined || answer.status !== 200 || !answer.complete) return false
  return answer.body.equals(sampleBytes(version.size, version.seed))
}

/** Every key of the bucket, as the server lists them. */
export async function listedKeys(wire: WireClient): Promise<string[]> {
  const answer = await wire.send('GET', `/${CRASH_BUCKET}?list-type=2`)
  return elements(answer.text, 'Key')
}
