/**
 * The supervisor of background workers.
 * Proves: DO-CAP-17.
 */
import { test } from 'tap'
import { Supervisor } from '../../workers/supervisor.ts'
import type { BackgroundWorker, StepResult } from '../../workers/worker.ts'

const STEPS = 3

/** Has nothing to do in each step, and is done in its third one. */
class Idler implements BackgroundWorker {
  readonly name: string
  readonly status = ''
  readonly #seen: string[]
  #left = STEPS

  constructor(name: string, seen: string[]) {
    this.name = name
    this.#seen = seen
  }

  step(): Promise<StepResult> {
    this.#seen.push(this.name)
    this.#left -= 1
    return Promise.resolve(this.#left === 0 ? 'done' : 'idle')
  }

  close(): Promise<void> {
    this.#seen.push(`${this.name} closed`)
    return Promise.resolve()
  }
}

class WokenIdler extends Idler {
  woken(): Promise<void> {
    return Promise.resolve()
  }
}

class NeverWokenIdler extends Idler {
  woken(): Promise<void> {
    return new Promise(() => undefined)
  }
}

test('an idle worker that is woken takes its next step at once', async (t) => {
  const seen: string[] = []
  const supervisor = new Supervisor(() => t.fail('no step fails'))
  // This one rests for a second after each step.
  supervisor.start(new Idler('resting', seen))
  supervisor.start(new WokenIdler('woken', seen))
  while (!seen.includes('woken closed')) await new Promise((resolve) => setImmediate(resolve))
  t.same(seen, ['resting', 'woken', 'woken', 'woken', 'woken closed'])
  await supervisor.stop()
  t.equal(seen.at(-1), 'resting closed')
})

test('a stop ends the rest of an idle worker', async (t) => {
  const seen: string[] = []
  const supervisor = new Supervisor(() => t.fail('no step fails'))
  supervisor.start(new NeverWokenIdler('never', seen))
  await supervisor.stop()
  t.same(seen, ['never', 'never closed'])
})
