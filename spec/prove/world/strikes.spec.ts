/** What a refusal by name says of a request holds after every start, and nothing of a request stays in use that is over. */
import { test } from 'tap'
import type { Model, ModelStore } from '../../model/model.ts'
import { Step } from '../../model/steps.ts'
import { deafToNote } from '../mutants/broken-notes.ts'
import { holdAllBut, requireSharesBack, sharesInUse } from './shares-in-use.ts'
import { saysNothingChanged } from './strikes.ts'
import { runWorld, stepsOf } from './world.ts'
import type { WireAnswer } from '../../support/wire-client.ts'

/** Kinds of steps that there were when the seed was chosen. */
const INHABITANTS = 30
const SEED = 2

function answer(status: number, text: string): WireAnswer {
  return { status, text } as WireAnswer
}

test('refusals that say that nothing was changed are told from faults that leave it open', (t) => {
  const refusals: readonly (readonly [status: number, text: string, isRefused: boolean])[] = [
    [503, '<Error><Code>ServiceUnavailable</Code></Error>', true],
    [503, '{"error":{"code":"AUDIT_UNAVAILABLE"}}', true],
    [507, '<Error><Code>InsufficientStorage</Code></Error>', true],
    [503, '<Error><Code>OutcomeUnknown</Code></Error>', false],
    [503, '{"error":{"code":"OUTCOME_UNKNOWN"}}', false],
    [500, '<Error><Code>InternalError</Code></Error>', false],
  ]
  for (const [status, text, isRefused] of refusals) t.equal(saysNothingChanged(answer(status, text)), isRefused, text)
  t.end()
})

test('a store that carries out what it refused is found out by strikes at syncs', async (t) => {
  const steps = stepsOf({ seed: SEED, steps: 600, inhabitants: INHABITANTS }).filter((step) =>
    /sync/.test(String(step)),
  )
  const sound = await runWorld({ seed: SEED, steps: 0 }, { steps })
  t.equal(sound.finding, undefined)
  const broken = await runWorld({ seed: SEED, steps: 0 }, { steps, wrap: deafToNote })
  t.type(broken.finding, 'string')
})

class Keeping extends Step {
  constructor() {
    super('a request that gives nothing back')
  }

  async run(_model: Model, _store: ModelStore): Promise<void> {
    const before = sharesInUse()
    const giveBack = holdAllBut(1, 'copy-turns')
    try {
      await requireSharesBack(before, 'a request')
    } finally {
      giveBack()
    }
    await requireSharesBack(before, 'a request')
  }
}

test('a place that is not given back is noticed', async (t) => {
  const { finding } = await runWorld({ seed: SEED, steps: 0 }, { steps: [new Keeping()] })
  t.equal(finding, 'after a request copy-turns has 1 used, 0 waiting, and had 0 used, 0 waiting')
})
