import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Proof, ProofResult, ProofTask } from '../proof.ts'
import { scratchDirectory } from '../shares.ts'
import { told } from './flip.ts'
import type { FlipOrder, FlipReport } from './flip-process.ts'
import { makeImages } from './whole-store.ts'

const PROCESSES_MAXIMUM = 8
/** In a row, after which a start derives the rows again. */
const ENDS_MAXIMUM = 5
const LINES_MAXIMUM = 40
const FLIPS_PER_LINE = 250
/** Of a process: each start and stop in it leaves some memory behind. */
const FLIPS_OF_PROCESS = 200

/** Every file of a store rots by one bit: no wrong answer, no 404, and all of it is named, or shown to have no effect. */
export const flips: Proof = {
  name: 'flips',
  tries: 'one flipped bit of a store after the other, in all files: what clients, starts and the scrub make of it',
  unit: 'flips',
  amount: 10_000,
  run,
}

async function run(task: ProofTask): Promise<ProofResult> {
  const directory = scratchDirectory(task)
  try {
    await makeImages(directory)
    const tally = new Tally(task)
    const processes = Math.min(PROCESSES_MAXIMUM, availableParallelism(), task.amount)
    await Promise.all(
      Array.from({ length: processes }, (_, index) => tryShare(directory, index, processes, task, tally)),
    )
    return tally.result()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function tryShare(images: string, index: number, of: number, task: ProofTask, tally: Tally): Promise<void> {
  const directory = join(images, `share-${index}`)
  mkdirSync(directory)
  let child: ChildProcess | undefined
  for (let count = index; count < task.amount; count += of) {
    const number = task.seed + count
    if (Math.floor(count / of) % FLIPS_OF_PROCESS === FLIPS_OF_PROCESS - 1) {
      child?.disconnect()
      child = undefined
    }
    for (let ends = 0; ; ) {
      child ??= fork(new URL('flip-process.js', import.meta.url), [images, directory])
      const report = await answerOf(child, { number, again: ends > 0 })
      if (report !== undefined) {
        tally.add(number, report)
        break
      }
      child = undefined
      ends += 1
      tally.died(number)
      if (ends > ENDS_MAXIMUM) {
        tally.wrong(number, `flip ${number}: ${ends} processes in a row ended`)
        break
      }
    }
  }
  child?.disconnect()
}

/** @returns undefined when the process ended */
function answerOf(child: ChildProcess, order: FlipOrder): Promise<FlipReport | undefined> {
  return new Promise((resolve) => {
    const ended = () => done(undefined)
    const done = (report: FlipReport | undefined) => {
      child.off('exit', ended)
      child.off('message', done)
      resolve(report)
    }
    child.on('exit', ended)
    child.on('message', done)
    child.send(order)
  })
}

class Tally {
  readonly #task: ProofTask
  /** By kind of file and verdict. */
  readonly #verdicts = new Map<string, Map<string, number>>()
  /** By who named it. */
  readonly #by = new Map<string, number>()
  #tried = 0
  #wrong = 0
  #deaths = 0

  constructor(task: ProofTask) {
    this.#task = task
  }

  add(number: number, { flip, judgement }: FlipReport): void {
    this.#tried += 1
    const { verdict, by, wrong } = judgement
    const ofKind = this.#verdicts.get(flip.kind) ?? new Map<string, number>()
    this.#verdicts.set(flip.kind, ofKind)
    ofKind.set(verdict, (ofKind.get(verdict) ?? 0) + 1)
    for (const who of by) this.#by.set(`${flip.kind}: ${who}`, (this.#by.get(`${flip.kind}: ${who}`) ?? 0) + 1)
    if (verdict === 'wrong')
      this.wrong(number, `${told(flip)}: ${wrong.slice(0, 3).join('; ')} (named by ${by.join(', ')})`)
    if (this.#tried % FLIPS_PER_LINE === 0) this.#task.say(`${this.#tried} flips, ${this.#wrong} wrong`)
  }

  died(number: number): void {
    this.#deaths += 1
    this.#task.say(`flip ${number}: the process ended`)
  }

  wrong(number: number, text: string): void {
    this.#wrong += 1
    if (this.#wrong > LINES_MAXIMUM) return
    this.#task.say(`wrong: ${text}`)
    this.#task.say(`  again: npm run prove -- flips --flips 1 --seed ${number}`)
  }

  result(): ProofResult {
    for (const [kind, verdicts] of this.#verdicts) {
      this.#task.say(`${kind}: ${[...verdicts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`)
    }
    for (const [who, count] of [...this.#by].toSorted()) this.#task.say(`  ${who}: ${count}`)
    const summary = `${this.#tried} flips, ${this.#deaths} of them ended a process, ${this.#wrong} wrong`
    return { summary, passed: this.#tried > 0 && this.#wrong === 0 }
  }
}
