import type { SpaceGuard } from '../payloads/space-guard.ts'
import type { SpaceReserve } from '../payloads/space-reserve.ts'
import type { Journal } from './journal.ts'

/** With so much free the projections can grow, and a segment that was not written ahead as well. */
const FREE_BYTES_MINIMUM = 8 << 20

/**
 * What a full disk leaves room for in the journal: everything, changes alone so that deletions can empty the disk, or
 * no request at all (decision 0013).
 */
export type RoomFor = 'everything' | 'changes' | 'nothing'

/** Decides what may still be recorded, so that the journal never needs space that the disk does not have. */
export class JournalRoom {
  readonly #journal: Pick<Journal, 'roomBytes' | 'batchBytesMaximum'>
  readonly #space: Pick<SpaceGuard, 'space'>
  readonly #reserve: Pick<SpaceReserve, 'isHeld'>
  readonly #readsBytesMinimum: number

  /** Reads stop when half a segment is left, and changes before a batch may not fit; the stop of the server always fits. */
  constructor(
    journal: Pick<Journal, 'roomBytes' | 'batchBytesMaximum'>,
    space: Pick<SpaceGuard, 'space'>,
    reserve: Pick<SpaceReserve, 'isHeld'>,
    segmentBytes: number,
  ) {
    this.#journal = journal
    this.#space = space
    this.#reserve = reserve
    this.#readsBytesMinimum = segmentBytes / 2
  }

  /** Costs next to nothing: the free space is read ten times a second at most. */
  get roomFor(): RoomFor {
    const { batchBytesMaximum, roomBytes } = this.#journal
    const { availableBytes } = this.#space.space
    if (availableBytes >= FREE_BYTES_MINIMUM + batchBytesMaximum) return 'everything'
    const projectionsFit = this.#reserve.isHeld || availableBytes >= FREE_BYTES_MINIMUM / 2
    if (!projectionsFit || roomBytes < batchBytesMaximum) return 'nothing'
    return roomBytes < this.#readsBytesMinimum ? 'changes' : 'everything'
  }
}
