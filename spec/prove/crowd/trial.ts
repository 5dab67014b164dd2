/** Good clients beside bad ones for some seconds: one crowd. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BadClients } from './bad-clients.ts'
import { type GoodClient, goOn, judge, percentile, type Seen } from './good-clients.ts'

export interface Trial {
  readonly goods: readonly GoodClient[]
  readonly startBad: () => Promise<BadClients>
  /** The bad clients are there so long before the good ones begin. */
  readonly leadMilliseconds: number
  /** The bad clients are gone so long before what they left in use is looked at. */
  readonly restMilliseconds: number
  readonly milliseconds: number
  /** Who has no answer by then has none. */
  readonly patienceMilliseconds: number
  readonly server: ServerGauges
  /** See `slowness.ts`; asked before and after, and the slower one counts. */
  readonly slowness: () => number
  /** Growth of the journal that is allowed, in a second. */
  readonly journalMebibytesMaximum: number
}

/** What the server uses. */
export interface ServerGauges {
  /** Of the processors, so far. */
  seconds(): number
  memoryMebibytes(): number
  journalMebibytes(): number
  /** Places, queues and bytes that requests have now, each in a few words; those that a good client needs are over. */
  inUse(): Promise<readonly string[]>
}

export interface Outcome {
  /** What was not as it should be; empty when nobody noticed the bad clients. */
  readonly wrong: readonly string[]
  /** What was measured, in one line. */
  readonly line: string
}

const LOOK_MILLISECONDS = 100
/** How much more memory than before, and how much of the journal in a second, the server may use for a crowd. */
const MEMORY_MEBIBYTES_MAXIMUM = 512
/** Requests of strangers are recorded within a budget, and requests of accounts have a record each. */
export const STRANGERS_JOURNAL_MEBIBYTES = 1
export const ACCOUNTS_JOURNAL_MEBIBYTES = 4

/** @throws Error when the bad clients did not last as long as the good ones: then nothing was tried */
export async function tryCrowd(trial: Trial): Promise<Outcome> {
  const { goods, server, leadMilliseconds, restMilliseconds } = trial
  const memory = new Highest(() => server.memoryMebibytes())
  const journalBefore = server.journalMebibytes()
  const slowBefore = trial.slowness()
  const cameAt = performance.now()
  const bad = await trial.startBad()
  await sleep(leadMilliseconds)
  const [badBefore, serverBefore, beganAt] = [bad.processorSeconds(), server.seconds(), performance.now()]
  const isOver = () => performance.now() >= beganAt + trial.milliseconds
  const seen = await Promise.all(goods.map((good) => seenBy(good, trial.patienceMilliseconds, isOver)))
  const seconds = (performance.now() - beganAt) / 1000
  const [badTook, serverTook] = [bad.processorSeconds() - badBefore, server.seconds() - serverBefore]
  const badSeconds = (performance.now() - cameAt) / 1000
  const memoryGrowth = memory.stop()
  await bad.stop()
  await sleep(restMilliseconds)
  const left = await leftInUse(server, trial.patienceMilliseconds)
  const slow = Math.max(slowBefore, trial.slowness())
  const journalRate = (server.journalMebibytes() - journalBefore) / badSeconds
  const wrong = [
    ...goods.flatMap((good, index) => judge(good, seen[index] as Seen, slow)),
    ...left.map((what) => `${what}, though the bad clients are gone`),
    ...judgeUse('memory', memoryGrowth, MEMORY_MEBIBYTES_MAXIMUM, 'MiB'),
    ...judgeUse('journal', journalRate, trial.journalMebibytesMaximum, 'MiB a second'),
  ]
  const line = [
    ...goods.map(({ name, percent }, index) => timesOf(name, percent, seen[index] as Seen)),
    `processors: server ${(serverTook / seconds).toFixed(2)}, bad clients ${(badTook / seconds).toFixed(2)}`,
    `memory +${memoryGrowth.toFixed(0)} MiB, journal +${journalRate.toFixed(2)} MiB a second`,
    `a machine ${slow.toFixed(1)} times as slow as one at rest`,
  ].join('; ')
  return { wrong, line }
}

/** What is in use when all clients have gone; connections that were cut are noticed a little later. */
async function leftInUse(server: ServerGauges, patienceMilliseconds: number): Promise<readonly string[]> {
  const end = performance.now() + patienceMilliseconds
  for (;;) {
    const left = await server.inUse()
    if (left.length === 0 || performance.now() > end) return left
    await sleep(LOOK_MILLISECONDS)
  }
}

/** How far a value rises above what it was. */
class Highest {
  readonly #value: () => number
  readonly #first: number
  #highest: number
  readonly #timer: NodeJS.Timeout

  constructor(value: () => number) {
    this.#value = value
    this.#first = value()
    this.#highest = this.#first
    this.#timer = setInterval(() => this.#look(), LOOK_MILLISECONDS).unref()
  }

  /** Gives by how much. */
  stop(): number {
    clearInterval(this.#timer)
    this.#look()
    return this.#highest - this.#first
  }

  #look(): void {
    this.#highest = Math.max(this.#highest, this.#value())
  }
}

function judgeUse(what: string, value: number, maximum: number, unit: string): string[] {
  return value > maximum ? [`${what} grew by ${value.toFixed(2)} ${unit}, ${maximum} are allowed`] : []
}

/** All of one kind together. */
async function seenBy(good: GoodClient, patienceMilliseconds: number, isOver: () => boolean): Promise<Seen> {
  const each = await Promise.all(Array.from({ length: good.count }, () => goOn(good, patienceMilliseconds, isOver)))
  return {
    milliseconds: each.flatMap(({ milliseconds }) => milliseconds),
    failures: each.flatMap(({ failures }) => failures),
  }
}

function timesOf(name: string, percent: number, { milliseconds }: Seen): string {
  const of = percent === 100 ? 'at most' : `p${percent}`
  return `${milliseconds.length} ${name}, ${of} ${percentile(milliseconds, percent).toFixed(0)} ms`
}
