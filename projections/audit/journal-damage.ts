import { type Microseconds, previous, type Sequence, sequenceOf } from '../../engine/brands.ts'
import { segmentName } from '../../engine/disk/store-paths.ts'
import type { SegmentPlace } from '../../engine/journal/positions.ts'
import type { ChainProblem } from '../../engine/verify/span/span-report.ts'

/** Entries that a list of damage keeps; the rest is counted. */
export const DAMAGE_MAXIMUM = 1000

/** A run of records that cannot be read, in the words of a check of the chain. */
export type JournalDamage = ChainProblem

/** Records between two that can be read. */
export interface JournalGap {
  readonly firstSequence: Sequence
  /** Before `firstSequence` when no record is missing, and the bytes between two records are not theirs. */
  readonly lastSequence: Sequence
  readonly verdict: 'content changed' | 'record is missing from the log'
  /** Where it shows: of the first bytes that are no batch, or of the records that follow. */
  readonly place: SegmentPlace
  /** Time of the last record that was read before; undefined when the reader read none. */
  readonly afterMicroseconds: Microseconds | undefined
  /** Time of the first record that can be read again; undefined at the end of the log. */
  readonly beforeMicroseconds: Microseconds | undefined
}

const DETAILS = {
  'content changed': 'the records cannot be read: the bytes are not those that were written',
  'record is missing from the log': 'the records are not in the log',
} as const satisfies Record<JournalGap['verdict'], string>

export function damageOfGap({ firstSequence, lastSequence, verdict, place }: JournalGap): JournalDamage {
  const detail = lastSequence < firstSequence ? 'there are bytes that belong to no record' : DETAILS[verdict]
  return { sequence: firstSequence, lastSequence, verdict, place, detail }
}

/** Damage of one record whose batch is whole, but whose body is not an entry. */
export function damageOfRecord(sequence: Sequence, place: SegmentPlace): JournalDamage {
  return { sequence, lastSequence: sequence, verdict: 'content changed', place, detail: 'the body is not an entry' }
}

/** What damage is, where, and how much, as text: for the log and for errors. */
export function damageText({ sequence, lastSequence, verdict, place }: JournalDamage): string {
  const which = lastSequence > sequence ? `records ${sequence} to ${lastSequence}` : `record ${sequence}`
  return `${which}: ${verdict} (${segmentName(sequenceOf(place.segmentFirstSequence))}, offset ${place.offset})`
}

/** Damage that a reader met, bounded. */
export class DamageList {
  /** The first `DAMAGE_MAXIMUM`. */
  readonly entries: JournalDamage[] = []
  /** Of all, also beyond the entries. */
  count = 0
  /** Records that they are. */
  records = 0

  /** Puts what a reader from the end met into the order of the log. */
  sort(): void {
    this.entries.sort((one, other) => one.sequence - other.sequence)
  }

  add(damage: JournalDamage): void {
    this.count += 1
    this.records += damage.lastSequence - damage.sequence + 1
    if (this.entries.length < DAMAGE_MAXIMUM) this.entries.push(damage)
  }
}

/** Whether records of a gap can be in a range of time: the times around it are all that is known of theirs. */
export function mayBeIn(
  { afterMicroseconds, beforeMicroseconds }: JournalGap,
  fromMicroseconds: Microseconds,
  toMicroseconds: Microseconds,
): boolean {
  if (beforeMicroseconds !== undefined && beforeMicroseconds < fromMicroseconds) return false
  return afterMicroseconds === undefined || afterMicroseconds < toMicroseconds
}

/** Whether a gap has no record. */
export function isEmptyGap({ firstSequence, lastSequence }: JournalGap): boolean {
  return lastSequence === previous(firstSequence)
}
