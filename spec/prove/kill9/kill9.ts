/** Proves: DO-CAP-20, EVT-GUA-01, EVT-GUA-04. */
import { join } from 'node:path'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { lacksKills, noKills, verdict } from './kill-counts.ts'
import { KilledStore } from './killed-store.ts'

/** Stores that are killed side by side: while one server starts, the clients of the other are busy. */
const LANES = 2
/** Then a store is checked as a whole and removed, and the next begins empty: the journal of one only grows. */
const CYCLES_PER_STORE = 250
const CYCLES_PER_LINE = 500
const FINDINGS_TOLD = 10

/** Kills a real server at any moment, with clients that know what was acknowledged to them (X4). */
export const kill9: Proof = {
  name: 'kill9',
  tries: 'kill -9 of a working, starting or recovering server, against what its clients were told',
  unit: 'cycles',
  amount: 100,
  run: (task) => new KillRun(task).run(),
}

class KillRun {
  readonly #task: ProofTask
  readonly #counts = noKills()
  readonly #findings: Finding[] = []
  #begun = 0

  constructor(task: ProofTask) {
    this.#task = task
  }

  async run(): Promise<ProofResult> {
    await Promise.all(Array.from({ length: LANES }, (_, lane) => this.#lane(lane)))
    const { say, amount, seed } = this.#task
    for (const { kind, text } of this.#findings.slice(0, FINDINGS_TOLD)) say(`${kind}: ${text}`)
    if (this.#findings.length > 0) say(`again, as far as time allows: kill9 --cycles ${amount} --seed ${seed}`)
    return verdict(this.#counts, this.#findings)
  }

  /** One store after the other until all cycles are begun, or something was found. */
  async #lane(lane: number): Promise<void> {
    for (let number = 0; this.#goesOn; number += 1) {
      const name = `store-${lane}-${number}`
      const { directory, seed } = this.#task
      const store = new KilledStore(join(directory, name), seed + lane * 1_000_003 + number * 7919, this.#counts)
      for (let cycle = 0; cycle < CYCLES_PER_STORE && this.#goesOn && store.findings.length === 0; cycle += 1) {
        this.#begun += 1
        await store.cycle()
        this.#sayProgress()
      }
      if (store.findings.length === 0) await store.finish()
      for (const { kind, text } of store.findings) this.#findings.push({ kind, text: `${name}: ${text}` })
    }
  }

  get #goesOn(): boolean {
    const { amount } = this.#task
    const isShort = this.#begun < amount || (this.#begun < 2 * amount && lacksKills(this.#counts))
    return isShort && this.#findings.length === 0
  }

  #sayProgress(): void {
    const { kills } = this.#counts
    if (kills % CYCLES_PER_LINE === 0)
      this.#task.say(`after ${kills} of ${this.#task.amount}: ${verdict(this.#counts, this.#findings).summary}`)
  }
}
