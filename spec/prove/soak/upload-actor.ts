/** Multipart uploads: finished, aborted, taken up again after a restart, and left to themselves. */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { completionOf, PART_BYTES, partTarget, type SentPart, uploadTarget } from '../../support/multipart.ts'
import type { Random } from '../../support/random.ts'
import { blocks, elements, firstElement } from '../../support/wire-client.ts'
import { bytesOf } from '../key-book.ts'
import { type Actor, type Clients, mustBe, SoakBook, WrongAnswerError } from './actor.ts'

export const UPLOAD_BUCKET = 'soak-uploads'
const UPLOADS_MAXIMUM = 3
/** Only the last part may be so small. */
const LAST_SIZES = [1, 70_000, 300_000] as const
/** Large bodies are few, or they would be all that is measured. */
const REST_MILLISECONDS = 150

/** What was sent as a part. */
interface Piece {
  readonly recipe: readonly [size: number, seed: number]
  readonly etag: string
}

interface OpenUpload {
  readonly id: string
  /** What each part may hold: one thing, or several while that is in doubt; undefined where it may not be there. */
  readonly parts: Map<number, readonly (Piece | undefined)[]>
}

const NUMBERS = [1, 2] as const

export class UploadActor implements Actor {
  readonly #random: Random
  readonly #key: string
  readonly #path: string
  readonly #book: SoakBook
  readonly #abandoned: () => void
  #uploads: OpenUpload[] = []
  /** The upload that a request without an answer may have ended. */
  #ending: string | undefined
  #seed: number

  /** @param abandoned is told of each upload that is left to itself */
  constructor(number: number, random: Random, abandoned: () => void) {
    this.#random = random
    this.#seed = number * 1_000_003
    this.#key = `upload-${String(number).padStart(4, '0')}/object`
    this.#path = `/${UPLOAD_BUCKET}/${this.#key}`
    this.#book = new SoakBook([this.#key])
    this.#abandoned = abandoned
  }

  async check(clients: Clients): Promise<string[]> {
    const wrong: string[] = []
    const target = `/${UPLOAD_BUCKET}?uploads&prefix=${this.#key}`
    const { text } = mustBe('uploads', await clients.wire.send('GET', target), 200)
    const listed = new Set(elements(text, 'UploadId'))
    for (const { id } of this.#uploads.filter((upload) => !listed.has(upload.id))) {
      if (id !== this.#ending) wrong.push(`${this.#key}: the upload ${id} is gone`)
      this.#forget(id)
    }
    this.#ending = undefined
    for (const upload of this.#uploads) wrong.push(...(await this.#settleParts(clients, upload)))
    for (const id of listed) {
      if (this.#uploads.every((upload) => upload.id !== id)) await this.#abort(clients, id)
    }
    const finding = this.#book.settle(this.#key, await clients.wire.send('GET', this.#path))
    return finding === undefined ? wrong : [...wrong, finding.text]
  }

  async run(clients: Clients): Promise<void> {
    for (;;) {
      await this.#step(clients)
      await sleep(this.#random.below(2 * REST_MILLISECONDS))
    }
  }

  async #step(clients: Clients): Promise<void> {
    const choice = this.#random.below(100)
    const upload = this.#uploads.length === 0 ? undefined : this.#random.of(this.#uploads)
    if (upload === undefined || (choice < 15 && this.#uploads.length < UPLOADS_MAXIMUM)) await this.#begin(clients)
    else if (choice < 60) await this.#sendPart(clients, upload)
    else if (choice < 70) await this.#listParts(clients, upload)
    else if (choice < 90) await this.#complete(clients, upload)
    else if (choice < 97) await this.#abort(clients, upload.id)
    else this.#abandon(upload)
  }

  async #begin({ wire }: Clients): Promise<void> {
    const { text } = mustBe(this.#key, await wire.send('POST', `${this.#path}?uploads`), 200)
    const id = firstElement(text, 'UploadId')
    if (id === undefined) throw new WrongAnswerError(`no upload id: ${text}`)
    this.#uploads.push({ id, parts: new Map() })
  }

  /** Number 1 is as large as any but the last must be; number 2 is the last; a part that is there is sent over. */
  async #sendPart({ wire }: Clients, { id, parts }: OpenUpload): Promise<void> {
    const number = 1 + this.#random.below(2)
    this.#seed += 1
    const recipe = [number === 1 ? PART_BYTES : this.#random.of(LAST_SIZES), this.#seed] as const
    const body = bytesOf([recipe])
    const piece: Piece = { recipe, etag: `"${hash('md5', body, 'hex')}"` }
    parts.set(number, [...(parts.get(number) ?? [undefined]), piece])
    const answer = await wire.send('PUT', partTarget(this.#path, id, number), { body })
    mustBe(`part ${number} of ${this.#key}`, answer, 200)
    parts.set(number, [piece])
    if (answer.headers.etag !== piece.etag) throw new WrongAnswerError(`${this.#key}: ${String(answer.headers.etag)}`)
  }

  async #listParts(clients: Clients, upload: OpenUpload): Promise<void> {
    const [fault] = await this.#settleParts(clients, upload)
    if (fault !== undefined) throw new WrongAnswerError(fault)
  }

  async #settleParts({ wire }: Clients, { id, parts }: OpenUpload): Promise<string[]> {
    const { text } = mustBe('parts', await wire.send('GET', uploadTarget(this.#path, id)), 200)
    const listed = new Map(
      blocks(text, 'Part').map((part) => [Number(firstElement(part, 'PartNumber')), firstElement(part, 'ETag')]),
    )
    const wrong: string[] = []
    for (const number of NUMBERS) {
      const etag = listed.get(number)
      const possible = parts.get(number) ?? [undefined]
      const isThere = possible.some((piece) => piece?.etag === etag)
      if (!isThere) wrong.push(`part ${number} of ${this.#key}: ${etag} instead of ${JSON.stringify(possible)}`)
      parts.set(number, [possible.find((piece) => piece?.etag === etag)])
    }
    return wrong
  }

  async #complete({ wire }: Clients, upload: OpenUpload): Promise<void> {
    const sent: SentPart[] = []
    const content: Piece['recipe'][] = []
    for (const number of NUMBERS) {
      const piece = upload.parts.get(number)?.[0]
      if (piece === undefined) continue
      content.push(piece.recipe)
      sent.push({ number, etag: piece.etag })
    }
    if (sent.length === 0) return
    const body = completionOf(sent)
    this.#ending = upload.id
    await this.#book.write(this.#key, content, wire.send('POST', uploadTarget(this.#path, upload.id), { body }), 200)
    this.#forget(upload.id)
  }

  async #abort({ wire }: Clients, id: string): Promise<void> {
    this.#ending = id
    mustBe(`abort of ${this.#key}`, await wire.send('DELETE', uploadTarget(this.#path, id)), 204)
    this.#forget(id)
  }

  /** Found again by the check after the next restart, and aborted there. */
  #abandon({ id }: OpenUpload): void {
    this.#forget(id)
    this.#abandoned()
  }

  #forget(id: string): void {
    this.#uploads = this.#uploads.filter((upload) => upload.id !== id)
    if (this.#ending === id) this.#ending = undefined
  }
}
