import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { Disk, DiskFile } from '../disk/disk.ts'
import { SpareFile } from '../disk/spare-file.ts'
import type { StorePaths } from '../disk/store-paths.ts'
import { BatchBuilder } from './batch-builder.ts'
import { encodeGenesis, encodeSeal, type Genesis } from './bodies.ts'
import { BATCH_BYTES_MAXIMUM, RECORD_KIND, SEAL_BATCH_BYTES_MAXIMUM, SEGMENT_HEADER, ZERO_HASH } from './format.ts'
import { JournalPoisonedError } from './journal-errors.ts'
import { contentHash, type JournalTail, rewriteSegment } from './recovery.ts'
import { encodeSegmentHeader } from './segment.ts'

/** Where the journal stands: the last durable record, and where the batch that holds it begins. */
export interface JournalPosition {
  readonly sequence: number
  readonly batch: number
  readonly head: Uint8Array
  readonly timeMicroseconds: number
}

/** A place in the journal's files. */
export interface JournalPlace {
  readonly segmentNumber: number
  /** First sequence of the segment: the name of its file. */
  readonly segmentFirstSequence: number
  readonly offset: number
}

export interface JournalOptions {
  /** Length a segment is written ahead to; it is sealed before a batch could pass it. */
  readonly segmentBytes: number
}

/** Counters of the journal since the start. */
export interface JournalStatistics {
  records: number
  batches: number
  bytes: number
  syncs: number
  syncSeconds: number
}

const ZEROS = Buffer.alloc(1 << 20)

/** A batch takes at most this share of a segment, so that small segments work too. */
const SEGMENT_SHARE = 4

/**
 * The writer of the journal: one batch, one write, one sync, in this order and never two at a time (J2, J3). After a
 * failed write or sync it is poisoned and stays so; the file is not touched again (J7).
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
  #file: DiskFile
  #segmentNumber: number
  #firstSequence: number
  #offset: number
  #nextSequence: number
  #nextBatch: number
  #content: Hash
  #poison: JournalPoisonedError | undefined

  private constructor(disk: Disk, paths: StorePaths, options: JournalOptions, start: WriterStart) {
    this.#disk = disk
    this.#paths = paths
    this.#options = options
    this.#file = start.file
    this.#segmentNumber = start.segmentNumber
    this.#firstSequence = start.firstSequence
    this.#offset = start.offset
    this.#nextSequence = start.nextSequence
    this.#nextBatch = start.nextBatch
    this.#content = start.content
    this.deploymentId = start.deploymentId
    this.batchBytesMaximum = Math.min(BATCH_BYTES_MAXIMUM, Math.floor(options.segmentBytes / SEGMENT_SHARE))
    this.#builder = new BatchBuilder(start.head, start.timeMicroseconds)
    this.#spare = new SpareFile(disk, paths.journal, paths.journalSpare, options.segmentBytes)
    void this.#spare.prepare()
  }

  /** Makes the first segment with its genesis record. It appears under its name whole or not at all. */
  static create(
    disk: Disk,
    paths: StorePaths,
    options: JournalOptions,
    genesis: Genesis,
    timeMicroseconds: number,
  ): Journal {
    const header = encodeSegmentHeader({
      segmentNumber: 0,
      firstSequence: 0,
      firstBatch: 0,
      createdMicroseconds: timeMicroseconds,
      deploymentId: genesis.deploymentId,
      chainHead: ZERO_HASH,
      previousDigest: ZERO_HASH,
    })
    const builder = new BatchBuilder(ZERO_HASH, timeMicroseconds)
    builder.begin(0)
    builder.add(RECORD_KIND.genesis, timeMicroseconds, encodeGenesis(genesis))
    const first = Buffer.concat([header, builder.finish(0, 0, false)])
    const file = createSegment(disk, paths, 0, first, options.segmentBytes)
    return new Journal(disk, paths, options, {
      file,
      segmentNumber: 0,
      firstSequence: 0,
      offset: first.length,
      nextSequence: 1,
      nextBatch: 1,
      content: createHash('sha256').update(first),
      deploymentId: genesis.deploymentId,
      head: builder.head,
      timeMicroseconds,
    })
  }

  /** Goes on behind the tail that recovery found. `cleanStop`: the tail is known to be on the medium. */
  static open(disk: Disk, paths: StorePaths, options: JournalOptions, tail: JournalTail, cleanStop: boolean): Journal {
    if (!cleanStop || tail.cut !== undefined) rewriteSegment(disk, paths, tail, options.segmentBytes)
    const { header } = tail.segment
    const journal = new Journal(disk, paths, options, {
      file: openTail(disk, tail),
      segmentNumber: header.segmentNumber,
      firstSequence: header.firstSequence,
      offset: tail.offset,
      nextSequence: tail.position.sequence,
      nextBatch: tail.position.batch,
      content: contentHash(disk, tail.segment.path, tail.offset),
      deploymentId: header.deploymentId,
      head: tail.position.head,
      timeMicroseconds: tail.position.timeMicroseconds,
    })
    if (tail.sealed) {
      const digest = tail.sealDigest
      if (digest === undefined) throw new Error('a sealed tail must state its digest')
      journal.#finishSegment(digest)
    }
    return journal
  }

  /** The last durable record. */
  get position(): JournalPosition {
    return {
      sequence: this.#nextSequence - 1,
      batch: this.#nextBatch - 1,
      head: Uint8Array.from(this.#builder.head),
      timeMicroseconds: this.#builder.time,
    }
  }

  /** Where the next batch goes. */
  get place(): JournalPlace {
    return {
      segmentNumber: this.#segmentNumber,
      segmentFirstSequence: this.#firstSequence,
      offset: this.#offset,
    }
  }

  /** Bytes that can still be written without taking new space from the file system. */
  get reservedBytes(): number {
    const here = Math.max(0, this.#options.segmentBytes - this.#offset - SEAL_BATCH_BYTES_MAXIMUM)
    return here + (this.#spare.ready ? this.#options.segmentBytes : 0)
  }

  /** Makes the next segment ahead, if there is none. Called when idle and after space was given back. */
  prepareSpare(): Promise<void> {
    return this.#spare.prepare()
  }

  /**
   * Begins a batch; a segment without room for a whole one is sealed first.
   * @throws JournalPoisonedError
   */
  begin(): BatchBuilder {
    if (this.#poison !== undefined) throw this.#poison
    const needed = this.batchBytesMaximum + SEAL_BATCH_BYTES_MAXIMUM
    if (this.#offset + needed > this.#options.segmentBytes && this.#offset > SEGMENT_HEADER.bytes) {
      this.#guarded(() => this.#roll())
    }
    this.#builder.begin(this.#nextSequence)
    return this.#builder
  }

  /** Forgets the batch that was begun; nothing of it was written. */
  abandon(head: Uint8Array, timeMicroseconds: number): void {
    this.#builder.rewind(head, timeMicroseconds)
  }

  /**
   * Writes and syncs the batch. When this returns its records are durable; nothing of them may be visible before.
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
    this.#file.writeAt(bytes, this.#offset)
    const before = performance.now()
    this.#file.sync()
    this.statistics.syncSeconds += (performance.now() - before) / 1000
    this.statistics.syncs += 1
    this.statistics.records += count
    this.statistics.batches += 1
    this.statistics.bytes += bytes.length
    this.#content.update(bytes)
    this.#offset += bytes.length
    this.#nextSequence += count
    this.#nextBatch += 1
  }

  /** Seals the segment and goes on in the next one (J13). */
  #roll(): void {
    const contentDigest = this.#content.copy().digest()
    this.#builder.begin(this.#nextSequence)
    this.#builder.add(
      RECORD_KIND.seal,
      this.#builder.time,
      encodeSeal({
        segmentNumber: this.#segmentNumber,
        firstSequence: this.#firstSequence,
        lastSequence: this.#nextSequence - 1,
        lengthBytes: this.#offset,
        contentDigest,
      }),
    )
    this.#write(true)
    this.#finishSegment(contentDigest)
  }

  /** From a durable seal to the next segment ready for its first batch. Repeating it after a crash is harmless. */
  #finishSegment(contentDigest: Uint8Array): void {
    if (this.#file.size() > this.#offset) this.#file.truncate(this.#offset)
    this.#file.seal()
    this.#file.close()
    const header = encodeSegmentHeader({
      segmentNumber: this.#segmentNumber + 1,
      firstSequence: this.#nextSequence,
      firstBatch: this.#nextBatch,
      createdMicroseconds: this.#builder.time,
      deploymentId: this.deploymentId,
      chainHead: this.#builder.head,
      previousDigest: contentDigest,
    })
    const path = this.#paths.segment(this.#nextSequence)
    this.#file = this.#spare.take(path, header) ?? createSegment(this.#disk, this.#paths, this.#nextSequence, header)
    this.#segmentNumber += 1
    this.#firstSequence = this.#nextSequence
    this.#offset = header.length
    this.#content = createHash('sha256').update(header)
    void this.#spare.prepare()
  }
}

interface WriterStart {
  readonly file: DiskFile
  readonly segmentNumber: number
  readonly firstSequence: number
  readonly offset: number
  readonly nextSequence: number
  readonly nextBatch: number
  readonly content: Hash
  readonly deploymentId: Uint8Array
  readonly head: Uint8Array
  readonly timeMicroseconds: number
}

/** A sealed segment that was cut to its length may be read-only already; nothing is written to it any more. */
function openTail(disk: Disk, tail: JournalTail): DiskFile {
  const { path } = tail.segment
  return tail.sealed && disk.sizeOf(path) === tail.offset ? disk.openToRead(path) : disk.openToWrite(path)
}

/**
 * A segment without a spare. It is written ahead to `capacityBytes`; without that it grows as it is written. Written
 * aside and renamed, so it is never seen half made.
 */
function createSegment(
  disk: Disk,
  paths: StorePaths,
  firstSequence: number,
  bytes: Buffer,
  capacityBytes: number = bytes.length,
): DiskFile {
  const making = `${paths.segment(firstSequence)}.making`
  disk.remove(making)
  const file = disk.create(making)
  file.writeAt(bytes, 0)
  for (let at = bytes.length; at < capacityBytes; at += ZEROS.length) {
    file.writeAt(ZEROS.subarray(0, Math.min(ZEROS.length, capacityBytes - at)), at)
  }
  file.sync()
  disk.rename(making, paths.segment(firstSequence))
  disk.syncDirectory(paths.journal)
  return file
}
