/** Counts of what was answered, by kind, and what was wrong; bounded however long a run is. */

/** Latencies are kept in buckets, each a tenth wider than the one before. */
const BUCKET_GROWTH = 1.1
const BUCKETS = 160
/** The lower end of the second bucket, in milliseconds. */
const FIRST_MILLISECONDS = 0.1
const FINDINGS_MAXIMUM = 40

/** `error`: refused or unanswered without a reason; `lost`: acknowledged and not there as it was; `growth`: not given back. */
export type FindingKind = 'error' | 'lost' | 'growth'

interface KindCount {
  answered: number
  /** No answer, around a restart. */
  cut: number
  slowDowns: number
  longestMilliseconds: number
  readonly buckets: Uint32Array
}

/** One line of the table. */
export interface KindRow {
  readonly kind: string
  readonly answered: number
  readonly cut: number
  readonly slowDowns: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
  readonly longestMilliseconds: number
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
    const bucket = Math.ceil(Math.log(Math.max(1, milliseconds / FIRST_MILLISECONDS)) / Math.log(BUCKET_GROWTH))
    const index = Math.min(BUCKETS - 1, bucket)
    count.buckets[index] = (count.buckets[index] ?? 0) + 1
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
    if (this.#said === FINDINGS_MAXIMUM) this.#say('further findings are counted and not told')
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

  /** By name. */
  rows(): KindRow[] {
    return [...this.#kinds]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([kind, count]) => rowOf(kind, count))
  }

  #of(kind: string): KindCount {
    const known = this.#kinds.get(kind)
    if (known !== undefined) return known
    const count = { answered: 0, cut: 0, slowDowns: 0, longestMilliseconds: 0, buckets: new Uint32Array(BUCKETS) }
    this.#kinds.set(kind, count)
    return count
  }
}

function rowOf(kind: string, { answered, cut, slowDowns, longestMilliseconds, buckets }: KindCount): KindRow {
  const below = (part: number): number => {
    let left = part * answered
    const index = buckets.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Math.min(longestMilliseconds, FIRST_MILLISECONDS * BUCKET_GROWTH ** Math.max(0, index))
  }
  return {
    kind,
    answered,
    cut,
    slowDowns,
    medianMilliseconds: below(0.5),
    p99Milliseconds: below(0.99),
    longestMilliseconds,
  }
}

/** The table at the end. */
export function tableOf(rows: readonly KindRow[]): string[] {
  const head = ['kind', 'answered', 'cut', 'SlowDown', 'median ms', 'p99 ms', 'longest ms']
  const cells = rows.map((row) => [
    row.kind,
    row.answered.toLocaleString('en'),
    String(row.cut),
    String(row.slowDowns),
    row.medianMilliseconds.toFixed(1),
    row.p99Milliseconds.toFixed(1),
    row.longestMilliseconds.toFixed(0),
  ])
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  return [head, ...cells].map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
}
