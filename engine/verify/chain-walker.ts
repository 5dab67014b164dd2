import {
  BODY,
  HOST_TIME_BYTES,
  hostTimeBytes,
  isZero,
  KIND,
  paddedRecordBytes,
  readUnsigned64,
  RECORD,
  RECORD_HEADER_BYTES,
  TIMES_AGREE,
} from './format-reader.ts'
import { EntryExaminer } from './entry-examiner.ts'
import { HASH_WORDS, RecordHasher } from './record-hasher.ts'
import type { SegmentWindow } from './segment-window.ts'
import type { Verdict } from './verdicts.ts'
import { readEntry } from './entry-form.ts'
import { after, arrayAt, integerAt } from './message-pack.ts'

const PREVIOUS_HASH_WORD = RECORD.previousHash / 4
/** Kind and body version of an entry, read as one integer: nearly every record has one of these. */
const CHANGE_MARK = KIND.change * 0x1_0000 + BODY.plain
const AUDIT_MARK = KIND.audit * 0x1_0000 + BODY.plain

/** A record whose body the verifier reads: genesis or seal. */
export interface SpecialRecord {
  readonly kind: 'genesis' | 'seal'
  readonly sequence: number
  /** Offset in the file. */
  readonly offset: number
  /** A copy of the body; undefined when its version is a newer one. */
  readonly body: Buffer | undefined
}

/** A record that the caller asked for by its sequence. */
export interface WatchedRecord {
  readonly sequence: number
  readonly hash: string
  readonly batchNumber: number
  /** Offset in the file. */
  readonly offset: number
}

type ReportRecord = (offset: number, sequence: number, verdict: Verdict, detail: string) => void
/** A record that is right as one, and has something that this verifier does not know. */
type ReportNewer = (offset: number, sequence: number, what: string) => void

/**
 * Follows the chain through the records of one segment: sequence, time, link and hash of each. From batch to batch it
 * keeps what the next record must continue.
 */
export class ChainWalker {
  /** The sequence that the next record must have. */
  nextSequence = 0
  /** False when the record before could not be read. */
  previousKnown = false
  /** Time of the last record, in microseconds. */
  lastTime = 0
  /** Time of the first record, undefined before there was one. */
  firstTime: number | undefined
  /** The previous hash in the first record, undefined before there was one. */
  firstPreviousHash: string | undefined
  records = 0
  #special: SpecialRecord[] = []
  #maySetBack = false
  readonly found: WatchedRecord[] = []
  readonly entries: EntryExaminer
  readonly #previous = new Uint32Array(HASH_WORDS)
  readonly #hasher = new RecordHasher()
  readonly #window: SegmentWindow
  readonly #watched: ReadonlySet<number>
  readonly #report: ReportRecord
  readonly #reportNewer: ReportNewer

  constructor(window: SegmentWindow, watched: readonly number[], report: ReportRecord, reportNewer: ReportNewer) {
    this.#window = window
    this.#watched = new Set(watched)
    this.#report = report
    this.#reportNewer = reportNewer
    this.entries = new EntryExaminer(
      (sequence, offset, verdict, detail) => report(offset, sequence, verdict, detail),
      (sequence, offset, what) => reportNewer(offset, sequence, what),
    )
  }

  /** Sets the previous hash that the next record must have. */
  expectPrevious(hash: string): void {
    Buffer.from(this.#previous.buffer).write(hash, 'hex')
    this.previousKnown = true
  }

  /** Continues with another sequence than the next one, after records that are missing or cannot be read. */
  resumeAt(sequence: number): void {
    this.nextSequence = sequence
    this.previousKnown = false
  }

  /** The genesis or seals found since the last call. */
  takeSpecial(): readonly SpecialRecord[] {
    const taken = this.#special
    if (taken.length > 0) this.#special = []
    return taken
  }

  /** The hash in the last record, in hexadecimal. Meaningful while `previousKnown`. */
  get lastHash(): string {
    return Buffer.from(this.#previous.buffer).toString('hex')
  }

  /**
   * Verifies the records between two file offsets, all in the window.
   * @returns their number and, when they do not fill the range exactly, where that shows
   */
  walk(offset: number, end: number, batchNumber: number): { count: number; misfitOffset?: number } {
    const { bytes, base } = this.#window
    const stop = end - base
    let position = offset - base
    for (let count = 0; ; count += 1) {
      if (position === stop) return { count }
      const bodyBytes = stop - position < RECORD_HEADER_BYTES ? stop : bytes.readUInt32BE(position + RECORD.length)
      const next = position + paddedRecordBytes(bodyBytes)
      if (next > stop) return { count, misfitOffset: position + base }
      // An entry that sets the clock back is the second of the two records of its batch.
      this.#maySetBack = count === 1 && next === stop
      this.#verifyRecord(position, bodyBytes, next, batchNumber)
      position = next
    }
  }

  /** Whether records fill the range exactly and continue the sequence: then they can be verified. */
  fits(offset: number, end: number): boolean {
    const { bytes, base } = this.#window
    const stop = end - base
    let sequence = this.nextSequence
    let position = offset - base
    while (stop - position >= RECORD_HEADER_BYTES) {
      if (readUnsigned64(bytes, position + RECORD.sequence) !== sequence) return false
      position += paddedRecordBytes(bytes.readUInt32BE(position + RECORD.length))
      sequence += 1
    }
    return position === stop && sequence > this.nextSequence
  }

  #verifyRecord(position: number, bodyBytes: number, next: number, batchNumber: number): void {
    const { bytes, words, memory, base } = this.#window
    const sequence = readUnsigned64(bytes, position + RECORD.sequence)
    const time = readUnsigned64(bytes, position + RECORD.time)
    const bodyEnd = position + RECORD_HEADER_BYTES + bodyBytes
    const word = position / 4
    this.firstTime ??= time
    this.firstPreviousHash ??= this.#hexadecimal(position + RECORD.previousHash)
    if (sequence !== this.nextSequence) this.#reportSequence(position, sequence)
    const isSetBack = time < this.lastTime && this.#setsBack(position, bodyEnd, time)
    if (time < this.lastTime && !isSetBack) this.#reportTime(position, sequence, time)
    if (this.previousKnown && !sameWords(words, word + PREVIOUS_HASH_WORD, this.#previous)) {
      const expected = this.lastHash
      const detail = `the previous hash is ${this.#hexadecimal(position + RECORD.previousHash)}; the record before has ${expected}`
      this.#report(base + position, sequence, 'broken link to the previous record', detail)
    }
    this.#hasher.hash(memory, position, bodyEnd)
    const unchanged = sameWords(words, word, this.#hasher.words)
    if (!unchanged) {
      const detail = `the record states the hash ${this.#hexadecimal(position)} and hashes to ${this.#hasher.hexadecimal}`
      this.#report(base + position, sequence, 'content changed', detail)
    }
    if (!isZero(bytes, bodyEnd, next)) {
      this.#report(base + position, sequence, 'damaged batch', 'the padding of the record is not zero')
    }
    // The host's time is no part of what follows, and both body versions have the same marks.
    const before = hostTimeBytes(bytes, position)
    if (before > 0) this.#examineHostTime(position, sequence, time, bodyBytes)
    const mark = bytes.readUInt32BE(position + RECORD.kind) - (before > 0 ? BODY.withTime - BODY.plain : 0)
    if (bodyBytes < before) {
      // Reported, and nothing is left to read.
    } else if (sequence === 0 || (mark !== CHANGE_MARK && mark !== AUDIT_MARK)) {
      this.#examineSpecial(position, sequence, bodyEnd, unchanged)
    } else {
      const kind = mark === CHANGE_MARK ? KIND.change : KIND.audit
      const place = [position + RECORD_HEADER_BYTES + before, bodyEnd] as const
      const record = { sequence, offset: base + position, start: position, time, kind, unchanged }
      this.entries.examine(bytes, place, record)
    }
    if (this.#watched.has(sequence)) {
      this.found.push({ sequence, hash: this.#hexadecimal(position), batchNumber, offset: base + position })
    }
    for (let index = 0; index < HASH_WORDS; index += 1) this.#previous[index] = words[word + index] as number
    this.previousKnown = true
    this.nextSequence = sequence + 1
    // The time of a changed record does not count: it could make all records after it look wrong.
    if (unchanged && (isSetBack || time > this.lastTime)) this.lastTime = time
    this.records += 1
  }

  #reportSequence(position: number, sequence: number): void {
    const expected = this.nextSequence
    const detail =
      sequence > expected
        ? `sequences ${expected} to ${sequence - 1} are missing before sequence ${sequence}`
        : `sequence ${sequence} stands where ${expected} was expected`
    this.#report(this.#window.base + position, expected, 'record is missing from the log', detail)
    // The record before this one is missing.
    this.previousKnown = false
  }

  /** Whether a record may have an earlier time than the record before. */
  #setsBack(position: number, bodyEnd: number, time: number): boolean {
    const { bytes } = this.#window
    const isPlainChange = bytes.readUInt32BE(position + RECORD.kind) === CHANGE_MARK
    const body = [position + RECORD_HEADER_BYTES, bodyEnd] as const
    return this.#maySetBack && isPlainChange && setsBack(bytes, body, this.lastTime, time)
  }

  #reportTime(position: number, sequence: number, time: number): void {
    const detail = `the time ${time} is before ${this.lastTime}, the time of a record before`
    this.#report(this.#window.base + position, sequence, 'damaged batch', detail)
  }

  /** A host's time is in the body, and before the record's own time by more than a second. */
  #examineHostTime(position: number, sequence: number, time: number, bodyBytes: number): void {
    const { bytes, base } = this.#window
    const start = position + RECORD_HEADER_BYTES
    const host = bodyBytes < HOST_TIME_BYTES ? undefined : readUnsigned64(bytes, start)
    if (host !== undefined && time - host > TIMES_AGREE) return
    const detail =
      host === undefined
        ? 'the body is too short for the time of the host'
        : `the time of the host is ${host}, which is not before ${time} by more than a second`
    this.#report(base + position, sequence, 'damaged batch', detail)
  }

  /** Records that are not entries of a known version: keeps genesis and seal for their check, reports all others. */
  #examineSpecial(position: number, sequence: number, bodyEnd: number, unchanged: boolean): void {
    const { bytes, base } = this.#window
    const kind = bytes.readUInt16BE(position + RECORD.kind)
    const version = bytes.readUInt16BE(position + RECORD.bodyVersion)
    const offset = base + position
    const report = (detail: string): void => this.#report(offset, sequence, 'damaged batch', detail)
    const unknown = (what: string): void =>
      unchanged ? this.#reportNewer(offset, sequence, what) : report(`the record has the unknown ${what}`)
    if (sequence === 0 && kind !== KIND.genesis) return report(`sequence 0 is of kind ${kind} and no genesis`)
    if (sequence !== 0 && kind === KIND.genesis) return report('a genesis stands behind the beginning of the journal')
    const isKnown = version === BODY.plain || version === BODY.withTime
    if (!isKnown) unknown(`body version ${version}`)
    if (kind !== KIND.genesis && kind !== KIND.seal) return isKnown ? unknown(`record kind ${kind}`) : undefined
    const from = position + RECORD_HEADER_BYTES + hostTimeBytes(bytes, position)
    const body = isKnown ? Buffer.from(bytes.subarray(from, bodyEnd)) : undefined
    this.#special.push({ kind: kind === KIND.seal ? 'seal' : 'genesis', sequence, offset, body })
  }

  #hexadecimal(position: number): string {
    return this.#window.bytes.toString('hex', position, position + HASH_WORDS * 4)
  }
}

function sameWords(words: Uint32Array, start: number, other: Uint32Array): boolean {
  for (let index = 0; index < HASH_WORDS; index += 1) if (words[start + index] !== other[index]) return false
  return true
}

/** The change that sets the order time back; its first two fields are the times. */
const CLOCK_SET_BACK = 81

/**
 * Whether the body between two offsets is of a change that sets the order time back between these times, in microseconds,
 * and does nothing else.
 */
function setsBack(bytes: Buffer, [start, end]: readonly [number, number], before: number, time: number): boolean {
  const parts = readEntry(bytes, start, end, KIND.change)
  const changes = parts && arrayAt(bytes, parts.changes, end)
  const fields = changes?.count === 1 ? arrayAt(bytes, changes.at, end) : undefined
  if (fields === undefined || fields.count < 3) return false
  const from = after(bytes, fields.at, end)
  const to = from < 0 ? -1 : after(bytes, from, end)
  if (to < 0) return false
  const [kind, fromTime, toTime] = [fields.at, from, to].map((at) => integerAt(bytes, at, end))
  return kind === CLOCK_SET_BACK && fromTime === before && toTime === time
}
