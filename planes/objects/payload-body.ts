import type { PartsLocation, PayloadLocation, PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import { BodyRemovedError, type BodySource } from '../http/exchange.ts'
import type { CatalogReader } from '../../projections/catalog-reader.ts'

/** Where the bytes of objects are read. */
export interface PayloadSources {
  readonly payloads: PayloadReader
  readonly catalog: CatalogReader
}

/**
 * The bytes `start` to `end` (exclusive) of a payload. The first of them are read and proved when this resolves, so
 * that damage there is an error the client can read.
 * @param payload id of the payload, and `location` where it lay at the last look
 * @throws PayloadDamagedError, BodyRemovedError
 */
export async function openPayload(
  services: PayloadSources,
  payload: number,
  location: PayloadLocation,
  start: number,
  end: number,
): Promise<BodySource | Buffer> {
  switch (location.kind) {
    case 'volume':
      return services.payloads.readSmall(location).subarray(start, end)
    case 'file':
      return openFile(services, location, start, end)
    case 'parts':
      return PartsBody.open(services, payload, location, start, end)
  }
}

async function openFile(
  services: PayloadSources,
  location: Extract<PayloadLocation, { kind: 'file' }>,
  start: number,
  end: number,
): Promise<BodySource> {
  const reader = await services.payloads.openLarge(location, start, end)
  try {
    await reader.proveFirst()
  } catch (error) {
    reader.close()
    throw error
  }
  return reader
}

/** A part being sent. */
interface OpenPart {
  readonly body: BodySource | Buffer
}

/** A multipart object: its parts one after the other, each opened when its turn comes. */
class PartsBody implements BodySource {
  readonly length: number
  readonly #services: PayloadSources
  readonly #payload: number
  readonly #location: PartsLocation
  /** Index of the next part to open, and where in the object it begins. */
  #index = 0
  #partStart = 0
  #position: number
  readonly #end: number
  #part: OpenPart | undefined
  #closed = false

  private constructor(services: PayloadSources, payload: number, location: PartsLocation, start: number, end: number) {
    this.#services = services
    this.#payload = payload
    this.#location = location
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  static async open(
    services: PayloadSources,
    payload: number,
    location: PartsLocation,
    start: number,
    end: number,
  ): Promise<PartsBody> {
    const body = new PartsBody(services, payload, location, start, end)
    await body.#openNext()
    return body
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const piece = await this.#takeFromPart()
      if (piece !== undefined) return piece
      if (this.#closed || this.#position >= this.#end) return undefined
      await this.#openNext()
    }
  }

  close(): void {
    this.#closed = true
    this.#closePart()
  }

  async #takeFromPart(): Promise<Buffer | undefined> {
    const part = this.#part
    if (part === undefined) return undefined
    const piece = Buffer.isBuffer(part.body) ? part.body : await part.body.next()
    if (Buffer.isBuffer(part.body) || piece === undefined) this.#closePart()
    this.#position += piece?.length ?? 0
    return piece
  }

  /** Opens the part that holds the position; parts before it and parts of no bytes are stepped over. */
  async #openNext(): Promise<void> {
    const { parts } = this.#location
    while (this.#position >= this.#partStart + parts.size(this.#index)) {
      this.#partStart += parts.size(this.#index)
      this.#index += 1
      if (this.#index >= parts.count) throw new PayloadDamagedError('a multipart object has fewer bytes than it states')
    }
    const start = this.#position - this.#partStart
    const end = Math.min(parts.size(this.#index), this.#end - this.#partStart)
    const body = await this.#openPart(parts.payload(this.#index), start, end)
    if (!this.#closed) this.#part = { body }
    else if (!Buffer.isBuffer(body)) body.close()
  }

  /** Small parts can be moved by compaction between the look into the catalog and the reading: then one looks again. */
  async #openPart(payload: number, start: number, end: number): Promise<BodySource | Buffer> {
    const location = this.#locationOf(payload)
    try {
      return await openPayload(this.#services, payload, location, start, end)
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error
      this.#services.catalog.refresh()
      const now = this.#locationOf(payload)
      if (isSamePlace(now, location)) throw error
      return openPayload(this.#services, payload, now, start, end)
    }
  }

  /** Parts go with the object that was made of them; without it nobody misses them (spec/decisions/0018). */
  #locationOf(part: number): PayloadLocation {
    const location = this.#services.catalog.payload(part)
    if (location !== undefined) return location
    const isRemoved = this.#services.catalog.payload(this.#payload) === undefined
    if (isRemoved) throw new BodyRemovedError(`payload ${this.#payload} was removed while it was read`)
    throw new PayloadDamagedError(`payload ${part}, a part of payload ${this.#payload}, is not in the catalog`)
  }

  #closePart(): void {
    const body = this.#part?.body
    this.#part = undefined
    if (body !== undefined && !Buffer.isBuffer(body)) body.close()
  }
}

/** Whether a payload still is where it was; only small ones are ever moved. */
export function isSamePlace(left: PayloadLocation, right: PayloadLocation): boolean {
  if (left.kind !== 'volume' || right.kind !== 'volume') return left.kind === right.kind
  return left.volume === right.volume && left.offset === right.offset
}
