import { NUMBER_BYTES } from '../keys.ts'

const HIGH = 2 ** 32
const GREATEST = 2n ** 63n - 1n
/** Of a counter that has passed what 8 bytes hold: it stays here until it is counted again. */
const PASSED = -(2n ** 63n)

/** Each number is the nearest that a double holds: exact up to 2^53. */
export type Counts<F extends string> = Record<F, number>

/**
 * The counters of a row while they are changed: whole numbers of 8 bytes in two's complement. The rules keep them below
 * 2^53 (engine/domain/quota.ts), but a journal that others wrote may lead beyond. Sums are exact up to 2^63:
 * subtracting again leaves the right number, and no counter can fail. A counter below 0 is wrong; it is counted again
 * (apply/recount.ts).
 */
export class Tally<F extends string> {
  readonly #fields: readonly F[]
  readonly #counts: Counts<F>
  /** Exact values of the counters that a double does not hold exactly. */
  #wide: Map<F, bigint> | undefined

  /** @param row as `encode` made it; all are 0 without a row */
  constructor(fields: readonly F[], row: Buffer | undefined) {
    this.#fields = fields
    this.#counts = decodeCounts(fields, row)
    if (row === undefined) return
    fields.forEach((field, at) => {
      if (!Number.isSafeInteger(this.#counts[field])) this.#setExactly(field, row.readBigInt64BE(at * NUMBER_BYTES))
    })
  }

  get counts(): Readonly<Counts<F>> {
    return this.#counts
  }

  get isWrong(): boolean {
    for (const field of this.#fields) if (this.#counts[field] < 0) return true
    return false
  }

  add(field: F, difference: number): void {
    const before = this.#counts[field]
    const sum = before + difference
    if (Number.isSafeInteger(sum) && Number.isSafeInteger(before)) this.#counts[field] = sum
    else this.#addExactly(field, BigInt(difference))
  }

  raise(field: F, least: number): void {
    if (this.#counts[field] >= least) return
    if (Number.isSafeInteger(this.#counts[field]) && Number.isSafeInteger(least)) this.#counts[field] = least
    else this.#setExactly(field, BigInt(least))
  }

  exactly(field: F): bigint {
    return this.#wide?.get(field) ?? BigInt(this.#counts[field])
  }

  /** Sets a counter to a new count, at most the greatest number of a row. */
  recount(field: F, counted: bigint): void {
    this.#setExactly(field, counted > GREATEST ? GREATEST : counted)
  }

  encode(): Buffer {
    const row = Buffer.allocUnsafe(this.#fields.length * NUMBER_BYTES)
    this.#fields.forEach((field, index) => {
      const value = this.#counts[field]
      const at = index * NUMBER_BYTES
      if (!Number.isSafeInteger(value)) {
        row.writeBigInt64BE(this.exactly(field), at)
        return
      }
      row.writeInt32BE(Math.floor(value / HIGH), at)
      row.writeUInt32BE(value >>> 0, at + 4)
    })
    return row
  }

  #addExactly(field: F, difference: bigint): void {
    const before = this.exactly(field)
    const sum = before + difference
    this.#setExactly(field, before === PASSED || sum > GREATEST || sum < PASSED ? PASSED : sum)
  }

  #setExactly(field: F, value: bigint): void {
    this.#counts[field] = Number(value)
    this.#wide ??= new Map()
    if (Number.isSafeInteger(this.#counts[field])) this.#wide.delete(field)
    else this.#wide.set(field, value)
  }
}

/** The counters of a row; all are 0 without a row. */
export function decodeCounts<F extends string>(fields: readonly F[], row: Buffer | undefined): Counts<F> {
  const pairs = fields.map((field, index) => {
    const at = index * NUMBER_BYTES
    return [field, row === undefined ? 0 : row.readInt32BE(at) * HIGH + row.readUInt32BE(at + 4)]
  })
  return Object.fromEntries(pairs) as Counts<F>
}
