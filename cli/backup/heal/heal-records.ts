import { randomBytes } from 'node:crypto'
import type { Milliseconds } from '../../../engine/brands.ts'
import { sequenceOf } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { AuditResult } from '../../../engine/events/audit.ts'
import { boundedText } from '../../../engine/events/bounded-text.ts'
import { encodeEntry } from '../../../engine/events/entry-codec.ts'
import { keepRecords, keptRecords } from '../../../engine/journal/recovery/unrecorded.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import type { WantedObject } from '../extract.ts'

const TEXT_BYTES_MAXIMUM = 1000

/** Something damaged that is put back. */
interface Repair {
  /** `segment:` or `payload:` with its name. */
  readonly resource: string
  /** What is wrong with it. */
  readonly fault: string
}

interface RepairContext {
  /** Directory of the backup. */
  readonly from: string
  /** Who repairs: an account of the host. */
  readonly by: string
  /** The object that is repaired; undefined: the whole store. */
  readonly object: WantedObject | undefined
  readonly clock: () => Milliseconds
}

/**
 * The audit records of a repair, one for each segment and payload. No server runs, so they are kept next to the journal, and the
 * next start writes them. Each is kept as attempted before anything is written, and as a success when what was written was read
 * back: after a crash the record is there, and says no more than is known.
 */
export class RepairRecords {
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #context: RepairContext
  readonly #requestId = `heal-${randomBytes(8).toString('hex')}`
  readonly #repairs: (Repair & { readonly time: string })[] = []
  #before: ReturnType<typeof keptRecords>

  constructor(disk: Disk, paths: StorePaths, context: RepairContext) {
    this.#disk = disk
    this.#paths = paths
    this.#context = context
  }

  get count(): number {
    return this.#repairs.length
  }

  /**
   * Keeps repairs durably before they are made.
   * @throws JournalDamagedError for records of earlier that are rotten; the errors of the disk
   */
  begin(repairs: readonly Repair[]): void {
    if (this.count === 0) this.#before = keptRecords(this.#disk, this.#paths)
    const time = new Date(this.#context.clock()).toISOString()
    this.#repairs.push(...repairs.map((repair) => ({ ...repair, time })))
    this.#keep('attempted')
  }

  /** All of them were made, and read back. @throws the errors of the disk */
  end(): void {
    if (this.count > 0) this.#keep('success')
  }

  #keep(result: AuditResult): void {
    const { last = segmentFirsts(this.#disk, this.#paths).at(-1) ?? sequenceOf(0), bodies = [] } = this.#before ?? {}
    const added = this.#repairs.map((repair) => this.#body(repair, result))
    keepRecords(this.#disk, this.#paths, { last, bodies: [...bodies, ...added] })
  }

  #body({ resource, fault, time }: Repair & { readonly time: string }, result: AuditResult): Buffer {
    const { from, by, object } = this.#context
    const metadata = Object.entries({
      by: boundedText(by, TEXT_BYTES_MAXIMUM),
      from: boundedText(from, TEXT_BYTES_MAXIMUM),
      before: boundedText(fault, TEXT_BYTES_MAXIMUM),
      after: result === 'success' ? 'intact' : 'unknown',
      repaired_at: time,
      ...(object && { bucket: object.bucket, key: object.key }),
    }).flat()
    const audit = { ...systemAudit('operator', 'storage.heal', resource), requestId: this.#requestId, metadata }
    return encodeEntry(audit, result, undefined, [])
  }
}
