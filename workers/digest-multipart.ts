import type { BucketId, PayloadId } from '../engine/brands.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EngineClient } from '../engine/client/engine-client.ts'
import { DescriptorsExhaustedError } from '../engine/disk/disk.ts'
import { PayloadDamagedError } from '../engine/payloads/payload-errors.ts'
import type { PayloadReader } from '../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../projections/catalog/catalog-reader.ts'
import { inBrackets, namesOfPayloads } from '../projections/catalog/payload-names.ts'
import { type QueuedDigest, SMALL_DIGEST_BYTES } from '../projections/tables/digests.ts'
import { DigestTurns } from './digests/digest-turns.ts'
import { FinishedDigests } from './digests/finished-digests.ts'
import { PartHash } from './digests/part-hash.ts'
import { UploadsAhead } from './digests/uploads-ahead.ts'
import { systemAudit } from './system-audit.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

/** Bytes hashed in one step; a small object is done in one. */
const STEP_BYTES = SMALL_DIGEST_BYTES
/** Minimum cost of a part, however few bytes it has. */
const PART_BYTES_MINIMUM = 16 * 1024
/** Larger objects that are begun at the same time. Each has a hash of a few hundred bytes. */
const BEGUN_MAXIMUM = 4096
/** How often the hashes of objects that were removed are looked for. */
const STEPS_PER_SWEEP = 1024

/**
 * Computes the SHA-256 of multipart objects, which no request sees whole. During an upload it hashes the parts that
 * have arrived, in the order of their numbers; after the completion it reads only the rest. Until the digest is in the
 * journal the digests of the parts, which are there from the start, verify the bytes.
 *
 * Each step hashes a few MiB of one object, the next step of another: `DigestTurns` chooses.
 */
export class MultipartDigest implements BackgroundWorker {
  readonly name = 'digest-multipart'
  readonly #engine: EngineClient
  readonly #catalog: CatalogReader
  readonly #payloads: PayloadReader
  readonly #turns = new DigestTurns()
  readonly #uploads: UploadsAhead
  /** Completed objects that are hashed up to some place. */
  readonly #begun = new Map<PayloadId, PartHash>()
  /** Payloads that cannot be read; the next start tries them again. */
  readonly #unreadable = new Set<PayloadId>()
  readonly #finished = new FinishedDigests()
  #digested = 0
  #steps = 0

  constructor(engine: EngineClient, catalog: CatalogReader, payloads: PayloadReader) {
    this.#engine = engine
    this.#catalog = catalog
    this.#payloads = payloads
    this.#uploads = new UploadsAhead(catalog)
  }

  get status(): string {
    const ahead = `${this.#uploads.count} uploads hashed ahead`
    return `${this.#digested} objects digested, ${this.#begun.size} begun, ${ahead}, ${this.#unreadable.size} unreadable`
  }

  async step(): Promise<StepResult> {
    this.#steps += 1
    if (this.#steps % STEPS_PER_SWEEP === 0) this.#forgetRemoved()
    const next = this.#turns.next(this.#catalog.snapshot(), (payload, isSmall) => this.#isLeftOut(payload, isSmall))
    return next === undefined ? this.#hashAhead() : this.#hashOn(next)
  }

  #isLeftOut(payload: PayloadId, isSmall: boolean): boolean {
    if (this.#unreadable.has(payload)) return true
    return !isSmall && this.#begun.size >= BEGUN_MAXIMUM && !this.#begun.has(payload)
  }

  /** Hashes some more of an object, and records the digest when that was all of it. */
  async #hashOn({ bucketId, payload: whole }: QueuedDigest): Promise<StepResult> {
    const hash = this.#begun.get(whole) ?? this.#begin(whole)
    this.#begun.set(whole, hash)
    for (let bytes = 0; ; ) {
      const location = this.#catalog.snapshot().payload(whole)
      if (location?.kind !== 'parts') {
        this.#begun.delete(whole)
        break
      }
      if (hash.count === location.parts.count) {
        await this.#record(bucketId, whole, hash)
        break
      }
      if (bytes >= STEP_BYTES) break
      const cost = await this.#hashPart(hash, location.parts.payload(hash.count), STEP_BYTES - bytes, whole)
      if (cost === undefined) break
      bytes += cost
    }
    return 'more'
  }

  /** With the hash of its upload, or of an object that has the same first parts, since it was appended to. */
  #begin(whole: PayloadId): PartHash {
    const location = this.#catalog.snapshot().payload(whole)
    if (location?.kind !== 'parts') return new PartHash()
    return this.#uploads.take(whole, location.parts) ?? this.#finished.copyFor(location.parts) ?? new PartHash()
  }

  async #record(bucketId: BucketId, whole: PayloadId, hash: PartHash): Promise<void> {
    const bucket = this.#catalog.snapshot().bucketName(bucketId)
    const about = bucket === undefined ? [] : ['bucket', bucket]
    const audit = { ...systemAudit('digest', 'payload.digest', `payload:${whole}`), metadata: about }
    await this.#engine.execute({ kind: 'record-digest', audit, payload: whole, digest: hash.digest() })
    this.#begun.delete(whole)
    const location = this.#catalog.snapshot().payload(whole)
    if (location?.kind === 'parts') this.#finished.keep(bucketId, hash, location.parts)
    this.#digested += 1
  }

  async #hashAhead(): Promise<StepResult> {
    const next = this.#uploads.next(this.#unreadable)
    if (next === 'more' || next === 'idle') return next
    const { whole, hash, payload } = next
    await this.#hashPart(hash, payload, STEP_BYTES, whole)
    return 'more'
  }

  /**
   * Hashes some more of the next part.
   * @returns its cost in bytes; undefined when the part was dropped meanwhile, and the hash with it
   * @throws DescriptorsExhaustedError, after which the hash continues; errors of PayloadReader, after which the object
   *   is left out
   */
  async #hashPart(hash: PartHash, part: PayloadId | undefined, maximum: number, whole: PayloadId) {
    try {
      const location = part === undefined ? undefined : this.#catalog.snapshot().payload(part)
      const bytes = await hash.readOn(this.#payloads, part, location, maximum)
      await nextTurn()
      return Math.max(bytes, PART_BYTES_MINIMUM)
    } catch (error) {
      if (error instanceof DescriptorsExhaustedError) throw error
      this.#begun.delete(whole)
      this.#uploads.forget(whole)
      if (part === undefined || this.#catalog.snapshot().payload(part) === undefined) return undefined
      this.#unreadable.add(part).add(whole)
      if (error instanceof PayloadDamagedError) await this.#name(error, part)
      throw error
    }
  }

  /** Has the message say which objects have the damaged part. */
  async #name(error: PayloadDamagedError, part: PayloadId): Promise<void> {
    error.message += inBrackets((await namesOfPayloads(this.#catalog, [part])).get(part))
  }

  #forgetRemoved(): void {
    const snapshot = this.#catalog.snapshot()
    for (const whole of this.#begun.keys()) if (snapshot.payload(whole) === undefined) this.#begun.delete(whole)
  }
}
