/** Called from time to time with the bytes and records verified since the last call. */
export type ReportProgress = (bytes: number, records: number) => void

/** Bytes between two reports. */
const REPORT_BYTES = 4 * 1024 * 1024

/** Turns positions in a segment into reports of the progress since the last. */
export class ProgressMeter {
  readonly #report: ReportProgress
  #bytes = 0
  #records = 0

  constructor(report: ReportProgress) {
    this.#report = report
  }

  /** Reports when enough was added since the last time. */
  advance(bytes: number, records: number): void {
    if (bytes - this.#bytes >= REPORT_BYTES) this.finish(bytes, records)
  }

  /** Reports all that was added. */
  finish(bytes: number, records: number): void {
    this.#report(bytes - this.#bytes, records - this.#records)
    this.#bytes = bytes
    this.#records = records
  }
}
