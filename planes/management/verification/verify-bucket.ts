import type { BucketState } from '../../../engine/state-ports.ts'
import type { OrderedPosition } from '../../../projections/catalog/ordered-listing.ts'
import type { ListedVersion } from '../../../projections/tables/objects.ts'
import { BodyRemovedError } from '../../http/exchange.ts'
import { findObject } from '../../objects/find-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import type { ManagementServices } from '../services.ts'
import { verifyVersion } from './verify-version.ts'

/** Versions looked up at once. */
const PAGE = 100
/** Damaged versions in one answer. A verification ends at this number; the next one continues after it. */
export const DAMAGED_MAXIMUM = 1000

/** A version as clients name it; without `versionId` all versions of the key. */
interface VersionPlace {
  readonly key: string
  readonly versionId: string | undefined
}

export interface BucketSpan {
  /** Where to start; undefined for the start of the bucket. */
  readonly after: OrderedPosition | undefined
  /** The same place as clients name it. */
  readonly afterVersion: VersionPlace | undefined
  /** Maximum number of versions to read. */
  readonly maximum: number
  readonly currentOnly: boolean
}

/** Verifies the versions of a bucket by key, newest first within a key. Delete markers have no bytes. */
export class BucketVerification {
  /** Results so far. A version that is removed before it is read does not count. */
  readonly counts = { examined: 0, bytes: 0, verified: 0, damaged: 0, pending: 0 }
  readonly damaged: { readonly key: string; readonly version_id: string }[] = []
  /** The last version examined. */
  last: VersionPlace | undefined
  /** Whether the end of the bucket was reached. */
  isComplete = false
  readonly #bucket: BucketState
  readonly #span: BucketSpan
  readonly #services: ManagementServices

  constructor(bucket: BucketState, span: BucketSpan, services: ManagementServices) {
    this.#bucket = bucket
    this.#span = span
    this.last = span.afterVersion
    this.#services = services
  }

  /**
   * Yields between two pieces of bytes and between two versions.
   * @throws UnreadableVersionError
   */
  async *run(): AsyncGenerator<undefined, void> {
    let after = this.#span.after
    for (;;) {
      const { entries, next } = this.#services.catalog.snapshot().listVersions(this.#bucket.id, {
        prefix: Buffer.alloc(0),
        delimiter: undefined,
        after,
        entriesMaximum: PAGE,
      })
      for (const [index, entry] of entries.entries()) {
        yield* this.#examine(entry)
        this.last = { key: entry.key, versionId: versionIdOf(entry, this.#services.versionIds) }
        const isLast = next === undefined && index === entries.length - 1
        if (!isLast && this.#isFull) return
      }
      if (next === undefined) break
      after = next
    }
    this.isComplete = true
  }

  get #isFull(): boolean {
    return this.counts.examined >= this.#span.maximum || this.damaged.length >= DAMAGED_MAXIMUM
  }

  async *#examine({ key, isNull, sequence, isMarker, isLatest }: ListedVersion): AsyncGenerator<undefined, void> {
    yield
    if (isMarker || (this.#span.currentOnly && !isLatest)) return
    const { catalog, versionIds } = this.#services
    const found = findObject(catalog.snapshot(), this.#bucket, key, isNull ? 'null' : sequence)
    if (found.kind !== 'found') return
    const reading = verifyVersion(found, this.#services)
    try {
      for (;;) {
        const step = await reading.next()
        if (step.done === true) {
          this.counts.examined += 1
          this.counts[step.value.verdict] += 1
          if (step.value.verdict === 'damaged') {
            this.damaged.push({ key, version_id: versionIdOf(found.object, versionIds) })
          }
          return
        }
        this.counts.bytes += step.value
        yield
      }
    } catch (error) {
      if (!(error instanceof BodyRemovedError)) throw error
    } finally {
      await reading.return({ verdict: 'pending', expected: undefined, computed: undefined })
    }
  }
}
