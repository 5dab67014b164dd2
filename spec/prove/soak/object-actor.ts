/** Objects of a plain bucket: written, copied, read whole and in part, listed, deleted. */
import type { Random } from '../../support/random.ts'
import { elements } from '../../support/wire-client.ts'
import { type Actor, bytesOf, type Clients, ContentBook, mustBe, sizeOf, WrongAnswerError } from './actor.ts'

export const OBJECT_BUCKET = 'soak-objects'
const KEYS = 4
const SIZES_SMALL = [0, 1, 300, 4096, 4096, 20_000, 65_536] as const
/** More than is packed into volumes: these get files of their own. */
const SIZES_LARGE = [65_537, 200_000, 1_048_576] as const
const PAGE_KEYS = 100

type Step = (actor: ObjectActor, clients: Clients, key: string) => Promise<void>

export class ObjectActor implements Actor {
  readonly #random: Random
  readonly #prefix: string
  readonly #book: ContentBook
  #seed: number

  /** `number` tells actors apart, in their keys and in the bytes that they send. */
  constructor(number: number, random: Random) {
    this.#random = random
    this.#seed = number * 1_000_003
    this.#prefix = `actor-${String(number).padStart(4, '0')}/`
    this.#book = new ContentBook(Array.from({ length: KEYS }, (_, index) => `${this.#prefix}${index}`))
  }

  async check({ wire }: Clients): Promise<string[]> {
    const wrong: string[] = []
    for (const key of this.#book.keys) {
      const fault = this.#book.settle(key, await wire.send('GET', pathOf(key)))
      if (fault !== undefined) wrong.push(fault)
    }
    return wrong
  }

  async run(clients: Clients): Promise<void> {
    for (;;) {
      const key = this.#random.of(this.#book.keys)
      await this.#random.of(CHOICES)(this, clients, key)
    }
  }

  put({ wire }: Clients, key: string, sizes: readonly number[]): Promise<unknown> {
    this.#seed += 1
    const content = [[this.#random.of(sizes), this.#seed]] as const
    const body = bytesOf(content)
    // Both ways that SDKs sign a body.
    const sign = this.#random.below(2) === 0 ? {} : { payloadHash: 'UNSIGNED-PAYLOAD' }
    return this.#book.write(key, content, wire.send('PUT', pathOf(key), { body, sign }), 200)
  }

  async get({ wire }: Clients, key: string): Promise<void> {
    const fault = this.#book.settle(key, await wire.send('GET', pathOf(key)))
    if (fault !== undefined) throw new WrongAnswerError(fault)
  }

  async getRange({ wire }: Clients, key: string): Promise<void> {
    const bytes = bytesOf(this.#book.current(key))
    if (bytes.length === 0) return
    const first = this.#random.below(bytes.length)
    const last = Math.min(bytes.length - 1, first + this.#random.below(100_000))
    const answer = mustBe(
      key,
      await wire.send('GET', pathOf(key), { headers: [['range', `bytes=${first}-${last}`]] }),
      206,
    )
    if (!answer.body.equals(bytes.subarray(first, last + 1))) throw new WrongAnswerError(`${key}: ${first} to ${last}`)
  }

  async head({ wire }: Clients, key: string): Promise<void> {
    const content = this.#book.current(key)
    const answer = mustBe(key, await wire.send('HEAD', pathOf(key)), content === undefined ? 404 : 200)
    if (content === undefined) return
    const length = Number(answer.headers['content-length'])
    if (length !== sizeOf(content)) throw new WrongAnswerError(`${key}: HEAD says ${length} bytes`)
  }

  remove({ wire }: Clients, key: string): Promise<unknown> {
    return this.#book.write(key, undefined, wire.send('DELETE', pathOf(key)), 204)
  }

  async copy({ wire }: Clients, key: string): Promise<void> {
    const source = this.#random.of(this.#book.keys)
    const content = this.#book.current(source)
    if (source === key || content === undefined) return
    const headers = [['x-amz-copy-source', pathOf(source)]] as const
    await this.#book.write(key, content, wire.send('PUT', pathOf(key), { headers }), 200)
  }

  /** Of its own keys the listing is known to the byte. */
  async list({ wire }: Clients): Promise<void> {
    const { text } = mustBe('list', await wire.send('GET', `/${OBJECT_BUCKET}?list-type=2&prefix=${this.#prefix}`), 200)
    const listed = elements(text, 'Key').map((key, index) => `${key} ${elements(text, 'Size')[index]}`)
    const expected = this.#book.present.map((key) => `${key} ${sizeOf(this.#book.current(key))}`)
    if (listed.join() !== expected.join()) throw new WrongAnswerError(`${listed.join()} instead of ${expected.join()}`)
  }

  /** A page of what everybody has; it is in order and none of it stands there twice. */
  async listPage({ wire }: Clients): Promise<void> {
    const target = `/${OBJECT_BUCKET}?list-type=2&max-keys=${PAGE_KEYS}&start-after=${this.#prefix}`
    const keys = elements(mustBe('list', await wire.send('GET', target), 200).text, 'Key')
    const isOrdered = keys.every((key, index) => key > (keys[index - 1] ?? this.#prefix))
    if (!isOrdered || keys.length > PAGE_KEYS) throw new WrongAnswerError(`a page out of order: ${keys.join()}`)
  }

  /** There is none in this store: it is refused by its name, and nothing is deleted. */
  async removeBatch({ wire }: Clients, key: string): Promise<void> {
    const body = `<Delete><Object><Key>${key}</Key></Object></Delete>`
    mustBe('DeleteObjects', await wire.send('POST', `/${OBJECT_BUCKET}?delete`, { body }), 501)
  }
}

async function lookAround({ wire }: Clients): Promise<void> {
  mustBe('ListBuckets', await wire.send('GET', '/'), 200)
  mustBe('HeadBucket', await wire.send('HEAD', `/${OBJECT_BUCKET}`), 200)
}

/** Of a hundred requests. */
const MIX: readonly (readonly [times: number, step: Step])[] = [
  [26, async (actor, clients, key) => void (await actor.put(clients, key, SIZES_SMALL))],
  [3, async (actor, clients, key) => void (await actor.put(clients, key, SIZES_LARGE))],
  [26, (actor, clients, key) => actor.get(clients, key)],
  [10, (actor, clients, key) => actor.getRange(clients, key)],
  [10, (actor, clients, key) => actor.head(clients, key)],
  [9, async (actor, clients, key) => void (await actor.remove(clients, key))],
  [8, (actor, clients, key) => actor.copy(clients, key)],
  [4, (actor, clients) => actor.list(clients)],
  [2, (actor, clients) => actor.listPage(clients)],
  [1, (actor, clients, key) => actor.removeBatch(clients, key)],
  [1, (_actor, clients) => lookAround(clients)],
]
const CHOICES: readonly Step[] = MIX.flatMap(([times, step]) => Array.from({ length: times }, () => step))

function pathOf(key: string): string {
  return `/${OBJECT_BUCKET}/${key}`
}
