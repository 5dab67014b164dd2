/** Uploads that nobody can end any more: their bucket is deleted, or their sender leaves in the middle of a body. */
import { openRaw } from '../../support/raw/raw-client.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { Random } from '../../support/random.ts'
import { firstElement } from '../../support/wire-client.ts'
import { partTarget } from '../../support/multipart.ts'
import { type Actor, type Clients, mustBe } from './actor.ts'
import { OBJECT_BUCKET } from './object-actor.ts'
import { EVENTS } from './soak-kinds.ts'
import type { Tally } from './tally.ts'

const PART_BYTES = 300_000
const BODY_BYTES = 400_000
const REST_MILLISECONDS = 100

export class VanishingActor implements Actor {
  readonly #random: Random
  readonly #bucket: string
  readonly #tally: Tally
  #seed = 0

  constructor(number: number, random: Random, tally: Tally) {
    this.#random = random
    this.#bucket = `soak-vanishing-${number}`
    this.#tally = tally
  }

  async check({ wire }: Clients): Promise<string[]> {
    mustBe(this.#bucket, await wire.send('DELETE', `/${this.#bucket}`), 204, 404)
    const answer = mustBe('a body broken off', await wire.send('GET', this.#path), 404)
    return answer.status === 404 ? [] : [`${this.#path}: a body that was broken off became an object`]
  }

  async run(clients: Clients): Promise<void> {
    for (;;) {
      if (this.#random.below(3) === 0) await this.#uploadIntoNothing(clients)
      else await this.#breakOff(clients)
      await sleep(this.#random.below(2 * REST_MILLISECONDS))
    }
  }

  get #path(): string {
    return `/${OBJECT_BUCKET}/never-${this.#bucket}`
  }

  async #uploadIntoNothing({ wire }: Clients): Promise<void> {
    const path = `/${this.#bucket}/object`
    mustBe(this.#bucket, await wire.send('PUT', `/${this.#bucket}`), 200)
    const { text } = mustBe(path, await wire.send('POST', `${path}?uploads`), 200)
    const target = partTarget(path, firstElement(text, 'UploadId') ?? '', 1)
    this.#seed += 1
    mustBe(path, await wire.send('PUT', target, { body: sampleBytes(PART_BYTES, this.#seed) }), 200)
    mustBe(this.#bucket, await wire.send('DELETE', `/${this.#bucket}`), 204)
    this.#tally.happened(EVENTS.vanishedBucket)
  }

  /** The head promises more than is sent. */
  async #breakOff({ life, wire }: Clients): Promise<void> {
    if (life.isPaused || life.isEnding) return
    const body = sampleBytes(BODY_BYTES)
    const unsignedHeaders = [['content-length', String(BODY_BYTES)]] as const
    const client = openRaw(life.server.port).send(wire.headText('PUT', this.#path, { body, unsignedHeaders }))
    client.socket.write(body.subarray(0, this.#random.below(BODY_BYTES)))
    await sleep(this.#random.below(REST_MILLISECONDS))
    client.socket.destroy()
    await client.closed
    this.#tally.happened(EVENTS.abandonedBody)
  }
}
