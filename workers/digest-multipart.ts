import { createHash, type Hash } from 'node:crypto'
import type { EngineClient } from '../engine/client.ts'
import type { PartList, PayloadReader } from '../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../projections/catalog-reader.ts'
import { systemAudit } from './system-audit.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Bytes hashed in one step. */
const STEP_BYTES = 8 << 20
/** Uploads that are hashed ahead at the same time; a further one is hashed when it is complete. */
const AHEAD_MAXIMUM = 64
const UPLOADS_LOOKED_AT = 256

/** Hash of the first parts of an object to be. */
interface Ahead {
  hash: Hash
  /** Payload ids of the parts that are in it. */
  readonly payloads: number[]
}

/** Bytes of a part on their way into a hash. */
interface Source {
  next(): Promise<Buffer | undefined>
  close(): void
}

/** A part that is being hashed. */
interface Reading {
  readonly upload: number
  readonly payload: number
  readonly source: Source
}

/**
 * Computes the SHA-256 of multipart objects, which no single request ever saw whole. While an upload goes on the parts
 * that have come are hashed ahead, in the order of their numbers; when it is completed only what is left is read. Until
 * the digest is in the journal the parts' own digests, which are there from the start, prove the bytes.
 */
export class MultipartDigest implements BackgroundWorker {
  readonly name = 'digest-multipart'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #payloads: PayloadReader
  readonly #ahead = new Map<number, Ahead>()
  #reading: Reading | undefined
  /** Payloads that could not be read; they are tried again after the next start. */
  readonly #unreadable = new Set<number>()
  #digested = 0

  constructor(engine: EngineClient, catalog: CatalogReader, payloads: PayloadReader) {
    this.#engine = engine
    this.#catalog = catalog
    this.#payloads = payloads
  }

  get status(): string {
    return `${this.#digested} objects digested, ${this.#ahead.size} uploads hashed ahead, ${this.#unreadable.size} unreadable`
  }

  async step(): Promise<StepResult> {
    if (this.#reading !== undefined) return this.#readOn(this.#reading)
    const completed = this.#catalog.digestsPending(this.#unreadable.size + 1).find((id) => !this.#unreadable.has(id))
    if (completed !== undefined) return this.#finish(completed)
    return this.#hashAhead()
  }

  async close(): Promise<void> {
    this.#reading?.source.close()
    this.#reading = undefined
  }

  /** Goes on with a completed object: opens its next part, or records the digest. */
  async #finish(upload: number): Promise<StepResult> {
    const location = this.#catalog.payload(upload)
    if (location?.kind !== 'parts') return 'more'
    const ahead = this.#aheadOf(upload, location.parts)
    if (ahead.payloads.length < location.parts.count) {
      await this.#open(upload, location.parts.payload(ahead.payloads.length))
      return 'more'
    }
    const audit = systemAudit('digest', 'payload.digest', `payload:${upload}`)
    await this.#engine.execute({ kind: 'record-digest', audit, payload: upload, digest: ahead.hash.digest() })
    this.#ahead.delete(upload)
    this.#digested += 1
    return 'more'
  }

  /** What is hashed already; begun anew when other parts make up the object than were hashed. */
  #aheadOf(upload: number, parts: PartList): Ahead {
    const ahead = this.#ahead.get(upload)
    const fits = ahead?.payloads.every((payload, index) => index < parts.count && parts.payload(index) === payload)
    return ahead !== undefined && fits === true ? ahead : this.#beginAhead(upload)
  }

  #beginAhead(upload: number): Ahead {
    const ahead = { hash: createHash('sha256'), payloads: [] }
    this.#ahead.set(upload, ahead)
    return ahead
  }

  /** Finds an upload whose next part has come. */
  async #hashAhead(): Promise<StepResult> {
    const uploads = this.#catalog.uploadsInProgress(undefined, UPLOADS_LOOKED_AT)
    const numbers = new Set(uploads.map(({ upload }) => upload))
    for (const upload of this.#ahead.keys()) if (!numbers.has(upload)) this.#ahead.delete(upload)
    for (const { upload } of uploads) {
      const ahead = this.#ahead.get(upload) ?? (this.#ahead.size < AHEAD_MAXIMUM ? this.#beginAhead(upload) : undefined)
      const part = ahead && this.#catalog.part(upload, ahead.payloads.length + 1)
      if (part === undefined || this.#unreadable.has(part.payload)) continue
      await this.#open(upload, part.payload)
      return 'more'
    }
    return 'idle'
  }

  async #open(upload: number, payload: number): Promise<void> {
    try {
      this.#reading = { upload, payload, source: await this.#sourceOf(payload) }
    } catch (error) {
      this.#giveUp(upload, payload)
      throw error
    }
  }

  async #sourceOf(payload: number): Promise<Source> {
    const location = payload === 0 ? undefined : this.#catalog.payload(payload)
    if (location?.kind === 'file') return this.#payloads.openLarge(location, 0, location.length)
    let bytes = location?.kind === 'volume' ? this.#payloads.readSmall(location) : undefined
    return {
      next: async () => {
        const piece = bytes
        bytes = undefined
        return piece
      },
      close: () => undefined,
    }
  }

  async #readOn({ upload, payload, source }: Reading): Promise<StepResult> {
    const ahead = this.#ahead.get(upload) as Ahead
    try {
      for (let bytes = 0; bytes < STEP_BYTES; ) {
        const piece = await source.next()
        if (piece === undefined) {
          ahead.payloads.push(payload)
          await this.close()
          return 'more'
        }
        ahead.hash.update(piece)
        bytes += piece.length
      }
      return 'more'
    } catch (error) {
      await this.close()
      this.#giveUp(upload, payload)
      throw error
    }
  }

  /** A part was dropped meanwhile, or is damaged: half of it is in the hash, which is of no use any more. */
  #giveUp(upload: number, payload: number): void {
    this.#ahead.delete(upload)
    if (this.#catalog.payload(payload) === undefined) return
    this.#unreadable.add(payload)
    this.#unreadable.add(upload)
  }
}
