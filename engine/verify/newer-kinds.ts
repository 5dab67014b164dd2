/**
 * What a record has that this version of the page `spec/formats/journal.md` does not. Kinds are only ever added, so a record
 * whose hash is right and whose kind is not on the page was written by a newer version, or by a writer who says so: it is
 * neither damage nor understood.
 */

/** The kinds of changes on the page, "Bodies". */
const KNOWN_CHANGES = [
  { first: 1, last: 33 },
  { first: 35, last: 37 },
  { first: 39, last: 48 },
  { first: 50, last: 56 },
  { first: 60, last: 63 },
  { first: 70, last: 73 },
  { first: 75, last: 78 },
  { first: 80, last: 85 },
] as const

/** Kinds that are counted by themselves; the rest are counted together, so that an invented journal takes no memory. */
const KINDS_MAXIMUM = 20
const OTHERS = 'other kinds'

/** Records of one kind that this verifier does not know. Plain data: it comes from worker threads. */
export interface NewerKind {
  /** Such as `change kind 90`. */
  readonly what: string
  readonly count: number
  /** Where the first one is. */
  readonly segment: string
  readonly offset: number
  readonly sequence: number
}

/**
 * The first sequence of a record that is not known. What later records name may be in it: an attempt, a code, a checkpoint, a
 * hand-over. So rules that join records are not asked for after it.
 */
export function newerFrom(newer: readonly NewerKind[]): number {
  return Math.min(Number.POSITIVE_INFINITY, ...newer.map(({ sequence }) => sequence))
}

/** Whether a kind of change is on the page. */
export function isKnownChange(kind: number): boolean {
  return KNOWN_CHANGES.some(({ first, last }) => kind >= first && kind <= last)
}

/** Counts records of unknown kinds, by kind, in the order in which they were met. */
export class NewerKinds {
  readonly #kinds = new Map<string, NewerKind>()

  add(found: NewerKind): void {
    const known = this.#kinds.get(found.what)
    if (known === undefined && this.#kinds.size >= KINDS_MAXIMUM && found.what !== OTHERS) {
      return this.add({ ...found, what: OTHERS })
    }
    this.#kinds.set(found.what, known === undefined ? found : { ...known, count: known.count + found.count })
  }

  get all(): readonly NewerKind[] {
    return [...this.#kinds.values()]
  }
}
