import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { delayedSyncs } from './delayed-sync.ts'
import { callCounts, casesOf, casesToTry, type FaultCase } from './fault-table.ts'
import { FaultedStore } from './faulted-store.ts'
import { InjectionTally } from './injection-tally.ts'
import { SCRIPTS } from './scripted-work.ts'

/** Stores that are tried side by side: while one server starts, the other works. */
const LANES = 2
/** Then a store is checked as a whole and removed, and the next begins empty: the journal of one only grows. */
const CASES_PER_STORE = 60
const CASES_PER_LINE = 100
const FINDINGS_TOLD = 10
const ATTEMPTS_MAXIMUM = 3

/** Fails and kills a real server in every system call that changes its files (X5). */
export const strace: Proof = {
  name: 'strace',
  tries: 'EIO, ENOSPC and SIGKILL at each system call that changes files, one for each life of a server',
  unit: 'cycles',
  amount: 24,
  run: (task) => new SweepRun(task).run(),
}

class SweepRun {
  readonly #task: ProofTask
  readonly #tally = new InjectionTally()
  readonly #findings: Finding[] = []
  #cases: FaultCase[] = []
  readonly #attempts = new Map<FaultCase, number>()

  constructor(task: ProofTask) {
    this.#task = task
  }

  async run(): Promise<ProofResult> {
    const { say, amount, seed } = this.#task
    const delayed = delayedSyncs(join(this.#task.directory, 'delayed'))
    const table = await this.#table()
    const { looks, findings } = await delayed
    this.#tally.looks = looks
    this.#findings.push(...findings)
    say(`${table.length} places where a call can fail: --cycles ${table.length} tries them all`)
    this.#cases = casesToTry(table, amount, seed)
    await Promise.all(Array.from({ length: LANES }, (_, lane) => this.#lane(lane)))
    say(this.#tally.details)
    for (const { kind, text } of this.#findings.slice(0, FINDINGS_TOLD)) say(`${kind}: ${text}`)
    if (this.#findings.length > 0) say(`again: strace --cycles ${amount} --seed ${seed}`)
    return this.#tally.verdict(this.#findings)
  }

  /** Counts the calls of each script in a life without faults. */
  async #table(): Promise<FaultCase[]> {
    const store = this.#newStore('counted')
    const table: FaultCase[] = []
    for (const script of SCRIPTS) {
      for (const [area, calls] of await store.count(script)) table.push(...casesOf(script, area, callCounts(calls)))
    }
    await this.#finish(store)
    return table
  }

  /** One store after the other until no case is left, or something was found. */
  async #lane(lane: number): Promise<void> {
    for (let number = 0; this.#cases.length > 0 && this.#findings.length === 0; number += 1) {
      const store = this.#newStore(`store-${lane}-${number}`)
      for (let count = 0; count < CASES_PER_STORE && store.findings.length === 0; count += 1) {
        const next = this.#findings.length === 0 ? this.#cases.shift() : undefined
        if (next === undefined) break
        if (!(await store.try(next))) this.#missed(next)
        this.#sayProgress()
      }
      await this.#finish(store)
    }
  }

  /** Background work may leave a call out once, or make it elsewhere. */
  #missed(one: FaultCase): void {
    const attempts = (this.#attempts.get(one) ?? 0) + 1
    this.#attempts.set(one, attempts)
    if (attempts < ATTEMPTS_MAXIMUM) this.#cases.push(one)
    else this.#tally.missed += 1
  }

  #newStore(name: string): FaultedStore {
    const directory = join(this.#task.directory, name)
    mkdirSync(directory)
    return new FaultedStore(directory, this.#tally)
  }

  async #finish(store: FaultedStore): Promise<void> {
    if (store.findings.length === 0) await store.finish()
    this.#findings.push(...store.findings)
  }

  #sayProgress(): void {
    const { cases } = this.#tally
    const { summary } = this.#tally.verdict(this.#findings)
    if (cases % CASES_PER_LINE === 0) this.#task.say(`after ${cases} of ${this.#task.amount}: ${summary}`)
  }
}
