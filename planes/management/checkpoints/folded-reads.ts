import type { Milliseconds } from '../../../engine/brands.ts'
import type { Pairs } from '../../../engine/events/audit.ts'
import { networkOf } from '../../http/limits/network-of.ts'
import type { ManagementRequest } from '../requests/management-request.ts'

/** One record of a reader stands for its reads in this time. */
const COVERED_MILLISECONDS = 3_600_000
/** Readers that are remembered. Reads of any other one have a record each. */
const READERS_MAXIMUM = 256

interface Reader {
  readonly since: Milliseconds
  /** Reads without a record of their own. */
  folded: number
}

/**
 * Reads of the log by monitors, which read every tile of it again and again: if each had a record, reading the log would make
 * it longer. The first read of a credential from a network has its record, which says that it covers an hour; further ones in
 * that hour have none, and the next record says how many there were. Refused and failed reads have theirs always.
 */
export class FoldedReads {
  readonly #clock: () => Milliseconds
  readonly #readers = new Map<string, Reader>()

  /** @param clock milliseconds since 1970 */
  constructor(clock: () => Milliseconds) {
    this.#clock = clock
  }

  /** Called when a read succeeded, before its answer. @param what kind of read, each of which is counted by itself */
  fold(
    what: 'checkpoint' | 'tile',
    { http, identity, journal }: Pick<ManagementRequest, 'http' | 'identity' | 'journal'>,
  ): void {
    const key = `${what} ${identity.credentialId} ${networkOf(http.remoteAddress)}`
    const details = this.#recordOf(key)
    if (details === undefined) journal.leaveUnrecorded()
    else journal.note(...details)
  }

  /** What the record of a read says of others; undefined when it has none. */
  #recordOf(key: string): Pairs | undefined {
    const now = this.#clock()
    const known = this.#readers.get(key)
    if (known !== undefined && isCovered(known, now)) {
      known.folded += 1
      return undefined
    }
    this.#readers.delete(key)
    if (this.#readers.size >= READERS_MAXIMUM) this.#forget(now)
    if (this.#readers.size >= READERS_MAXIMUM) return []
    this.#readers.set(key, { since: now, folded: 0 })
    const before = known === undefined || known.folded === 0 ? [] : ['folded_before', known.folded]
    return ['covers_seconds', COVERED_MILLISECONDS / 1000, ...before]
  }

  /** Makes room: readers whose hour is over. Their counts are in no record. */
  #forget(now: Milliseconds): void {
    for (const [key, reader] of this.#readers) if (!isCovered(reader, now)) this.#readers.delete(key)
  }
}

/** A clock that went back covers nothing. */
function isCovered({ since }: Reader, now: Milliseconds): boolean {
  return now >= since && now - since < COVERED_MILLISECONDS
}
