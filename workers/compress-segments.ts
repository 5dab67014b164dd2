import { setTimeout } from 'node:timers/promises'
import type { Sequence } from '../engine/brands.ts'
import { type Disk, isDiskFull } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { compressSegment } from '../engine/journal/cold/compress-segment.ts'
import { SEGMENT_HEADER } from '../engine/journal/format.ts'
import { decodeSegmentHeader, segmentFirsts } from '../engine/journal/segment.ts'
import { openSegment } from '../engine/journal/segment-file.ts'
import type { BackgroundWorker, StepResult } from './worker.ts'

interface CompressionOptions {
  /** Whether plain segments are compressed; else they are only counted. */
  readonly enabled: boolean
  /** Hours since it was sealed, after which a segment is compressed. */
  readonly afterHours: number
  /** Of plain segments, read to compress them and again to verify the result. */
  readonly bytesPerSecond: number
  /** Name of the running start. */
  readonly start: string
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Milliseconds since any moment. */
  readonly timer: () => number
  /** Waits this long. */
  readonly pause?: (milliseconds: number) => Promise<unknown>
}

/** The cold segments of the journal, as far as the worker has examined it. */
interface ColdTotals {
  readonly segments: number
  /** Bytes of the journal in them. */
  readonly plainBytes: number
  /** Length of their files. */
  readonly storedBytes: number
  /** Sealed segments that stay plain because they are damaged or could not be read. */
  readonly kept: number
}

interface SealedSegment {
  readonly first: Sequence
  readonly following: Sequence
}

/** Interval of looking for sealed segments. */
const LOOK_MILLISECONDS = 60_000
/** Segments opened in one step, each for some 50 us. */
const LOOKS_MAXIMUM = 64
/** Pieces of 256 KiB in one step. */
const PIECES_MAXIMUM = 4
/** Required free space on top of a worst-case cold segment. */
const BESIDE_BYTES = 32 << 20
/** Level 9 saves 2 % more in twice the time; level 1 takes half the time for 12 % more. */
const LEVEL = 6
const MILLISECONDS_PER_HOUR = 3_600_000

/**
 * Compresses sealed segments of the journal, the oldest first, each some time after it was sealed (decision 0099). What
 * queries and starts read most is new and stays plain. Deflates in threads of libuv, at a bounded rate.
 */
export class SegmentCompression implements BackgroundWorker {
  readonly name = 'compress-segments'
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #options: CompressionOptions
  /** Sealed segments up to this one were examined. */
  #seen = -1
  #lookedMilliseconds = Number.NEGATIVE_INFINITY
  /** Plain ones, in order. */
  readonly #plain: SealedSegment[] = []
  #dueMilliseconds: number | undefined
  #running: ReturnType<typeof compressSegment> | undefined
  /** Until then the rate is used up. */
  #paidMilliseconds = 0
  #waitsForSpace = false
  #totals = { segments: 0, plainBytes: 0, storedBytes: 0, kept: 0 }

  constructor(disk: Disk, paths: StorePaths, options: CompressionOptions) {
    this.#disk = disk
    this.#paths = paths
    this.#options = options
  }

  get status(): string {
    const { segments, kept } = this.#totals
    const space = this.#waitsForSpace ? ', waits for free space' : ''
    return `${segments} segments are compressed, ${this.#plain.length} plain, ${kept} kept plain for damage${space}`
  }

  get totals(): ColdTotals {
    return this.#totals
  }

  /**
   * Looks at some segments, or compresses some of one.
   * @throws JournalDamagedError for a segment that is damaged, which stays as it is; DiskFullError; the disk's errors
   */
  async step(): Promise<StepResult> {
    if (this.#running === undefined) {
      if (this.#look()) return 'more'
      this.#running = this.#begin()
      if (this.#running === undefined) return 'idle'
    }
    await this.#advance(this.#running)
    return 'more'
  }

  async close(): Promise<void> {
    await this.#running?.return({ plainBytes: 0, storedBytes: 0 })
  }

  /** @returns whether there is more to look at */
  #look(): boolean {
    const now = this.#options.timer()
    if (now < this.#lookedMilliseconds + LOOK_MILLISECONDS) return false
    const firsts = segmentFirsts(this.#disk, this.#paths)
    const from = firsts.findIndex((first) => first > this.#seen)
    const sealed = from === -1 ? 0 : firsts.length - 1 - from
    for (let index = from; index < from + Math.min(sealed, LOOKS_MAXIMUM); index += 1) {
      const [first, following] = firsts.slice(index, index + 2) as [Sequence, Sequence]
      this.#seen = first
      this.#classify(first, following)
    }
    if (sealed > LOOKS_MAXIMUM) return true
    this.#lookedMilliseconds = now
    return false
  }

  /** @throws ColdSegmentDamagedError, once for each */
  #classify(first: Sequence, following: Sequence): void {
    const file = openSegment(this.#disk, this.#paths.segment(first))
    try {
      if (file.isCold) this.#count(file.size(), file.storedBytes)
      else this.#plain.push({ first, following })
    } finally {
      file.close()
    }
  }

  #count(plainBytes: number, storedBytes: number): void {
    const totals = this.#totals
    this.#totals = {
      ...totals,
      segments: totals.segments + 1,
      plainBytes: totals.plainBytes + plainBytes,
      storedBytes: totals.storedBytes + storedBytes,
    }
  }

  /** Starts with the oldest plain segment when that is due. */
  #begin(): ReturnType<typeof compressSegment> | undefined {
    const [oldest] = this.#plain
    if (oldest === undefined || !this.#options.enabled) return undefined
    this.#dueMilliseconds ??= this.#sealedMilliseconds(oldest) + this.#options.afterHours * MILLISECONDS_PER_HOUR
    if (this.#options.clock() < this.#dueMilliseconds) return undefined
    const { availableBytes } = this.#disk.space(this.#paths.journal)
    this.#waitsForSpace = availableBytes < this.#disk.sizeOf(this.#paths.segment(oldest.first)) + BESIDE_BYTES
    if (this.#waitsForSpace) return undefined
    return compressSegment(this.#disk, this.#paths, { ...oldest, making: this.#options.start, level: LEVEL })
  }

  /** The next segment is made when one is sealed. Compressing finds out when its header is damaged. */
  #sealedMilliseconds({ following }: SealedSegment): number {
    const file = openSegment(this.#disk, this.#paths.segment(following))
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER.bytes)
      file.readAt(bytes, 0, bytes.length)
      return (decodeSegmentHeader(bytes)?.createdMicroseconds ?? 0) / 1000
    } finally {
      file.close()
    }
  }

  async #advance(running: ReturnType<typeof compressSegment>): Promise<void> {
    const { bytesPerSecond, timer, pause = setTimeout } = this.#options
    try {
      for (let pieces = 0; pieces < PIECES_MAXIMUM; pieces += 1) {
        const piece = await running.next()
        if (piece.done) {
          this.#count(piece.value.plainBytes, piece.value.storedBytes)
          this.#forget()
          return
        }
        this.#paidMilliseconds = Math.max(this.#paidMilliseconds, timer()) + (piece.value * 1000) / bytesPerSecond
      }
    } catch (error) {
      this.#running = undefined
      // Another disk error may go away with a restart; meanwhile the segments after it get their turn.
      if (!isDiskFull(error)) {
        this.#totals = { ...this.#totals, kept: this.#totals.kept + 1 }
        this.#forget()
      }
      throw error
    }
    await pause(Math.max(0, this.#paidMilliseconds - timer()))
  }

  /** The oldest is done with. */
  #forget(): void {
    this.#running = undefined
    this.#dueMilliseconds = undefined
    this.#plain.shift()
  }
}
