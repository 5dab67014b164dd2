/** What every part of the attack has in hand: the server, the ledger, chance, and the one way to ask. */
import { REFUSAL_BYTES_MAXIMUM } from '../../support/longest-requests.ts'
import type { Random } from '../../support/random.ts'
import type { Arena } from './arena.ts'
import type { Canaries } from './canaries.ts'
import type { Ledger } from './ledger.ts'
import type { Lane } from '../../support/raw/lane.ts'
import { overLanes } from './over-lanes.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { shareOfCases } from '../../support/share-of-cases.ts'
import { bytesOf, type Signable, signed } from './signed-requests.ts'

const LANES = 12
/** Every refusal of what a client sent. */
export const REFUSALS: readonly number[] = Array.from({ length: 100 }, (_, index) => 400 + index)
export const ANY_STATUS: readonly number[] = Array.from({ length: 500 }, (_, index) => 100 + index)
/** Statuses above 499 that the pages of errors have. */
const DOCUMENTED_FAULTS: ReadonlySet<number> = new Set([501, 503, 505])

/** Answers of the HTTP library itself, which knows of no headers of ours. */
const OF_THE_LIBRARY: ReadonlySet<number> = new Set([431, 505])

/** Code of what was no request that anybody could be asked about; of those there is no record. */
const NO_REQUEST = 'BadRequest'

/** Whether an answer has an id and tells browsers not to guess what it is (S20). */
function isComplete({ status, headers, requestId }: RawAnswer): boolean {
  return OF_THE_LIBRARY.has(status) || (requestId !== '' && headers.get('x-content-type-options') === 'nosniff')
}

export interface Question {
  /** Tells it from every other case of the attack. */
  readonly name: string
  readonly method: string
  /** One byte a character. */
  readonly bytes: string
  /** Whether it may change something. */
  readonly mayChange: boolean
  readonly signatures?: readonly string[]
  /** False where no record is made of it: probes, paths that do not exist. */
  readonly isRecorded?: boolean
  /** What its records must say, in order (`recordText`); not given where any will do. */
  readonly records?: (answer: RawAnswer) => readonly string[]
  /** Whether its answer may show a secret, once: the answer to whoever makes a credential. */
  readonly showsSecret?: boolean
}

/** A case that was answered. */
export interface AskedCase {
  readonly name: string
  readonly mayChange: boolean
  readonly isRecorded: boolean
  readonly records?: readonly string[]
}

export class Assault {
  readonly arena: Arena
  readonly ledger: Ledger
  readonly canaries: Canaries
  readonly random: Random
  /** How much of its cases a run tries; 1 is all of them. */
  readonly part: number
  /** Of each request by its id, the name of its case and whether it may have changed something. */
  readonly #asked = new Map<string, AskedCase>()

  constructor(arena: Arena, ledger: Ledger, canaries: Canaries, random: Random, part = 1) {
    this.arena = arena
    this.ledger = ledger
    this.canaries = canaries
    this.random = random
    this.part = part
  }

  /** The share of the cases that this run tries, with each kind in it. */
  some<T>(cases: readonly T[], kindsOf: (one: T) => readonly string[]): readonly T[] {
    return shareOfCases(cases, this.part, this.random, kindsOf)
  }

  /** The share of a count that this run makes. */
  fewer(count: number): number {
    return Math.ceil(count * this.part)
  }

  async onS3<T>(area: string, items: readonly T[], work: (lane: Lane, item: T) => Promise<void>): Promise<void> {
    this.ledger.tried(area, items.length)
    await overLanes(this.arena.server.port, LANES, items, work)
  }

  async onApi<T>(area: string, items: readonly T[], work: (lane: Lane, item: T) => Promise<void>): Promise<void> {
    this.ledger.tried(area, items.length)
    await overLanes(this.arena.apiPort, LANES, items, work)
  }

  /** Sends a request and holds the answer against what every answer must keep to; undefined when there was none. */
  async ask(lane: Lane, question: Question): Promise<RawAnswer | undefined> {
    const { name, method, bytes, mayChange, isRecorded = true, signatures = [] } = question
    this.ledger.requests += 1
    for (const hex of signatures) this.canaries.addSignature(hex)
    const outcome = await lane.exchange(bytes, method)
    const { answer } = outcome
    if (answer === undefined) {
      const { ended, received } = outcome
      this.ledger.fault('wrong', name, `no answer, ${ended} after ${JSON.stringify(received.slice(0, 200))}`, bytes)
      return undefined
    }
    if (lane.surplus !== '') {
      this.ledger.fault('wrong', name, `a second answer: ${JSON.stringify(lane.surplus.slice(0, 200))}`, bytes)
      lane.close()
    }
    if (answer.status >= 500 && !DOCUMENTED_FAULTS.has(answer.status)) {
      this.ledger.fault('wrong', name, `status ${answer.status} ${answer.code}`, bytes)
    }
    const length = answer.head.length + answer.body.length
    if (answer.status >= 400 && length >= REFUSAL_BYTES_MAXIMUM) {
      this.ledger.fault('wrong', name, `a refusal of ${length} bytes`, bytes)
    }
    if (!isComplete(answer)) this.ledger.fault('wrong', name, `lacks a header of every answer: ${answer.head}`, bytes)
    if (question.showsSecret !== true) this.#look(question, answer)
    const isRequest = answer.code !== NO_REQUEST
    if (answer.requestId !== '')
      this.#asked.set(answer.requestId, {
        name,
        mayChange,
        isRecorded: isRecorded && isRequest,
        ...(question.records === undefined ? {} : { records: question.records(answer) }),
      })
    return answer
  }

  /** Sends a request that is signed well; an answer with another status is a fault. */
  async signed(lane: Lane, signable: Signable, statuses: readonly number[], mayChange: boolean) {
    const request = signed(this.arena, signable)
    const { name, method } = request
    return this.expect(lane, { name, method, bytes: bytesOf(request), mayChange }, statuses)
  }

  /** Sends a request; an answer with another status is a fault. */
  async expect(lane: Lane, question: Question, statuses: readonly number[]): Promise<RawAnswer | undefined> {
    const answer = await this.ask(lane, question)
    if (answer === undefined || statuses.includes(answer.status)) return answer
    const wanted = statuses.length > 4 ? 'a refusal' : statuses.join(' or ')
    this.ledger.fault('wrong', question.name, `${answer.status} ${answer.code} instead of ${wanted}`, question.bytes)
    return answer
  }

  /** Every case by the id of its request. */
  get asked(): ReadonlyMap<string, AskedCase> {
    return this.#asked
  }

  #look({ name, bytes }: Question, answer: RawAnswer): void {
    const found = this.canaries.findIn(answer.head) ?? this.canaries.findIn(answer.body)
    if (found !== undefined) this.ledger.fault('leaked', name, `${found} is in the answer`, bytes)
  }
}
