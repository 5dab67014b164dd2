/** Objects of a plain bucket by the S3 plane. */
import type { Random } from '../../support/random.ts'
import { elements } from '../../support/wire-client.ts'
import { bytesOf } from '../key-book.ts'
import { type Clients, mustBe, WrongAnswerError } from './actor.ts'
import { KeyActor, mixOf, type Sent } from './key-actor.ts'

export const OBJECT_BUCKET = 'soak-objects'
const SIZES_SMALL = [0, 1, 300, 4096, 4096, 20_000, 65_536] as const
/** More than is packed into volumes: these get files of their own. */
const SIZES_LARGE = [65_537, 200_000, 1_048_576] as const
const PAGE_KEYS = 100

export class ObjectActor extends KeyActor {
  constructor(number: number, random: Random) {
    super('actor', number, random)
  }

  override get({ wire }: Clients, key: string): Sent {
    return wire.send('GET', pathOf(key))
  }

  override step(clients: Clients, key: string): Promise<unknown> {
    return this.random.of(MIX)(this, clients, key)
  }

  write({ wire }: Clients, key: string, sizes: readonly number[]): Promise<unknown> {
    // Both ways that SDKs sign a body.
    const sign = this.random.below(2) === 0 ? {} : { payloadHash: 'UNSIGNED-PAYLOAD' }
    return this.put(key, sizes, 200, (body) => wire.send('PUT', pathOf(key), { body, sign }))
  }

  async getRange({ wire }: Clients, key: string): Promise<void> {
    const bytes = bytesOf(this.book.current(key))
    if (bytes.length === 0) return
    const first = this.random.below(bytes.length)
    const last = Math.min(bytes.length - 1, first + this.random.below(100_000))
    const headers = [['range', `bytes=${first}-${last}`]] as const
    const answer = mustBe(key, await wire.send('GET', pathOf(key), { headers }), 206)
    if (!answer.body.equals(bytes.subarray(first, last + 1))) throw new WrongAnswerError(`${key}: ${first} to ${last}`)
  }

  async head({ wire }: Clients, key: string): Promise<void> {
    this.sized(key, await wire.send('HEAD', pathOf(key)), ({ headers }) => Number(headers['content-length']))
  }

  remove({ wire }: Clients, key: string): Promise<unknown> {
    return this.book.write(key, undefined, wire.send('DELETE', pathOf(key)), 204)
  }

  copyObject({ wire }: Clients, key: string): Promise<unknown> {
    return this.copy(key, 200, (source) =>
      wire.send('PUT', pathOf(key), { headers: [['x-amz-copy-source', pathOf(source)]] }),
    )
  }

  async list({ wire }: Clients): Promise<void> {
    const { text } = mustBe('list', await wire.send('GET', `/${OBJECT_BUCKET}?list-type=2&prefix=${this.prefix}`), 200)
    this.listed(elements(text, 'Key').map((key, index) => `${key} ${elements(text, 'Size')[index]}`))
  }

  /** A page of what everybody has is in order and has nothing twice. */
  async listPage({ wire }: Clients): Promise<void> {
    const target = `/${OBJECT_BUCKET}?list-type=2&max-keys=${PAGE_KEYS}&start-after=${this.prefix}`
    const keys = elements(mustBe('list', await wire.send('GET', target), 200).text, 'Key')
    const isOrdered = keys.every((key, index) => key > (keys[index - 1] ?? this.prefix))
    if (!isOrdered || keys.length > PAGE_KEYS) throw new WrongAnswerError(`a page out of order: ${keys.join()}`)
  }
}

/** This store has no DeleteObjects: it is refused by its name, and nothing is deleted. */
async function removeBatch({ wire }: Clients, key: string): Promise<void> {
  const body = `<Delete><Object><Key>${key}</Key></Object></Delete>`
  mustBe('DeleteObjects', await wire.send('POST', `/${OBJECT_BUCKET}?delete`, { body }), 501)
}

async function lookAround({ wire }: Clients): Promise<void> {
  mustBe('ListBuckets', await wire.send('GET', '/'), 200)
  mustBe('HeadBucket', await wire.send('HEAD', `/${OBJECT_BUCKET}`), 200)
}

/** Of a hundred requests. */
const MIX = mixOf<ObjectActor>([
  [26, (actor, clients, key) => actor.write(clients, key, SIZES_SMALL)],
  [3, (actor, clients, key) => actor.write(clients, key, SIZES_LARGE)],
  [26, (actor, clients, key) => actor.read(clients, key)],
  [10, (actor, clients, key) => actor.getRange(clients, key)],
  [10, (actor, clients, key) => actor.head(clients, key)],
  [9, (actor, clients, key) => actor.remove(clients, key)],
  [8, (actor, clients, key) => actor.copyObject(clients, key)],
  [4, (actor, clients) => actor.list(clients)],
  [2, (actor, clients) => actor.listPage(clients)],
  [1, (_actor, clients, key) => removeBatch(clients, key)],
  [1, (_actor, clients) => lookAround(clients)],
])

function pathOf(key: string): string {
  return `/${OBJECT_BUCKET}/${key}`
}
