import { randomInt } from 'node:crypto'

/**
 * The counts of the concurrency gate in memory shared by all threads: running and waiting operations, in total and by
 * account. Each thread also has a copy of what it added, so that the counts of a dead thread can be subtracted.
 *
 * An account has a counter in each of two tables, and its count is the smaller of the two. Two accounts that share both
 * counters count as one: with 4,096 counters in each table that is one pair in 16 million, different at each start.
 */

/** Counters in one table. */
const TABLE_WORDS = 4096
const TABLE_MASK = TABLE_WORDS - 1
/** Words before the tables, in the total and in each thread's region; two cache lines, to avoid false sharing. */
const HEAD_WORDS = 32
const REGION_WORDS = HEAD_WORDS + 4 * TABLE_WORDS

/** Words of the head. */
export const ACTIVE = 0
export const QUEUED = 1
/** Of a thread: places granted by other threads that it has not taken yet. */
const GRANTED = 2

/** First words of the tables, which come in pairs. */
export const RUNNING = HEAD_WORDS
export const WAITING = HEAD_WORDS + 2 * TABLE_WORDS

/** Shares the gate with another thread, through `workerData`. */
export interface SharedGate {
  readonly buffer: SharedArrayBuffer
  readonly threads: number
  /** Decides which accounts share a counter. */
  readonly seed: number
}

export function createSharedGate(threads: number): SharedGate {
  const bytes = REGION_WORDS * (threads + 1) * Int32Array.BYTES_PER_ELEMENT
  return { buffer: new SharedArrayBuffer(bytes), threads, seed: randomInt(2 ** 31) }
}

function region({ buffer }: SharedGate, index: number): Int32Array {
  return new Int32Array(buffer, index * REGION_WORDS * Int32Array.BYTES_PER_ELEMENT, REGION_WORDS)
}

/** Indices of an account's counters: the index in the first table, plus 4,096 times the index in the second. */
export type Place = number

/** Accounts whose places are cached; the cache is cleared when full. */
const KNOWN_MAXIMUM = 4096

export class GateMemory {
  readonly #shared: SharedGate
  readonly #total: Int32Array
  readonly #own: Int32Array
  readonly #thread: number
  readonly #places = new Map<string, Place>()
  /** The thread that was granted a place last. */
  #turn: number

  /** @param thread 0 to `threads` - 1; no two threads may use the same number */
  constructor(shared: SharedGate, thread: number) {
    if (thread < 0 || thread >= shared.threads) throw new RangeError(`the gate has no thread ${thread}`)
    this.#shared = shared
    this.#thread = thread
    this.#turn = thread
    this.#total = region(shared, 0)
    this.#own = region(shared, thread + 1)
  }

  placeOf(account: string): Place {
    let place = this.#places.get(account)
    if (place !== undefined) return place
    let hash = this.#shared.seed | 1
    for (let index = 0; index < account.length; index += 1) {
      hash = Math.imul(hash ^ account.charCodeAt(index), 0x85ebca6b)
      hash ^= hash >>> 13
    }
    const second = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35) >>> 12
    place = (hash & TABLE_MASK) + (second & TABLE_MASK) * TABLE_WORDS
    if (this.#places.size >= KNOWN_MAXIMUM) this.#places.clear()
    this.#places.set(account, place)
    return place
  }

  /** The total over all threads. */
  count(word: typeof ACTIVE | typeof QUEUED): number {
    return Atomics.load(this.#total, word)
  }

  /** Counts one more of this thread, if there are fewer than `maximum` in all. */
  add(word: typeof ACTIVE | typeof QUEUED, maximum: number): boolean {
    let seen = Atomics.load(this.#total, word)
    while (seen < maximum) {
      const before = Atomics.compareExchange(this.#total, word, seen, seen + 1)
      if (before === seen) {
        // Other threads read the number waiting here, so it is atomic; the number running only after this thread ended.
        if (word === QUEUED) Atomics.add(this.#own, QUEUED, 1)
        else this.#countOwn(ACTIVE, 1)
        return true
      }
      seen = before
    }
    return false
  }

  subtract(word: typeof ACTIVE | typeof QUEUED): void {
    if (word === QUEUED) Atomics.sub(this.#own, QUEUED, 1)
    else this.#countOwn(ACTIVE, -1)
    Atomics.sub(this.#total, word, 1)
  }

  /** Counts one more of an account, if it has fewer than `maximum` in all threads. */
  addTo(table: typeof RUNNING | typeof WAITING, place: Place, maximum: number): boolean {
    const first = table + (place & TABLE_MASK)
    const second = table + TABLE_WORDS + Math.floor(place / TABLE_WORDS)
    const before = Math.min(Atomics.add(this.#total, first, 1), Atomics.add(this.#total, second, 1))
    this.#countOwn(first, 1)
    this.#countOwn(second, 1)
    if (before < maximum) return true
    this.subtractFrom(table, place)
    return false
  }

  subtractFrom(table: typeof RUNNING | typeof WAITING, place: Place): void {
    const first = table + (place & TABLE_MASK)
    const second = table + TABLE_WORDS + Math.floor(place / TABLE_WORDS)
    this.#countOwn(first, -1)
    this.#countOwn(second, -1)
    Atomics.sub(this.#total, first, 1)
    Atomics.sub(this.#total, second, 1)
  }

  /**
   * Grants the place of one running operation of this thread to the next thread with waiting operations. The place
   * stays counted as running until that thread takes it. False when it is this thread's own turn, or no operation
   * waits.
   */
  passOn(): boolean {
    const { threads } = this.#shared
    for (let step = 1; step <= threads; step += 1) {
      const thread = (this.#turn + step) % threads
      const other = thread === this.#thread ? this.#own : region(this.#shared, thread + 1)
      if (Atomics.load(other, QUEUED) === 0) continue
      this.#turn = thread
      if (thread === this.#thread) return false
      this.#countOwn(ACTIVE, -1)
      Atomics.add(other, GRANTED, 1)
      return true
    }
    return false
  }

  /** Frees the places that other threads granted to this one. */
  takeGranted(): void {
    if (Atomics.load(this.#own, GRANTED) === 0) return
    Atomics.sub(this.#total, ACTIVE, Atomics.exchange(this.#own, GRANTED, 0))
  }

  #countOwn(word: number, change: 1 | -1): void {
    this.#own[word] = (this.#own[word] ?? 0) + change
  }
}

/** Subtracts the counts of a thread that has ended. */
export function forgetThread(shared: SharedGate, thread: number): void {
  const total = region(shared, 0)
  const gone = region(shared, thread + 1)
  Atomics.sub(total, ACTIVE, Atomics.exchange(gone, GRANTED, 0))
  for (let word = 0; word < REGION_WORDS; word += 1) {
    const counted = Atomics.exchange(gone, word, 0)
    if (counted !== 0) Atomics.sub(total, word, counted)
  }
}
