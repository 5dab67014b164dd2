/** A part of a journal that a reader went past. */
interface UnreadablePart {
  /** The segment and the offset where it shows: of the first bytes that cannot be read, or of the records that follow. */
  readonly segment: string
  readonly offset: number
  /** The records that are missing, as the records around them prove. */
  readonly firstSequence: number
  /** Before `firstSequence` when no record is missing; undefined when nothing after them can be read. */
  readonly lastSequence: number | undefined
  /** Whether there are bytes that cannot be read; otherwise the records are not in the journal. */
  readonly isDamaged: boolean
  /** Of the last record that was read before and the first one after, in microseconds since 1970, where they are known. */
  readonly timeBefore: number | undefined
  readonly timeAfter: number | undefined
}

/** Called in the order of the journal. */
export type ReportUnreadable = (part: UnreadablePart) => void

/** Follows the sequences that a reader meets, and reports each part that it could not read once, with the records that are missing. */
export class SequenceRun {
  readonly #report: ReportUnreadable
  /** Sequence of the next record. */
  #expected: number
  /** Where the first damage since the last record shows. */
  #damage: { readonly segment: string; readonly offset: number } | undefined
  #time: number | undefined

  /** @param first sequence of the record with which the journal or its part has to begin */
  constructor(first: number, report: ReportUnreadable) {
    this.#expected = first
    this.#report = report
  }

  /** Bytes at a place cannot be read. */
  damaged(segment: string, offset: number): void {
    this.#damage ??= { segment, offset }
  }

  /** The record of a sequence is next, at a place. @param time of it, in microseconds since 1970, where it is known */
  reach(sequence: number, segment: string, offset: number, time?: number): void {
    if (sequence > this.#expected || this.#damage !== undefined) this.#end(sequence, { segment, offset }, time)
    this.#expected = Math.max(this.#expected, sequence)
  }

  /** The record of a sequence was read. */
  read(sequence: number, time: number): void {
    this.#expected = Math.max(this.#expected, sequence + 1)
    this.#time = time
  }

  /** All before a sequence is of no interest. */
  skip(sequence: number): void {
    this.#expected = Math.max(this.#expected, sequence)
    this.#time = undefined
    this.#damage = undefined
  }

  /** There is no more of the journal. */
  end(): void {
    if (this.#damage !== undefined) this.#end(undefined, this.#damage, undefined)
  }

  #end(
    following: number | undefined,
    place: { readonly segment: string; readonly offset: number },
    timeAfter: number | undefined,
  ): void {
    this.#report({
      ...(this.#damage ?? place),
      firstSequence: this.#expected,
      lastSequence: following === undefined ? undefined : Math.max(following, this.#expected) - 1,
      isDamaged: this.#damage !== undefined,
      timeBefore: this.#time,
      timeAfter,
    })
    this.#damage = undefined
  }
}

/** One line: which records are missing, and where it shows. */
export function unreadableText({
  segment,
  offset,
  firstSequence: first,
  lastSequence: last,
  isDamaged,
}: UnreadablePart): string {
  const where = `${segment}, offset ${offset}`
  if (last === undefined) return `records from ${first} on cannot be read: ${where}; run journal verify`
  if (last < first) return `${where} cannot be read, but no record is missing there; run journal verify`
  const [which, are] = first === last ? [`record ${first}`, 'is'] : [`records ${first} to ${last}`, 'are']
  return isDamaged
    ? `${which} cannot be read: ${where}; run journal verify`
    : `${which} ${are} not in the journal: ${where} has what follows; run journal verify`
}

/**
 * Whether missing records can be in a range: sequences inclusive, times with `until` exclusive. The times around them are
 * all that is known of theirs.
 */
export function mayBeMissingIn(
  { firstSequence, lastSequence, timeBefore, timeAfter }: UnreadablePart,
  range: { readonly from: number; readonly to: number; readonly since: number; readonly until: number },
): boolean {
  const last = Math.max(lastSequence ?? Number.POSITIVE_INFINITY, firstSequence)
  if (last < range.from || firstSequence > range.to) return false
  if (timeAfter !== undefined && timeAfter < range.since) return false
  return timeBefore === undefined || timeBefore < range.until
}
