import type { PayloadId } from '../../engine/brands.ts'
import { isUnreadable } from '../../engine/disk/unreadable.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { PayloadDamagedError } from '../../engine/payloads/payload-errors.ts'
import type { PayloadLocation, PayloadReader } from '../../engine/payloads/payload-reader.ts'
import type { CatalogReader } from '../../projections/catalog/catalog-reader.ts'
import type { StoredPayload } from '../../projections/catalog/catalog-snapshot.ts'

/** Bytes of one step, besides the last payload or piece. */
const STEP_BYTES = 1 << 20
/** How often a payload is read again that was moved meanwhile. */
const READS_MAXIMUM = 3

type LargePayload = Awaited<ReturnType<PayloadReader['openLarge']>>

/** Result of a step over a list of payloads. */
interface ReadPayloads {
  readonly bytes: number
  /** How many from the first on were read to their end. */
  readonly whole: number
  readonly damaged: readonly { readonly row: StoredPayload; readonly reason: string }[]
}

/** Reads payloads to prove them, large ones over many steps. Parts are payloads of their own, so no payload of parts is read. */
export class PayloadScrub {
  readonly #catalog: CatalogReader
  readonly #payloads: PayloadReader
  /** The large payload that is being read. */
  #open: { readonly payload: PayloadId; readonly reader: LargePayload } | undefined

  constructor(catalog: CatalogReader, payloads: PayloadReader) {
    this.#catalog = catalog
    this.#payloads = payloads
  }

  /** Reads some of `rows`, from the first on; the next call is to begin with the first that is not whole. */
  async read(rows: readonly StoredPayload[]): Promise<ReadPayloads> {
    const damaged: { row: StoredPayload; reason: string }[] = []
    let bytes = 0
    let whole = 0
    for (const row of rows) {
      if (bytes >= STEP_BYTES) break
      const result = await this.#readOne(row, STEP_BYTES - bytes)
      bytes += result.bytes
      if (!result.isWhole) break
      whole += 1
      if (result.reason !== undefined) damaged.push({ row, reason: result.reason })
    }
    return { bytes, whole, damaged }
  }

  close(): void {
    this.#open?.reader.close()
    this.#open = undefined
  }

  async #readOne(
    row: StoredPayload,
    bytesMaximum: number,
  ): Promise<{ bytes: number; isWhole: boolean; reason?: string }> {
    let { location } = row
    for (let reads = 1; ; reads += 1) {
      try {
        return await this.#readAt(row.payload, location, bytesMaximum)
      } catch (error) {
        this.close()
        const reason = damageOf(error)
        if (reason === undefined) throw error
        const now = this.#catalog.snapshot().payload(row.payload)
        // It was removed meanwhile, with the object that it belonged to.
        if (now === undefined) return { bytes: 0, isWhole: true }
        if (isSamePlace(now, location) || reads === READS_MAXIMUM) return { bytes: 0, isWhole: true, reason }
        location = now
      }
    }
  }

  /** @throws PayloadDamagedError, and the disk's errors */
  async #readAt(
    payload: PayloadId,
    location: PayloadLocation,
    bytesMaximum: number,
  ): Promise<{ bytes: number; isWhole: boolean }> {
    switch (location.kind) {
      case 'parts':
        return { bytes: 0, isWhole: true }
      case 'volume':
        return { bytes: this.#payloads.readSmall(location).length, isWhole: true }
      case 'file': {
        if (this.#open?.payload !== payload) {
          this.close()
          this.#open = { payload, reader: await this.#payloads.openLarge(location, 0, location.length) }
        }
        return this.#readOn(this.#open.reader, bytesMaximum)
      }
    }
  }

  async #readOn(reader: LargePayload, bytesMaximum: number): Promise<{ bytes: number; isWhole: boolean }> {
    let bytes = 0
    while (bytes < bytesMaximum) {
      const piece = await reader.next()
      if (piece === undefined) {
        this.close()
        return { bytes, isWhole: true }
      }
      bytes += piece.length
    }
    return { bytes, isWhole: false }
  }
}

/** Why an error means damage: the bytes have changed, or the disk cannot read them. */
export function damageOf(error: unknown): string | undefined {
  if (error instanceof PayloadDamagedError || error instanceof JournalDamagedError) return error.message
  return isUnreadable(error) ? 'the disk cannot read it' : undefined
}

/** Only small payloads are ever moved. */
function isSamePlace(left: PayloadLocation, right: PayloadLocation): boolean {
  if (left.kind !== 'volume' || right.kind !== 'volume') return left.kind === right.kind
  return left.volume === right.volume && left.offset === right.offset
}
