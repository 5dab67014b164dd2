/** The model of a running store: the worlds that it may be in, its clock, and what was learned on the way. */
import type { Extension } from '../../planes/objects/s3-extensions.ts'
import { CLOCK_TOLERANCE_SECONDS } from '../support/test-server.ts'
import type { WireAnswer } from '../support/wire-client.ts'
import type { ModelRequest, Moment, Operation } from './expectation.ts'
import { LockLedger } from './lock-ledger.ts'
import { ModelState, type ModelVersion, wireId } from './state.ts'
import type { ListFilter } from './naive-listing.ts'
import type { ListPosition } from './operations/list-objects.ts'
import { type Exchange, exchangeText, settle } from './settle.ts'

/** 2030-01-01, at a time whose milliseconds are not whole seconds. */
export const FIRST_CLOCK = Date.UTC(2030, 0, 1, 12, 0, 0, 123)
/** The clock may be this many milliseconds behind the journal (specification, Limits, Object Lock clock). */
export const CLOCK_TOLERANCE = CLOCK_TOLERANCE_SECONDS * 1000

/**
 * A clock that is behind the journal by less than this many milliseconds leaves no trace (spec/decisions/0229-two-times.md).
 * One that is behind by just as many does: what comes next in the journal is a microsecond later than what was there.
 */
const TIMES_AGREE = 1000

/**
 * Batches at one time of the clock are a microsecond after each other, so the journal may be a few milliseconds later than anybody
 * was told. More is wrong, and is not believed.
 */
const CREEP_MAXIMUM = 100

/** What the store is started with beyond what it always does. */
export const MODEL_EXTENSIONS: readonly Extension[] = ['append', 'delete-objects', 'rename-object', 'upload-part-copy']

/** The real thing, as the model drives it. */
export interface ModelStore {
  send(request: ModelRequest): Promise<WireAnswer>
  /** Sends all at once, and disturbs one of them or all; no answer for what was disturbed. */
  sendDisturbed(requests: readonly ModelRequest[], disturbance: Disturbance): Promise<(WireAnswer | undefined)[]>
  setClock(clock: number): Promise<void>
  /** @param rebuilds the projections are deleted in between */
  restart(how: 'clean' | 'crash', rebuilds: boolean): Promise<void>
  /** Has the background jobs do some of their steps. */
  work(steps: number): Promise<void>
  /** Has the lifecycle rules carried out, all of them to their end. */
  pass(): Promise<void>
}

/**
 * What goes wrong while requests are on their way. `cut` ends the connection of one of them after a share of its bytes
 * and a number of turns of the event loop; `kill` ends the server after a number of microseconds and starts it again.
 * `work` disturbs none: background jobs do some of their steps meanwhile.
 */
export type Disturbance =
  | { readonly kind: 'cut'; readonly index: number; readonly share: number; readonly turns: number }
  | { readonly kind: 'kill'; readonly microseconds: number }
  | { readonly kind: 'work'; readonly steps: number }

/** A version that was there once. */
export interface GoneVersion {
  readonly bucket: string
  readonly key: string
  readonly id: string
  readonly serial: number
}

/** A listing that can be gone on with. */
export interface OpenListing extends ListFilter {
  readonly bucket: string
  readonly created: number
  readonly token: string
  readonly position: ListPosition
}

interface Counts {
  done: number
  refused: number
  unanswered: number
}

/** How often each kind of request was answered with success, with a refusal, or not at all. */
export class Tally {
  readonly #counts = new Map<string, Counts>()

  count(name: string, answer: Pick<WireAnswer, 'status'> | undefined): void {
    this.add(name, answer === undefined ? 'unanswered' : answer.status < 300 ? 'done' : 'refused')
  }

  add(name: string, what: 'done' | 'refused' | 'unanswered'): void {
    const counts = this.#counts.get(name) ?? { done: 0, refused: 0, unanswered: 0 }
    counts[what] += 1
    this.#counts.set(name, counts)
  }

  /** By kind of request. */
  get counts(): ReadonlyMap<string, Counts> {
    return this.#counts
  }

  get lines(): string[] {
    return [...this.#counts].map(
      ([name, { done, refused, unanswered }]) => `${name}: ${done}, ${refused}, ${unanswered}`,
    )
  }

  /** Kinds of requests none of which was a success. */
  get neverDone(): string[] {
    return [...this.#counts].filter(([, { done }]) => done === 0).map(([name]) => name)
  }
}

export class Model {
  readonly tally: Tally
  /** Nearly always one. */
  worlds: readonly ModelState[] = [new ModelState()]
  clock = FIRST_CLOCK
  readonly ledger = new LockLedger()
  readonly gone: GoneVersion[] = []
  openListing: OpenListing | undefined
  /** Ids of storage events as they were shown last: they stay, and others come behind them. */
  eventIds: readonly string[] = []
  /** What was done, for people. */
  readonly log: string[] = []
  /** Restarts so far. */
  restarts = 0
  /** Time of the last entry of the journal. */
  #journalTime = FIRST_CLOCK
  readonly #atJournal: () => number

  /** @param atJournal the time of the last entry of the journal, in milliseconds, where the store says it */
  constructor(tally: Tally, atJournal: () => number = () => 0) {
    this.tally = tally
    this.#atJournal = atJournal
  }

  /** One of the worlds, to choose from what is there. */
  get world(): ModelState {
    return this.worlds[0] ?? new ModelState()
  }

  get moment(): Moment {
    const told = Math.max(this.clock, this.#journalTime)
    const journal = this.#atJournal()
    const now = journal > told && journal <= told + CREEP_MAXIMUM ? journal : told
    return {
      clock: this.clock,
      now,
      ...(now - this.clock >= TIMES_AGREE && { time: this.clock }),
      clockIsBehind: this.clock + CLOCK_TOLERANCE < this.#journalTime,
    }
  }

  /** The clock was set, and something was put into the journal with the new time. */
  setClock(clock: number): void {
    this.clock = clock
    this.#journalTime = this.moment.now
  }

  /** The time of the journal was set back to the clock of the host. */
  clockSetBack(): void {
    this.#journalTime = this.clock
  }

  /**
   * Takes in what was answered to requests that were on their way together.
   * @throws ContradictionError when no world explains it, Error when a lock did not hold
   */
  settle(exchanges: readonly Exchange[]): void {
    const before = this.world
    this.log.push(exchanges.map(exchangeText).join(' and at once '))
    const { moment } = this
    this.worlds = settle(this.worlds, exchanges, moment)
    for (const { operation, answer } of exchanges) this.ledger.saw(operation.request, answer, moment.now)
    if (this.world !== before) this.gone.push(...lost(before, this.world))
    this.#journalTime = moment.now
  }

  /**
   * Sends a request and holds its answer against the worlds.
   * @param counted the name under which the tally counts it; without a name it is not counted
   * @throws as `settle`, and the errors of the connection
   */
  async carryOut(store: ModelStore, operation: Operation, counted?: string): Promise<WireAnswer> {
    const answer = await store.send(operation.request)
    if (counted !== undefined) this.tally.count(counted, answer)
    this.settle([{ operation, answer }])
    return answer
  }

  /** Takes in what a pass over the lifecycle rules has done. */
  passed(worlds: readonly ModelState[]): void {
    const before = this.world
    this.worlds = worlds
    this.gone.push(...lost(before, this.world))
  }
}

/** Versions of one world that another does not have. */
function lost(before: ModelState, after: ModelState): GoneVersion[] {
  const left = new Set(allVersions(after).map(({ version }) => wireId(version)))
  return allVersions(before).flatMap(({ bucket, key, version }) => {
    const id = wireId(version)
    return id === undefined || id === 'null' || left.has(id) ? [] : { bucket, key, id, serial: version.sequence }
  })
}

export interface PlacedVersion {
  readonly bucket: string
  readonly key: string
  readonly version: ModelVersion
}

export function allVersions(world: ModelState): PlacedVersion[] {
  return [...world.buckets].flatMap(([bucket, { keys }]) =>
    [...keys].flatMap(([key, versions]) => versions.map((version) => ({ bucket, key, version }))),
  )
}
