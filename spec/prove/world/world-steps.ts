/** What happens in a world beside the requests of the model: strikes at a working host, and at one that starts. */
import * as fc from 'fast-check'
import { accountStep } from './accounts.ts'
import { bucketSettingsStep, rulesOverS3 } from './bucket-settings.ts'
import { administratorStep } from './administrators.ts'
import { clumsyStep } from './clumsy.ts'
import { choosePlace, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { exchangeText } from '../../model/settle.ts'
import type { Recipe } from '../../model/recipes.ts'
import { requestsTogether, stepOf } from '../../model/step-mix.ts'
import { Step } from '../../model/steps.ts'
import { curiousStep } from './curious.ts'
import { linkStep } from './links.ts'
import { managerStep } from './managers.ts'
import type { FaultKind } from '../disk/life-plans.ts'
import { crowdStep } from './crowd.ts'
import { fullDiskStep } from './full-disk.ts'
import { rotStep } from './rot/rot-step.ts'
import type { SuddenEnd } from './world-host.ts'
import { checkpointStep } from './checkpoint-steps.ts'
import { expiredCredentialStep } from './expired-credentials.ts'
import { hastyWebhookStep } from './hasty-webhooks.ts'
import { lateBodyStep } from './late-bodies.ts'
import { lesserRolesStep } from './lesser-roles.ts'
import { lockedVersionsStep } from './locked-versions.ts'
import { partReadersStep } from './part-readers.ts'
import { clockStep } from './clock-steps.ts'
import { deletedBucketStep } from './deleted-buckets.ts'
import { webhookStep } from './webhook-steps.ts'
import { masterKeyStep } from './master-keys.ts'
import { snapshotStep, struckRowsStep } from './snapshot-steps.ts'
import { scarcityStep } from './scarcity.ts'
import { unreadAnswersStep } from './unread-answers.ts'
import { copyingCrowdStep } from './copying-crowd.ts'
import { dailyCheckStep, workStep } from './work-steps.ts'
import { unservedStep } from './unserved.ts'
import { indexStep } from './index-steps.ts'
import { listenerStep } from './listeners.ts'
import { tagRequest, tagStep } from './tag-steps.ts'
import { saysFault, saysNothingChanged, type Strike } from './strikes.ts'
import { worldOf } from './world-store.ts'
import { visitorStep } from './visitors.ts'

/** Within so many operations of the disk a strike comes: a few requests make about as many. */
const WORKING_OPERATIONS = 40
const OPENING_OPERATIONS = 45
/** Of the few requests of a strike. */
const SYNCS_MAXIMUM = 4
/** Of workers, while requests are on their way. */
const WORKER_STEPS = 30
const FAULTS: readonly FaultKind[] = ['error once', 'error for ever', 'sync that lies', 'short write', 'disk full']

/** Several requests on one key at once, with a strike among them; then everything is read. */
class Struck extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #place: PlaceChoice
  readonly #strike: Strike
  readonly #steps: number

  /** @param steps of the workers meanwhile */
  constructor(recipes: readonly Recipe[], place: PlaceChoice, strike: Strike, steps = 0) {
    super(sentenceOf(strike, steps))
    this.#recipes = recipes
    this.#place = place
    this.#strike = strike
    this.#steps = steps
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const wants = this.#recipes.find((recipe) => recipe.wants !== 'nothing')?.wants ?? 'nothing'
    const at = choosePlace(model, this.#place, wants)
    const sent = this.#recipes.flatMap((recipe) => {
      const operation = recipe.build(model, at)
      return operation === undefined ? [] : { name: recipe.name, operation }
    })
    model.log.push(String(this))
    const answers = await worldOf(store).strike(
      sent.map(({ operation }) => operation.request),
      this.#strike,
      this.#steps,
    )
    const exchanges = sent.flatMap(({ name, operation }, index) => {
      const answer = answers[index]
      // What became of a request that is answered with a fault of the server is for the model to find.
      const known = answer !== undefined && saysFault(answer) ? undefined : answer
      model.tally.count(name, known)
      const isRefused = answer !== undefined && operation.pieces === undefined && saysNothingChanged(answer)
      if (!isRefused) return { operation, answer: known }
      model.log.push(exchangeText({ operation, answer }))
      return []
    })
    if (exchanges.length > 0) model.settle(exchanges)
    model.restarts += 1
    await compare(model, store)
  }
}

/** The host ends, and ends once more while it starts. */
class StruckStart extends Step {
  readonly #ends: readonly [SuddenEnd, SuddenEnd]
  readonly #operations: number

  constructor(first: SuddenEnd, second: SuddenEnd, operations: number) {
    super(`${ENDS[first]}, and ${ENDS[second]} within ${operations} operations of the next start`)
    this.#ends = [first, second]
    this.#operations = operations
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    await worldOf(store).strikeStart(...this.#ends, this.#operations)
    model.restarts += 1
    await compare(model, store)
  }
}

const ENDS: Readonly<Record<SuddenEnd | 'stop', string>> = {
  power: 'the power goes',
  kill: 'the process is killed',
  stop: 'the server stops',
}

function sentenceOf(strike: Strike, steps: number): string {
  const meanwhile = steps === 0 ? '' : `while workers do ${steps} steps, `
  if (strike.kind !== 'fault') {
    const what = strike.of === 'syncs' ? 'sync' : 'operation'
    return `${meanwhile}${ENDS[strike.kind]} at ${what} ${strike.operations} of the disk`
  }
  return `${meanwhile}the disk has a fault (${strike.fault}), then ${ENDS[strike.end]}`
}

const suddenEnd = fc.constantFrom<SuddenEnd>('power', 'power', 'kill')

const strike: fc.Arbitrary<Strike> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: suddenEnd, operations: fc.integer({ min: 1, max: WORKING_OPERATIONS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom(...FAULTS),
      end: fc.constantFrom<SuddenEnd | 'stop'>('power', 'kill', 'stop'),
    }),
  },
)

/** At syncs: the power goes, or one of them fails. */
const syncStrike: fc.Arbitrary<Strike> = fc.oneof(
  fc.record({
    kind: suddenEnd,
    operations: fc.integer({ min: 1, max: 2 * SYNCS_MAXIMUM }),
    of: fc.constant('syncs' as const),
  }),
  fc.record({
    kind: fc.constant('fault' as const),
    fault: fc.constantFrom<FaultKind>('sync that fails', 'sync that lies'),
    end: fc.constantFrom<SuddenEnd | 'stop'>('power', 'kill', 'stop'),
    within: fc.constant(SYNCS_MAXIMUM),
  }),
)

/**
 * Kinds of steps with how often each comes. New ones go to the end: a kept world says how many there were when its seed
 * was found, and so means the same for ever.
 */
const INHABITANTS: readonly fc.WeightedArbitrary<Step>[] = [
  {
    weight: 40,
    arbitrary: stepOf({ disturbance: 'cut', restarts: 1, works: 3, clockSteps: 3, passes: 1, wholeUploads: 0 }),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ recipes: requestsTogether, at: placeChoice, strike })
      .map((each) => new Struck(each.recipes, each.at, each.strike)),
  },
  { weight: 2, arbitrary: visitorStep },
  { weight: 2, arbitrary: administratorStep },
  { weight: 1, arbitrary: unservedStep },
  {
    weight: 1,
    arbitrary: fc
      .tuple(suddenEnd, suddenEnd, fc.integer({ min: 1, max: OPENING_OPERATIONS }))
      .map(([first, second, operations]) => new StruckStart(first, second, operations)),
  },
  { weight: 1, arbitrary: clumsyStep },
  {
    weight: 1,
    arbitrary: fc
      .record({ recipes: requestsTogether, at: placeChoice, strike, steps: fc.integer({ min: 1, max: WORKER_STEPS }) })
      .map((each) => new Struck(each.recipes, each.at, each.strike, each.steps)),
  },
  { weight: 3, arbitrary: webhookStep },
  { weight: 3, arbitrary: accountStep },
  { weight: 1, arbitrary: clockStep },
  { weight: 1, arbitrary: workStep },
  { weight: 2, arbitrary: managerStep },
  { weight: 1, arbitrary: curiousStep },
  { weight: 1, arbitrary: rotStep },
  { weight: 1, arbitrary: fullDiskStep },
  { weight: 2, arbitrary: checkpointStep },
  { weight: 3, arbitrary: linkStep },
  { weight: 1, arbitrary: crowdStep },
  { weight: 2, arbitrary: lockedVersionsStep },
  { weight: 1, arbitrary: partReadersStep },
  { weight: 1, arbitrary: lesserRolesStep },
  { weight: 1, arbitrary: expiredCredentialStep },
  { weight: 1, arbitrary: lateBodyStep },
  { weight: 1, arbitrary: hastyWebhookStep },
  { weight: 2, arbitrary: deletedBucketStep },
  {
    weight: 2,
    arbitrary: fc
      .record({ recipes: requestsTogether, at: placeChoice, strike: syncStrike })
      .map((each) => new Struck(each.recipes, each.at, each.strike)),
  },
  { weight: 2, arbitrary: scarcityStep },
  { weight: 1, arbitrary: unreadAnswersStep },
  { weight: 1, arbitrary: copyingCrowdStep },
  { weight: 1, arbitrary: masterKeyStep },
  { weight: 2, arbitrary: bucketSettingsStep },
  {
    weight: 1,
    arbitrary: fc
      .record({ recipes: fc.tuple(rulesOverS3, rulesOverS3), more: requestsTogether, at: placeChoice, strike })
      .map(({ recipes, more, at, strike: by }) => new Struck([...recipes, ...more.slice(2)], at, by)),
  },
  { weight: 1, arbitrary: dailyCheckStep },
  { weight: 2, arbitrary: snapshotStep },
  { weight: 2, arbitrary: tagStep },
  {
    weight: 1,
    arbitrary: fc
      .record({ recipes: fc.tuple(tagRequest, tagRequest), more: requestsTogether, at: placeChoice, strike })
      .map(({ recipes, more, at, strike: by }) => new Struck([...recipes, ...more.slice(2)], at, by)),
  },
  { weight: 2, arbitrary: listenerStep },
  { weight: 2, arbitrary: indexStep },
  { weight: 1, arbitrary: struckRowsStep },
]

/** Every step of a world. @param inhabitants how many kinds of steps there are; by default all */
export function worldStep(inhabitants: number = INHABITANTS.length): fc.Arbitrary<Step> {
  return fc.oneof(...INHABITANTS.slice(0, inhabitants))
}
