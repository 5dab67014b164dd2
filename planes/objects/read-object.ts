import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PayloadId } from '../../engine/brands.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type {
  FileLocation,
  PartsLocation,
  PayloadLocation,
  PayloadReader,
} from '../../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import { BodyRemovedError, type BodySource } from '../http/exchange.ts'
import type { FoundObject } from './find-object.ts'

/** The sources of stored bytes. */
export interface PayloadSources {
  readonly payloads: PayloadReader
  readonly catalog: CatalogReader
}

/** Maximum number of reads when compaction or deletion races with a read. */
const READS_MAXIMUM = 5
const NO_BYTES = Buffer.alloc(0)

/**
 * The bytes `start` to `end` (exclusive) of a version that was found in this turn. A small object is returned at once,
 * without a promise. For a large one the promise resolves after the first block is read and verified, so that damage
 * there is answered with an error.
 * @throws PayloadDamagedError
 * @throws BodyRemovedError when the version was removed since it was found, DescriptorsExhaustedError
 */
export function readObject(
  sources: PayloadSources,
  found: FoundObject,
  start: number,
  end: number,
): Buffer | Promise<Buffer | BodySource> {
  if (start === end) return NO_BYTES
  const { snapshot, object } = found
  const { payload } = object
  const location = payload === undefined ? undefined : snapshot.payload(payload)
  if (payload === undefined || location === undefined)
    throw named(new PayloadDamagedError(`payload ${payload} is not in the catalog`), found)
  if (location.kind === 'volume') {
    try {
      const bytes = sources.payloads.readSmall(location, object.digest)
      return end - start === bytes.length ? bytes : bytes.subarray(start, end)
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error
    }
  }
  return openPayload(sources, payload, location, start, end, Uint8Array.from(object.digest)).catch((error: unknown) => {
    throw named(error, found)
  })
}

/** An error that says which object was read, when it is of damage. */
export function named(error: unknown, { bucket, key, object: { sequence } }: FoundObject): unknown {
  if (error instanceof PayloadDamagedError) error.object ??= { bucket: bucket.name, key, sequence }
  return error
}

/**
 * Retries a read, with a new lookup, while its version was removed between lookup and open.
 * @param first the read that has been started
 * @throws what `read` throws
 */
export async function retryIfRemoved<T>(first: Promise<T>, read: () => T | Promise<T>): Promise<T> {
  let current: T | Promise<T> = first
  for (let reads = 1; ; reads += 1) {
    try {
      return await current
    } catch (error) {
      if (!(error instanceof BodyRemovedError) || reads === READS_MAXIMUM) throw error
    }
    current = read()
  }
}

/**
 * The pieces of a body, which is closed after the last or when the caller stops. A piece is valid until the next one.
 * Yields to the event loop after each.
 */
export async function* piecesOf(body: Buffer | BodySource): AsyncGenerator<Buffer> {
  if (Buffer.isBuffer(body)) return yield body
  try {
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
      yield piece
      await nextTurn()
    }
  } finally {
    body.close()
  }
}

/**
 * Opens a payload at a place. Bytes that cannot be read there were moved by compaction, were removed, or are damaged;
 * the catalog knows which.
 * @param digest SHA-256 of a whole object; without it, for a part, the CRC-32 is compared
 */
async function openPayload(
  sources: PayloadSources,
  payload: PayloadId,
  place: PayloadLocation,
  start: number,
  end: number,
  digest?: Uint8Array,
): Promise<Buffer | BodySource> {
  let location = place
  for (let reads = 1; ; reads += 1) {
    try {
      return await openAt(sources, payload, location, start, end, digest)
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error
      const now = sources.catalog.snapshot().payload(payload)
      if (now === undefined) throw new BodyRemovedError(`payload ${payload} was removed while it was read`)
      if (isSamePlace(now, location) || reads === READS_MAXIMUM) throw error
      location = now
    }
  }
}

/** Whether a payload was not moved; only payloads in volumes are ever moved. */
function isSamePlace(left: PayloadLocation, right: PayloadLocation): boolean {
  if (left.kind !== 'volume' || right.kind !== 'volume') return left.kind === right.kind
  return left.volume === right.volume && left.offset === right.offset
}

async function openAt(
  sources: PayloadSources,
  payload: PayloadId,
  location: PayloadLocation,
  start: number,
  end: number,
  digest: Uint8Array | undefined,
): Promise<Buffer | BodySource> {
  switch (location.kind) {
    case 'volume':
      return sources.payloads.readSmall(location, digest).subarray(start, end)
    case 'file':
      return openFile(sources, location, start, end)
    case 'parts': {
      const body = new PartsBody(sources, payload, location, start, end)
      await body.openNext()
      return body
    }
  }
}

async function openFile(
  sources: PayloadSources,
  location: FileLocation,
  start: number,
  end: number,
): Promise<BodySource> {
  const reader = await sources.payloads.openLarge(location, start, end)
  try {
    await reader.proveFirst()
  } catch (error) {
    reader.close()
    throw error
  }
  return reader
}

/** The body of a multipart object: its parts in order, each opened when it is reached. */
class PartsBody implements BodySource {
  readonly length: number
  readonly #sources: PayloadSources
  readonly #payload: PayloadId
  readonly #location: PartsLocation
  /** Index of the next part to open, and its offset in the object. */
  #index = 0
  #partStart = 0
  #position: number
  readonly #end: number
  /** The part being sent. */
  #part: BodySource | Buffer | undefined
  #closed = false

  constructor(sources: PayloadSources, payload: PayloadId, location: PartsLocation, start: number, end: number) {
    this.#sources = sources
    this.#payload = payload
    this.#location = location
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  next(): Buffer | undefined | Promise<Buffer | undefined> {
    const piece = this.#takeFromPart()
    if (piece instanceof Promise) return piece.then((arrived) => arrived ?? this.#nextPart())
    return piece ?? this.#nextPart()
  }

  /** The first piece of the next part; undefined after the last. */
  #nextPart(): undefined | Promise<Buffer | undefined> {
    if (this.#closed || this.#position >= this.#end) return undefined
    return this.openNext().then(() => this.next())
  }

  close(): void {
    this.#closed = true
    this.#closePart()
  }

  #takeFromPart(): Buffer | undefined | Promise<Buffer | undefined> {
    const part = this.#part
    if (part === undefined) return undefined
    const piece = Buffer.isBuffer(part) ? part : part.next()
    if (piece instanceof Promise) return piece.then((arrived) => this.#taken(arrived))
    if (piece === part) this.#part = undefined
    return this.#taken(piece)
  }

  #taken(piece: Buffer | undefined): Buffer | undefined {
    if (piece === undefined) this.#closePart()
    else this.#position += piece.length
    return piece
  }

  /** Opens the part that contains the position; skips earlier parts and empty parts. */
  async openNext(): Promise<void> {
    const { parts } = this.#location
    while (this.#position >= this.#partStart + parts.size(this.#index)) {
      this.#partStart += parts.size(this.#index)
      this.#index += 1
      if (this.#index >= parts.count) throw new PayloadDamagedError('a multipart object has fewer bytes than it states')
    }
    const start = this.#position - this.#partStart
    const end = Math.min(parts.size(this.#index), this.#end - this.#partStart)
    const body = await this.#openPart(parts.payload(this.#index), start, end)
    if (!this.#closed) this.#part = body
    else if (!Buffer.isBuffer(body)) body.close()
  }

  #openPart(part: PayloadId | undefined, start: number, end: number): Promise<Buffer | BodySource> {
    const snapshot = this.#sources.catalog.snapshot()
    const location = part === undefined ? undefined : snapshot.payload(part)
    if (part !== undefined && location !== undefined) return openPayload(this.#sources, part, location, start, end)
    // Parts are removed with their object, so a missing part is damage only while the object exists (decision 0018).
    if (snapshot.payload(this.#payload) === undefined) {
      throw new BodyRemovedError(`payload ${this.#payload} was removed while it was read`)
    }
    throw new PayloadDamagedError(`payload ${part}, a part of payload ${this.#payload}, is not in the catalog`)
  }

  #closePart(): void {
    const part = this.#part
    this.#part = undefined
    if (part !== undefined && !Buffer.isBuffer(part)) part.close()
  }
}
