import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import { type Microseconds, previous, type Sequence, sequenceOf } from '../brands.ts'
import type { Disk, DiskFile } from '../disk/disk.ts'
import { SpareFile } from '../disk/spare-file.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { BatchBuilder } from './batch-builder.ts'
import { encodeGenesis, encodeSeal, type Genesis } from './bodies.ts'
import { createSegment, encodeSegmentHeader } from './segment.ts'
import { BATCH_BYTES_MAXIMUM, RECORD_KIND, SEAL_BATCH_BYTES_MAXIMUM, SEGMENT_HEADER, ZERO_HASH } from './format.ts'
import { JournalPoisonedError } from './journal-errors.ts'
import type { AppliedPosition, JournalPlace, LastRecord, NextRecord } from './positions.ts'
import { lastBefore, positionAfter } from './positions.ts'
import { oneTime } from './record-times.ts'
import { contentHash, type JournalTail, mustBeRewritten, openTail, rewriteSegment } from './recovery/recovery.ts'

interface JournalOptions {
  /** Length to which a segment is filled with zeros ahead; it is sealed before a batch could exceed it. */
  readonly segmentBytes: number
  /**
   * The socket that holds the lock of the store: nothing is written once it is gone. Undefined where the store cannot
   * be shared.
   */
  readonly lockPath?: string | undefined
  readonly onSync?: (seconds: number) => void
}

/** Counters of the journal since the start. */
interface JournalStatistics {
  records: number
  batches: number
  bytes: number
  syncs: number
  syncSeconds: number
}

/** A batch whose write or sync failed: it may be on disk, but was never acknowledged. */
export interface RefusedBatch {
  /** The last durable record, before the batch. */
  readonly last: LastRecord
  /** Hash of its last record. */
  readonly hash: Uint8Array
}

const ZEROS = Buffer.alloc(1 << 20)
/** Read at a time to see that a place is empty; small enough for the cache of a processor. */
const LOOK_BYTES = 64 * 1024
/** Bytes checked at the place of a batch before it is written, when its length is not known yet. */
const FIRST_LOOK_BYTES = 4096

/** A batch takes at most one in this many parts of a segment, so that small segments work too. */
const SEGMENT_SHARE = 4

/**
 * The writer of the journal: one batch, one write, one sync, in this order and never two at a time (J2, J3). After a
 * failed write or sync it stays poisoned and never touches the file again (J7).
 */
export class Journal {
  readonly statistics: JournalStatistics = { records: 0, batches: 0, bytes: 0, syncs: 0, syncSeconds: 0 }
  /** Bytes a batch may take. */
  readonly batchBytesMaximum: number
  readonly deploymentId: Uint8Array
  readonly #disk: Disk
  readonly #paths: StorePaths
  readonly #options: JournalOptions
  readonly #spare: SpareFile
  readonly #builder: BatchBuilder
  readonly #found = Buffer.allocUnsafeSlow(LOOK_BYTES)
  #file: DiskFile
  #segmentNumber: number
  #firstSequence: Sequence
  /** Length of the file: zeros were written up to here. */
  #aheadBytes: number
  #offset: number
  #nextSequence: Sequence
  #nextBatch: number
  #content: Hash
  #poison: JournalPoisonedError | undefined
  #last: LastRecord
  #refused: RefusedBatch | undefined

  private constructor(disk: Disk, paths: StorePaths, options: JournalOptions, start: WriterStart) {
    this.#disk = disk
    this.#paths = paths
    this.#options = options
    this.#file = start.file
    this.#segmentNumber = start.segmentNumber
    this.#firstSequence = start.firstSequence
    this.#offset = start.offset
    this.#aheadBytes = start.file.size()
    this.#nextSequence = start.next.nextSequence
    this.#nextBatch = start.next.nextBatch
    this.#content = start.content
    this.deploymentId = start.deploymentId
    this.batchBytesMaximum = Math.min(BATCH_BYTES_MAXIMUM, Math.floor(options.segmentBytes / SEGMENT_SHARE))
    this.#builder = new BatchBuilder(start.next.head, start.next.orderMicroseconds, start.next.timeMicroseconds)
    this.#last = lastBefore(start.next)
    this.#spare = new SpareFile(disk, paths.journal, paths.journalSpare, options.segmentBytes)
    void this.#spare.prepare()
  }

  /** Creates the first segment with its genesis record. It appears under its name whole or not at all. */
  static create(
    disk: Disk,
    paths: StorePaths,
    options: JournalOptions,
    genesis: Genesis,
    timeMicroseconds: Microseconds,
  ): Journal {
    const firstSequence = sequenceOf(0)
    const header = encodeSegmentHeader({
      segmentNumber: 0,
      firstSequence,
      firstBatch: 0,
      createdMicroseconds: timeMicroseconds,
      deploymentId: genesis.deploymentId,
      chainHead: ZERO_HASH,
      previousDigest: ZERO_HASH,
    })
    const builder = new BatchBuilder(ZERO_HASH, timeMicroseconds)
    builder.begin(firstSequence)
    builder.add(RECORD_KIND.genesis, timeMicroseconds, encodeGenesis(genesis))
    const first = Buffer.concat([header, builder.finish(0, 0, false)])
    const file = createSegment(disk, paths, firstSequence, first, options.segmentBytes)
    return new Journal(disk, paths, options, {
      file,
      segmentNumber: 0,
      firstSequence,
      offset: first.length,
      next: { nextSequence: builder.nextSequence, nextBatch: 1, head: builder.head, ...oneTime(timeMicroseconds) },
      content: createHash('sha256').update(first),
      deploymentId: genesis.deploymentId,
    })
  }

  /** Continues after the tail that recovery found. `cleanStop`: the tail is known to be durable. */
  static open(disk: Disk, paths: StorePaths, options: JournalOptions, tail: JournalTail, cleanStop: boolean): Journal {
    if (!cleanStop || mustBeRewritten(tail)) rewriteSegment(disk, paths, tail, options.segmentBytes)
    const { header } = tail.segment
    const journal = new Journal(disk, paths, options, {
      file: openTail(disk, tail),
      segmentNumber: header.segmentNumber,
      firstSequence: header.firstSequence,
      offset: tail.offset,
      next: tail.chain,
      content: contentHash(disk, tail.segment.path, tail.offset),
      deploymentId: header.deploymentId,
    })
    if (tail.sealed) {
      const digest = tail.sealDigest
      if (digest === undefined) throw new Error('a sealed tail must state its digest')
      journal.#finishSegment(digest)
    }
    return journal
  }

  /** The last durable record. */
  get position(): LastRecord {
    return this.#last
  }

  /** The batch that poisoned the journal; undefined for a seal, which has no requests. */
  get refused(): RefusedBatch | undefined {
    return this.#refused
  }

  /** Place of the next batch. */
  get place(): JournalPlace {
    return {
      segmentNumber: this.#segmentNumber,
      segmentFirstSequence: this.#firstSequence,
      offset: this.#offset,
    }
  }

  /** `position` and `place` after the commit of the started batch; valid until a record is added to it. */
  get positionAfter(): AppliedPosition {
    return positionAfter(this.#built(), this.#builder.times, this.place, this.#builder.bytes)
  }

  /** Bytes of batches that certainly fit without new space from the file system. Below zero the next batch may not. */
  get roomBytes(): number {
    const kept = this.#roomOfBatch
    const here = this.#aheadBytes - this.#offset - kept
    return this.#spare.ready ? Math.max(0, here) + this.#options.segmentBytes - SEGMENT_HEADER.bytes - kept : here
  }

  /** Room that a segment must have for a new batch. */
  get #roomOfBatch(): number {
    return this.batchBytesMaximum + SEAL_BATCH_BYTES_MAXIMUM
  }

  /** Creates the next segment ahead of need. Called when idle and after space was freed. */
  prepareSpare(): Promise<void> {
    return this.#spare.prepare()
  }

  /**
   * Starts a batch; a segment without room for a whole batch is sealed first. Nothing of the batch may be written
   * before, not even its small payloads: this call detects another process that writes the store.
   * @param inNewSegment seals the segment in any case, so that order times go back only at the beginning of one
   * @throws JournalPoisonedError
   */
  begin(inNewSegment = false): BatchBuilder {
    if (this.#poison !== undefined) throw this.#poison
    const isFull = this.#offset + this.#roomOfBatch > this.#options.segmentBytes
    if ((isFull || inNewSegment) && this.#offset > SEGMENT_HEADER.bytes) this.#guarded(() => this.#roll())
    this.#guarded(() => this.#requireSoleWriter(FIRST_LOOK_BYTES))
    // A time that ends an export with one batch never has records of the next one on its other side.
    this.#builder.begin(this.#nextSequence, 1)
    return this.#builder
  }

  /** Forgets a batch that was begun and is not durable. */
  abandon(): void {
    this.#builder.rewind(this.#last.head, this.#last)
  }

  /**
   * Writes and syncs the batch. Its records are durable when this returns, and must not be visible before.
   * @throws JournalPoisonedError for this and every later call, when the write or the sync failed
   */
  commit(): void {
    this.#guarded(() => this.#write(false))
  }

  /** Waits for background work and closes the files; writes nothing. */
  async close(): Promise<void> {
    await this.#spare.close()
    this.#file.close()
  }

  #guarded(work: () => void): void {
    if (this.#poison !== undefined) throw this.#poison
    try {
      work()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#poison = new JournalPoisonedError(`journal write or sync failed: ${reason}`, { cause: error })
      throw this.#poison
    }
  }

  #write(seals: boolean): void {
    const count = this.#builder.recordCount
    const bytes = this.#builder.finish(this.#nextBatch, this.#segmentNumber, seals)
    this.#requireSoleWriter(bytes.length)
    try {
      this.#file.writeAt(bytes, this.#offset)
      this.#sync()
    } catch (error) {
      if (!seals) this.#refused = { last: this.#last, hash: Uint8Array.from(this.#builder.head) }
      throw error
    }
    this.statistics.syncs += 1
    this.statistics.records += count
    this.statistics.batches += 1
    this.statistics.bytes += bytes.length
    this.#content.update(bytes)
    this.#offset += bytes.length
    this.#last = this.#built()
    this.#nextSequence = this.#builder.nextSequence
    this.#nextBatch += 1
  }

  #sync(): void {
    const before = performance.now()
    this.#file.sync()
    const seconds = (performance.now() - before) / 1000
    this.statistics.syncSeconds += seconds
    this.#options.onSync?.(seconds)
  }

  /** The last record of the batch that is being built. */
  #built(): LastRecord {
    const { nextSequence, head, timesOfLast } = this.#builder
    const { orderMicroseconds, timeMicroseconds } = timesOfLast
    const sequence = previous(nextSequence)
    return { sequence, batch: this.#nextBatch, head: Uint8Array.from(head), orderMicroseconds, timeMicroseconds }
  }

  /**
   * The second line after the lock: segments are filled with zeros ahead, so other bytes at the place of the next batch
   * come from another writer, and are not overwritten. The file may end there, when it was made without a spare.
   */
  #requireSoleWriter(length: number): void {
    const { lockPath } = this.#options
    if (lockPath !== undefined && !this.#disk.exists(lockPath)) {
      throw new Error(`the lock ${lockPath} was removed, so another process may write this store; nothing was written`)
    }
    for (let at = 0; at < length; at += LOOK_BYTES) {
      const count = this.#file.readAt(this.#found, this.#offset + at, Math.min(LOOK_BYTES, length - at))
      if (this.#found.compare(ZEROS, 0, count, 0, count) === 0) continue
      const place = `offset ${this.#offset} of ${this.#paths.segment(this.#firstSequence)}`
      throw new Error(`another process wrote at ${place}, where the next batch goes; nothing was overwritten`)
    }
  }

  /** Seals the segment and continues in the next one (J13). */
  #roll(): void {
    const contentDigest = this.#content.copy().digest()
    this.#builder.begin(this.#nextSequence)
    // The host's clock is not asked: a seal has the times of the record before.
    const seal = {
      segmentNumber: this.#segmentNumber,
      firstSequence: this.#firstSequence,
      lastSequence: previous(this.#nextSequence),
      lengthBytes: this.#offset,
      contentDigest,
    }
    this.#builder.addAgain(RECORD_KIND.seal, this.#last, encodeSeal(seal))
    this.#write(true)
    this.#finishSegment(contentDigest)
  }

  /** From a durable seal to the next segment, ready for its first batch. A repeat after a crash is harmless. */
  #finishSegment(contentDigest: Uint8Array): void {
    if (this.#file.size() > this.#offset) this.#file.truncate(this.#offset)
    this.#file.seal()
    this.#file.close()
    const header = encodeSegmentHeader({
      segmentNumber: this.#segmentNumber + 1,
      firstSequence: this.#nextSequence,
      firstBatch: this.#nextBatch,
      createdMicroseconds: this.#builder.order,
      deploymentId: this.deploymentId,
      chainHead: this.#builder.head,
      previousDigest: contentDigest,
    })
    const path = this.#paths.segment(this.#nextSequence)
    this.#file = this.#spare.take(path, header) ?? createSegment(this.#disk, this.#paths, this.#nextSequence, header)
    this.#segmentNumber += 1
    this.#firstSequence = this.#nextSequence
    this.#offset = header.length
    this.#aheadBytes = this.#file.size()
    this.#content = createHash('sha256').update(header)
    void this.#spare.prepare()
  }
}

interface WriterStart {
  readonly file: DiskFile
  readonly segmentNumber: number
  readonly firstSequence: Sequence
  readonly offset: number
  readonly next: Readonly<NextRecord>
  readonly content: Hash
  readonly deploymentId: Uint8Array
}
