import type { AuditRecords } from '../../../projections/audit/audit-export.ts'
import type { BodySource } from '../../http/exchange.ts'
import type { ExportForm } from './audit-forms.ts'

/** Size of a piece of the body, in characters; a piece may be one batch of records longer. */
const PIECE_CHARACTERS = 128 * 1024

interface ExportHooks {
  /** Called after the last record; the last piece of the body waits for it. */
  readonly ended: () => Promise<void>
  /** Called when the source is closed, also before its end. */
  readonly closed: () => void
}

/** Streams the body of an export. Memory does not grow with the number of records. */
export class AuditExportSource implements BodySource {
  readonly length = undefined
  readonly #records: AuditRecords
  readonly #hooks: ExportHooks
  readonly #form: ExportForm
  #text: string
  #separator = ''
  #over = false
  #first: Buffer | undefined

  private constructor(records: AuditRecords, form: ExportForm, hooks: ExportHooks) {
    this.#hooks = hooks
    this.#records = records
    this.#form = form
    this.#text = form.head
  }

  /**
   * Reads the first piece, so that an early failure can be answered with an error status.
   * @param records closed together with the source
   * @throws what `ended` throws
   */
  static async open(records: AuditRecords, form: ExportForm, hooks: ExportHooks): Promise<AuditExportSource> {
    const source = new AuditExportSource(records, form, hooks)
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
    this.#hooks.closed()
  }

  async #read(): Promise<Buffer | undefined> {
    if (this.#over) return undefined
    const { record, separator, tail } = this.#form
    while (this.#text.length < PIECE_CHARACTERS) {
      const records = await this.#records.next()
      if (records === undefined) {
        await this.#hooks.ended()
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
