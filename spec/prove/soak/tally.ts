/** Counts of what was answered, by kind, and what was wrong; bounded however long a run is. */

const FINDINGS_MAXIMUM = 40

/** `error`: refused or unanswered without a reason; `lost`: acknowledged and not there as it was; `growth`: not given back. */
export type FindingKind = 'error' | 'lost' | 'growth'

interface KindCount {
  answered: number
  /** No answer, around a restart. */
  cut: number
  slowDowns: number
  longestMilliseconds: number
}

export class Tally {
  readonly found: Record<FindingKind, number> = { error: 0, lost: 0, growth: 0 }
  readonly #say: (line: string) => void
  readonly #kinds = new Map<string, KindCount>()
  readonly #events = new Map<string, number>()
  #said = 0

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** Something that is no request, or more than one. */
  happened(event: string): void {
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1)
  }

  answered(kind: string, milliseconds: number): void {
    const count = this.#of(kind)
    count.answered += 1
    count.longestMilliseconds = Math.max(count.longestMilliseconds, milliseconds)
  }

  cut(kind: string): void {
    this.#of(kind).cut += 1
  }

  slowDown(kind: string): void {
    this.#of(kind).slowDowns += 1
  }

  /** Says what was found, the first times. */
  finding(kind: FindingKind, text: string): void {
    this.found[kind] += 1
    if (this.#said === FINDINGS_MAXIMUM) this.#say('further findings are only counted')
    this.#said += 1
    if (this.#said <= FINDINGS_MAXIMUM) this.#say(`${kind}: ${text.slice(0, 500)}`)
  }

  sum(field: 'answered' | 'cut' | 'slowDowns'): number {
    return [...this.#kinds.values()].reduce((total, count) => total + count[field], 0)
  }

  has(kind: string): boolean {
    return this.#events.has(kind) || (this.#kinds.get(kind)?.answered ?? 0) > 0
  }

  /** How often each event happened. */
  get events(): ReadonlyMap<string, number> {
    return this.#events
  }

  /** A line for each kind. */
  lines(): string[] {
    const kinds = [...this.#kinds].toSorted(([one], [other]) => (one < other ? -1 : 1))
    return kinds.map(([kind, { answered, cut, slowDowns, longestMilliseconds }]) => {
      const longest = `${longestMilliseconds.toFixed(0)} ms at most`
      return `${kind}: ${answered.toLocaleString('en')} answered, ${cut} cut, ${slowDowns} SlowDown, ${longest}`
    })
  }

  #of(kind: string): KindCount {
    const count = this.#kinds.get(kind) ?? { answered: 0, cut: 0, slowDowns: 0, longestMilliseconds: 0 }
    this.#kinds.set(kind, count)
    return count
  }
}
