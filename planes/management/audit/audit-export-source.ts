import type { AuditRecords } from '../../../projections/audit/audit-export.ts'
import type { BodySource } from '../../http/exchange.ts'
import type { ExportForm } from './audit-forms.ts'

/** Size of a piece of the body, in characters; a piece may be one batch of records longer. */
const PIECE_CHARACTERS = 128 * 1024

/** Streams the body of an export. Memory does not grow with the number of records. */
export class AuditExportSource implements BodySource {
  readonly length = undefined
  readonly #records: AuditRecords
  readonly #closed: () => void
  readonly #form: ExportForm
  #text: string
  #separator = ''
  #over = false
  #first: Buffer | undefined

  private constructor(records: AuditRecords, form: ExportForm, closed: () => void) {
    this.#closed = closed
    this.#records = records
    this.#form = form
    this.#text = form.head
  }

  /**
   * Reads the first piece, so that an early failure can be answered with an error status.
   * @param records closed together with the source
   * @param closed called then, also when this throws
   * @throws AuditLogDamagedError
   */
  static async open(records: AuditRecords, form: ExportForm, closed: () => void): Promise<AuditExportSource> {
    const source = new AuditExportSource(records, form, closed)
    try {
      source.#first = await source.#read()
      return source
    } catch (error) {
      source.close()
      throw error
    }
  }

  next(): Promise<Buffer | undefined> | Buffer | undefined {
    const first = this.#first
    if (first === undefined) return this.#read()
    this.#first = undefined
    return first
  }

  close(): void {
    this.#records.close()
    this.#closed()
  }

  async #read(): Promise<Buffer | undefined> {
    if (this.#over) return undefined
    const { record, separator, tail } = this.#form
    while (this.#text.length < PIECE_CHARACTERS) {
      const records = await this.#records.next()
      if (records === undefined) {
        this.#over = true
        this.#text += tail
        break
      }
      for (const each of records) {
        this.#text += this.#separator + record(each)
        this.#separator = separator
      }
    }
    const piece = Buffer.from(this.#text)
    this.#text = ''
    return piece
  }
}
