import { examineBatch, type Finding, faultOf } from './batch-examination.ts'
import { ChainWalker } from './chain-walker.ts'
import type { ColdFault } from './cold/segment-source.ts'
import {
  ALIGNMENT_BYTES,
  BATCH_HEADER_BYTES,
  BATCH_TRAILER_BYTES,
  type BatchHeader,
  batchBytes,
  readSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  sequenceInName,
} from './format-reader.ts'
import { NewerKinds } from './newer-kinds.ts'
import { ProgressMeter, type ReportProgress } from './threads/progress-meter.ts'
import type { SegmentJob, SegmentResult, TornTail } from './segment-result.ts'
import { SegmentWindow } from './segment-window.ts'
import { examineGenesis, examineSeal, type Objection, sealPlaceObjections } from './special-records.ts'
import { endOfNonZero, findBatchHeader, findNonZero } from './tail-scan.ts'
import { ProblemList, type Verdict } from './verdicts.ts'

/**
 * Verifies one segment file, reading only. It reports damage and continues after it. It is synchronous: call it in a
 * separate thread for segments of normal size.
 * @param window on the file of the job; it is closed at the end
 * @throws the system's error when the file cannot be read
 */
export function verifySegment(
  job: SegmentJob,
  reportProgress: ReportProgress,
  window: SegmentWindow = new SegmentWindow(job.path),
): SegmentResult {
  try {
    return new SegmentVerifier(job, window, reportProgress).run()
  } finally {
    window.close()
  }
}

class SegmentVerifier {
  readonly #job: SegmentJob
  readonly #window: SegmentWindow
  readonly #progress: ProgressMeter
  readonly #problems = new ProblemList()
  readonly #newer = new NewerKinds()
  readonly #chain: ChainWalker
  /** Whether the segment may be open: it is the last one, and not cold. */
  readonly #mayBeOpen: boolean
  #header: SegmentHeader | undefined
  /** Known from the header or, when that is damaged, from the first readable batch. */
  #segmentNumber: number | undefined
  #firstBatchNumber: number | undefined
  #nextBatchNumber: number | undefined
  #firstSequence: number
  #offset = SEGMENT_HEADER_BYTES
  #finished = false
  #batches = 0
  /** Faults of the cold file that were reported. */
  #faultsReported = 0
  #statedDigest: string | undefined
  #genesisDeploymentId: string | undefined
  #genesisMasterKeyCheck: string | undefined
  #tornTail: TornTail | undefined
  /** The place that was read a second time, and whether a later batch followed it before that. */
  #secondRead: { readonly offset: number; readonly laterBatch: boolean } | undefined

  constructor(job: SegmentJob, window: SegmentWindow, reportProgress: ReportProgress) {
    this.#job = job
    this.#window = window
    this.#mayBeOpen = job.isLast && !window.isCold
    this.#progress = new ProgressMeter(reportProgress)
    const segment = job.name
    this.#chain = new ChainWalker(
      window,
      job.watched,
      (offset, sequence, verdict, detail) => this.#problems.add({ segment, offset, sequence, verdict, detail }),
      (offset, sequence, what) => this.#newer.add({ what, count: 1, segment, offset, sequence }),
    )
    this.#firstSequence = sequenceInName(job.name)
    this.#chain.nextSequence = this.#firstSequence
  }

  run(): SegmentResult {
    this.#readHeader()
    while (!this.#finished) {
      this.#step()
      this.#progress.advance(this.#offset, this.#chain.records)
    }
    this.#reportFaults(Number.POSITIVE_INFINITY)
    this.#progress.finish(this.#offset, this.#chain.records)
    const chain = this.#chain
    return {
      name: this.#job.name,
      isCold: this.#window.isCold,
      header: this.#header,
      segmentNumber: this.#segmentNumber,
      firstSequence: this.#firstSequence,
      firstBatchNumber: this.#firstBatchNumber,
      firstPreviousHash: this.#header?.chainHead ?? chain.firstPreviousHash,
      firstTime: chain.firstTime,
      nextSequence: chain.nextSequence,
      nextBatchNumber: this.#nextBatchNumber,
      lastHash: chain.previousKnown ? chain.lastHash : undefined,
      lastTime: chain.lastTime,
      statedDigest: this.#statedDigest,
      genesisDeploymentId: this.#genesisDeploymentId,
      genesisMasterKeyCheck: this.#genesisMasterKeyCheck,
      records: chain.records,
      batches: this.#batches,
      bytes: this.#offset,
      tornTail: this.#tornTail,
      found: chain.found,
      openAttempts: chain.entries.open,
      distantChanges: chain.entries.distant,
      access: chain.entries.access,
      checkpoints: chain.entries.checkpoints,
      handovers: chain.entries.handovers,
      otherPrincipals: chain.entries.otherPrincipals,
      newer: this.#newer.all,
      problems: this.#problems.kept,
      problemCount: this.#problems.count,
    }
  }

  #report(offset: number, sequence: number, verdict: Verdict, detail: string): void {
    this.#problems.add({ segment: this.#job.name, offset, sequence, verdict, detail })
  }

  #object(offset: number, sequence: number, objections: readonly Objection[]): void {
    for (const { verdict, detail } of objections) this.#report(offset, sequence, verdict, detail)
  }

  /**
   * Reports faults of the file itself, up to an offset in the plain segment. Reading runs ahead of the records:
   * a fault is reported with the batch that it concerns, so that its sequence is known.
   */
  #reportFaults(end: number): void {
    const { faults } = this.#window
    for (; this.#faultsReported < faults.length; this.#faultsReported += 1) {
      const { offset, detail } = faults[this.#faultsReported] as ColdFault
      if (offset >= end) return
      this.#report(offset, this.#chain.nextSequence, 'damaged batch', detail)
    }
  }

  #readHeader(): void {
    let header = this.#tryHeader()
    if ('fault' in header && this.#mayBeOpen) {
      this.#window.settle(this.#job.settleMilliseconds)
      header = this.#tryHeader()
    }
    this.#reportFaults(SEGMENT_HEADER_BYTES)
    // A cold segment without its index is unreadable.
    this.#finished = this.#window.isCold && this.#window.size === 0
    if (this.#finished) return
    if ('fault' in header) return this.#report(0, this.#firstSequence, 'damaged batch', header.fault)
    if (header.firstSequence !== this.#firstSequence) {
      const detail = `the header states the first sequence ${header.firstSequence}; the file's name says ${this.#firstSequence}`
      this.#report(0, this.#firstSequence, 'damaged batch', detail)
    }
    this.#header = header
    this.#segmentNumber = header.segmentNumber
    this.#firstSequence = header.firstSequence
    this.#firstBatchNumber = header.firstBatchNumber
    this.#nextBatchNumber = header.firstBatchNumber
    this.#chain.nextSequence = header.firstSequence
    this.#chain.expectPrevious(header.chainHead)
  }

  #tryHeader(): SegmentHeader | { readonly fault: string } {
    if (!this.#window.ensure(0, SEGMENT_HEADER_BYTES)) return { fault: 'the file is shorter than a segment header' }
    return readSegmentHeader(this.#window.bytes)
  }

  #step(): void {
    const finding = examineBatch(this.#window, this.#offset, {
      segmentNumber: this.#segmentNumber,
      batchNumber: this.#nextBatchNumber,
      sequence: this.#chain.nextSequence,
    })
    const header = finding.state === 'end' ? undefined : finding.header
    this.#reportFaults(this.#offset + (header === undefined ? BATCH_HEADER_BYTES : batchBytes(header)))
    if (finding.state === 'batch' && finding.jump === undefined) return this.#acceptBatch(finding.header)
    if (finding.state === 'end' && findNonZero(this.#window, this.#offset) === undefined) return this.#endOfData()
    if (this.#mayBeOpen && this.#secondRead?.offset !== this.#offset) return this.#readAgain()
    const mayBeTorn = this.#mayBeOpen && (finding.state === 'end' || finding.state === 'torn')
    if (mayBeTorn && this.#secondRead?.laterBatch === false) return this.#endInTornTail(finding)
    return this.#passDamage(finding)
  }

  /** Verifies the records of a batch with correct checksums, and moves on. */
  #acceptBatch(header: BatchHeader): void {
    const start = this.#offset + BATCH_HEADER_BYTES
    this.#firstBatchNumber ??= header.batchNumber
    this.#segmentNumber ??= header.segmentNumber
    if (this.#chain.nextSequence !== header.firstSequence) this.#chain.resumeAt(header.firstSequence)
    const walked = this.#chain.walk(start, start + header.recordBytes, header.batchNumber)
    if (walked.misfitOffset !== undefined) {
      const detail = 'the records do not fill the batch exactly'
      this.#report(walked.misfitOffset, this.#chain.nextSequence, 'damaged batch', detail)
      this.#chain.resumeAt(header.firstSequence + header.recordCount)
    } else if (walked.count !== header.recordCount) {
      const detail = `the batch states ${header.recordCount} records and holds ${walked.count}`
      this.#report(this.#offset, header.firstSequence, 'damaged batch', detail)
    }
    this.#batches += 1
    this.#nextBatchNumber = header.batchNumber + 1
    const batchOffset = this.#offset
    this.#offset += batchBytes(header)
    this.#examineSpecial(batchOffset, { flagged: header.seals, alone: walked.count === 1 })
  }

  /**
   * Checks genesis and seal among the records of the last batch.
   * @param batch `flagged`: the header marks it as sealing, undefined when the header could not be read;
   *   `alone`: it holds one record
   */
  #examineSpecial(
    batchOffset: number,
    batch: { readonly flagged: boolean | undefined; readonly alone: boolean },
  ): void {
    const special = this.#chain.takeSpecial()
    const seal = special.find((record) => record.kind === 'seal')
    const genesis = special.find((record) => record.kind === 'genesis')
    if (genesis !== undefined) {
      const examined = examineGenesis(genesis, this.#header?.deploymentId)
      this.#genesisDeploymentId = examined.deploymentId
      this.#genesisMasterKeyCheck = examined.masterKeyCheck
      this.#object(genesis.offset, genesis.sequence, examined.objections)
    }
    const flagged = batch.flagged ?? seal !== undefined
    this.#object(
      batchOffset,
      this.#chain.nextSequence - 1,
      sealPlaceObjections(flagged, seal !== undefined, batch.alone),
    )
    if (!flagged || seal === undefined) return
    const { seal: stated, objections } = examineSeal(seal, {
      segmentNumber: this.#segmentNumber,
      firstSequence: this.#firstSequence,
      length: batchOffset,
      contentDigest: this.#window.digestBefore(batchOffset),
    })
    this.#object(seal.offset, seal.sequence, objections)
    this.#statedDigest = stated?.contentDigest
    this.#finished = true
    this.#examineAfterSeal()
  }

  /** A crash between the seal and the truncation of the file leaves zeros after it, in the last segment only. */
  #examineAfterSeal(): void {
    this.#window.refresh()
    const surplus = this.#window.size - this.#offset
    const allowed = this.#mayBeOpen && findNonZero(this.#window, this.#offset) === undefined
    if (surplus <= 0 || allowed) return
    this.#report(
      this.#offset,
      this.#chain.nextSequence,
      'damaged batch',
      `${surplus} bytes stand behind the sealing batch`,
    )
  }

  #endOfData(): void {
    this.#finished = true
    if (this.#mayBeOpen) return
    const detail = this.#job.isLast
      ? 'the segment is compressed and ends without a seal'
      : 'the segment ends without a seal, although another segment follows'
    this.#report(this.#offset, this.#chain.nextSequence, 'damaged batch', detail)
  }

  /**
   * Remembers whether a later batch follows, then reads the same place again. In this order: if a later batch had begun, a
   * batch that was being written here was complete by then, and the second read finds it whole.
   */
  #readAgain(): void {
    const laterBatch = this.#findBatch((this.#nextBatchNumber ?? 0) + 1) !== undefined
    this.#secondRead = { offset: this.#offset, laterBatch }
    this.#window.settle(this.#job.settleMilliseconds)
  }

  /** Offset of the next valid header of this segment with at least this batch number. */
  #findBatch(batchNumberMinimum: number): number | undefined {
    return findBatchHeader(this.#window, this.#offset + ALIGNMENT_BYTES, this.#segmentNumber, batchNumberMinimum)
  }

  #endInTornTail(finding: Finding): void {
    this.#finished = true
    this.#tornTail = {
      segment: this.#job.name,
      offset: this.#offset,
      bytes: endOfNonZero(this.#window, this.#offset) - this.#offset,
      sequence: this.#chain.nextSequence,
      detail: faultOf(finding),
    }
  }

  /** Reports the fault of the batch at the current offset, verifies the records that it can, and moves on. */
  #passDamage(finding: Finding): void {
    const jump = finding.state === 'end' ? undefined : finding.jump
    if (jump !== undefined) this.#report(this.#offset, this.#chain.nextSequence, jump.verdict, jump.detail)
    if (finding.state === 'batch') return this.#acceptBatch(finding.header)
    this.#report(this.#offset, this.#chain.nextSequence, 'damaged batch', faultOf(finding))
    if (finding.state === 'end' || finding.header === undefined || !finding.inside) return this.#passUnreadable()
    const { header } = finding
    const batchOffset = this.#offset
    if (finding.foreign) {
      this.#offset += batchBytes(header)
      return
    }
    if (jump !== undefined) this.#chain.resumeAt(header.firstSequence)
    const verified = this.#walkDamaged(header.recordBytes)
    if (!verified) this.#chain.resumeAt(header.firstSequence + header.recordCount)
    this.#nextBatchNumber = header.batchNumber + 1
    this.#offset += batchBytes(header)
    if (verified) this.#examineSpecial(batchOffset, { flagged: header.seals, alone: true })
  }

  /** Skips a batch of unknown length, up to the next valid header. */
  #passUnreadable(): void {
    const next = this.#nextBatchNumber ?? 0
    const found = this.#findBatch(next)
    const batchOffset = this.#offset
    const end = found ?? this.#window.size
    const recordBytes = end - batchOffset - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES
    const verified = recordBytes > 0 && this.#walkDamaged(recordBytes)
    if (verified) this.#nextBatchNumber = next + 1
    else this.#chain.previousKnown = false
    this.#finished = found === undefined
    this.#offset = end
    if (verified) this.#examineSpecial(batchOffset, { flagged: undefined, alone: true })
  }

  /** Verifies the records of a damaged batch, if they still have their form. */
  #walkDamaged(recordBytes: number): boolean {
    const start = this.#offset + BATCH_HEADER_BYTES
    const readable = this.#window.ensure(this.#offset, BATCH_HEADER_BYTES + recordBytes)
    if (!readable || !this.#chain.fits(start, start + recordBytes)) return false
    this.#chain.walk(start, start + recordBytes, this.#nextBatchNumber ?? 0)
    this.#batches += 1
    return true
  }
}
