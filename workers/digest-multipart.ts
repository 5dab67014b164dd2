import { type PayloadId, payloadIdOf } from '../engine/brands.ts'
import { createHash, type Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EngineClient } from '../engine/client/engine-client.ts'
import type { PartList, PayloadReader } from '../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import { systemAudit } from './system-audit.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Bytes hashed in one step. */
const STEP_BYTES = 8 << 20
/** Uploads hashed ahead at the same time; any other is hashed after its completion. */
const AHEAD_MAXIMUM = 64
const UPLOADS_PER_STEP = 256
/** Hashes that are kept for appends. */
const FINISHED_MAXIMUM = 16

/** Hash of the first parts of an upload or of an object. */
interface Ahead {
  hash: Hash
  /** Payload ids of the hashed parts. */
  readonly payloads: (PayloadId | undefined)[]
}

/** The bytes of a part. */
interface Source {
  next(): Buffer | undefined | Promise<Buffer | undefined>
  close(): void
}

/** The part being hashed, and the payload that it belongs to. */
interface Reading {
  readonly whole: PayloadId
  readonly payload: PayloadId | undefined
  readonly source: Source
}

/**
 * Computes the SHA-256 of multipart objects, which no request sees whole. During an upload it hashes the parts that have
 * arrived, in the order of their numbers; after the completion it reads only the rest. Until the digest is in the journal
 * the digests of the parts, which are there from the start, verify the bytes.
 */
export class MultipartDigest implements BackgroundWorker {
  readonly name = 'digest-multipart'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #payloads: PayloadReader
  /** By the payload that an upload becomes. */
  readonly #ahead = new Map<PayloadId, Ahead>()
  #reading: Reading | undefined
  /** Payloads that cannot be read; the next start tries them again. */
  readonly #unreadable = new Set<PayloadId>()
  /** Hashes of objects whose digest is recorded, the newest last: an append goes on from there. */
  readonly #finished: Ahead[] = []
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
    const completed = this.#catalog
      .snapshot()
      .digestsPending(this.#unreadable.size + 1)
      .find((id) => !this.#unreadable.has(id))
    if (completed !== undefined) return this.#finish(completed)
    return this.#hashAhead()
  }

  async close(): Promise<void> {
    this.#reading?.source.close()
    this.#reading = undefined
  }

  /** Opens the next part of a completed object, or records its digest. */
  async #finish(whole: PayloadId): Promise<StepResult> {
    const location = this.#catalog.snapshot().payload(whole)
    if (location?.kind !== 'parts') return 'more'
    const ahead = this.#aheadOf(whole, location.parts)
    if (ahead.payloads.length < location.parts.count) {
      await this.#open(whole, location.parts.payload(ahead.payloads.length))
      return 'more'
    }
    const audit = systemAudit('digest', 'payload.digest', `payload:${whole}`)
    const digest = ahead.hash.copy().digest()
    await this.#engine.execute({ kind: 'record-digest', audit, payload: whole, digest })
    this.#ahead.delete(whole)
    this.#keep(ahead)
    this.#digested += 1
    return 'more'
  }

  /**
   * The hash so far; if the object was completed with other parts than were hashed, that of an object which has the same
   * first parts, since it was appended to; else a new one.
   */
  #aheadOf(whole: PayloadId, parts: PartList): Ahead {
    const ahead = this.#ahead.get(whole)
    if (ahead !== undefined && isBeginOf(ahead, parts)) return ahead
    const grown = this.#finished.findLast((one) => isBeginOf(one, parts))
    if (grown === undefined) return this.#beginAhead(whole)
    const copy = { hash: grown.hash.copy(), payloads: [...grown.payloads] }
    this.#ahead.set(whole, copy)
    return copy
  }

  #keep(ahead: Ahead): void {
    this.#finished.push(ahead)
    if (this.#finished.length > FINISHED_MAXIMUM) this.#finished.shift()
  }

  #beginAhead(whole: PayloadId): Ahead {
    const ahead = { hash: createHash('sha256'), payloads: [] }
    this.#ahead.set(whole, ahead)
    return ahead
  }

  /** Finds an upload whose next part has arrived. */
  async #hashAhead(): Promise<StepResult> {
    const snapshot = this.#catalog.snapshot()
    const uploads = snapshot.uploadsInProgress(undefined, UPLOADS_PER_STEP)
    const payloads = new Set(uploads.map(({ upload }) => payloadIdOf(upload)))
    for (const whole of this.#ahead.keys()) if (!payloads.has(whole)) this.#ahead.delete(whole)
    for (const { upload } of uploads) {
      const whole = payloadIdOf(upload)
      const ahead = this.#ahead.get(whole) ?? (this.#ahead.size < AHEAD_MAXIMUM ? this.#beginAhead(whole) : undefined)
      const part = ahead && snapshot.part(upload, ahead.payloads.length + 1)
      if (part === undefined || (part.payload !== undefined && this.#unreadable.has(part.payload))) continue
      await this.#open(whole, part.payload)
      return 'more'
    }
    return 'idle'
  }

  async #open(whole: PayloadId, payload: PayloadId | undefined): Promise<void> {
    try {
      this.#reading = { whole, payload, source: await this.#sourceOf(payload) }
    } catch (error) {
      this.#giveUp(whole, payload)
      throw error
    }
  }

  async #sourceOf(payload: PayloadId | undefined): Promise<Source> {
    const location = payload === undefined ? undefined : this.#catalog.snapshot().payload(payload)
    if (location?.kind === 'file') return this.#payloads.openLarge(location, 0, location.length)
    let bytes = location?.kind === 'volume' ? this.#payloads.readSmall(location) : undefined
    return {
      next: () => {
        const piece = bytes
        bytes = undefined
        return piece
      },
      close: () => undefined,
    }
  }

  async #readOn({ whole, payload, source }: Reading): Promise<StepResult> {
    const ahead = this.#ahead.get(whole) as Ahead
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
        // A piece from the page cache comes without waiting, and requests have their turn between two.
        await nextTurn()
      }
      return 'more'
    } catch (error) {
      await this.close()
      this.#giveUp(whole, payload)
      throw error
    }
  }

  /** A part was dropped meanwhile or is damaged; the hash holds half of it and is useless. */
  #giveUp(whole: PayloadId, payload: PayloadId | undefined): void {
    this.#ahead.delete(whole)
    if (payload === undefined || this.#catalog.snapshot().payload(payload) === undefined) return
    this.#unreadable.add(payload)
    this.#unreadable.add(whole)
  }
}

/** Whether what was hashed are the first parts of an object; from the last, where appended objects differ. */
function isBeginOf({ payloads }: Ahead, parts: PartList): boolean {
  if (payloads.length > parts.count) return false
  for (let index = payloads.length - 1; index >= 0; index -= 1) {
    if (parts.payload(index) !== payloads[index]) return false
  }
  return true
}
