import type { PartsLocation, PayloadLocation, PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type { BodySource } from '../http/exchange.ts'
import type { CatalogReader } from '../../projections/catalog-reader.ts'

/** Where the bytes of objects are read. */
export interface PayloadSources {
  readonly payloads: PayloadReader
  readonly catalog: CatalogReader
}

/**
 * The bytes `start` to `end` (exclusive) of a payload. The first of them are read and proved when this resolves, so
 * that damage there is an error the client can read.
 * @throws PayloadDamagedError
 */
export async function openPayload(
  services: PayloadSources,
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
      return PartsBody.open(services, location, start, end)
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
  readonly #location: PartsLocation
  /** Index of the next part to open, and where in the object it begins. */
  #index = 0
  #partStart = 0
  #position: number
  readonly #end: number
  #part: OpenPart | undefined
  #closed = false

  private constructor(services: PayloadSources, location: PartsLocation, start: number, end: number) {
    this.#services = services
    this.#location = location
    this.#position = start
    this.#end = end
    this.length = end - start
  }

  static async open(services: PayloadSources, location: PartsLocation, start: number, end: number): Promise<PartsBody> {
    const body = new PartsBody(services, location, start, end)
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
    const location = this.#services.catalog.payload(payload)
    if (location === undefined) throw new PayloadDamagedError(`payload ${payload} is not in the catalog`)
    try {
      return await openPayload(this.#services, location, start, end)
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error
      this.#services.catalog.refresh()
      const now = this.#services.catalog.payload(payload)
      if (now === undefined || isSamePlace(now, location)) throw error
      return openPayload(this.#services, now, start, end)
    }
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
