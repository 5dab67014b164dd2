/** How often each command comes in a sequence. */
import * as fc from 'fast-check'
import { content, placeChoice } from './choices.ts'
import { listingRequest } from './listing-recipes.ts'
import type { Disturbance } from './model.ts'
import { fullPart, multipartRequest } from './multipart-recipes.ts'
import { LifecycleStep } from './lifecycle-step.ts'
import { managementRequest } from './management-recipes.ts'
import { bucketRequest, keyRequest } from './recipes.ts'
import { clockChoice, ClockStep, Restart, Work } from './server-steps.ts'
import { Request, type Step, Together, WholeUpload } from './steps.ts'

const request = fc.oneof(
  { weight: 6, arbitrary: keyRequest },
  { weight: 2, arbitrary: multipartRequest },
  { weight: 1, arbitrary: bucketRequest },
  { weight: 1, arbitrary: listingRequest },
  { weight: 1, arbitrary: managementRequest },
)

const wholeUpload = fc
  .record({ at: placeChoice, full: fc.array(fullPart, { minLength: 1, maxLength: 2 }), last: content })
  .map(({ at, full, last }) => new WholeUpload(at, [...full, last]))

/** Requests that are on their way at once. */
export const requestsTogether = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: keyRequest },
    { weight: 2, arbitrary: multipartRequest },
    { weight: 1, arbitrary: bucketRequest },
    { weight: 1, arbitrary: listingRequest },
    { weight: 1, arbitrary: managementRequest },
  ),
  { minLength: 2, maxLength: 4 },
)

const cut: fc.Arbitrary<Disturbance> = fc.record({
  kind: fc.constant('cut' as const),
  index: fc.nat(3),
  share: fc.constantFrom(0.2, 0.99, 1, 1, 1),
  turns: fc.constantFrom(0, 1, 2, 4),
})

const kill: fc.Arbitrary<Disturbance> = fc.record({
  kind: fc.constant('kill' as const),
  microseconds: fc.nat(4000),
})

const works: fc.Arbitrary<Disturbance> = fc.record({
  kind: fc.constant('work' as const),
  steps: fc.integer({ min: 1, max: 12 }),
})

/** How a kind of store can be disturbed, and how often what costs time is done. */
export interface StepWeights {
  readonly disturbance: 'cut' | 'kill'
  readonly restarts: number
  /** 0 where background jobs run by themselves. */
  readonly works: number
  readonly clockSteps: number
  /** 0 where no pass over the lifecycle rules can be had at will. */
  readonly passes: number
  /** Uploads of parts of full size, which are megabytes. */
  readonly wholeUploads?: number
}

export function stepOf({ disturbance, restarts, clockSteps, ...weights }: StepWeights): fc.Arbitrary<Step> {
  const disturbances =
    disturbance === 'cut' ? fc.oneof({ weight: 3, arbitrary: cut }, { weight: 1, arbitrary: works }) : kill
  const disturbed = fc.option(disturbances, { nil: undefined, freq: 2 })
  return fc.oneof(
    {
      weight: 60,
      arbitrary: fc.record({ request, at: placeChoice }).map((each) => new Request(each.request, each.at)),
    },
    {
      weight: 5,
      arbitrary: fc
        .record({ recipes: requestsTogether, at: placeChoice, disturbed })
        .map((each) => new Together(each.recipes, each.at, each.disturbed)),
    },
    {
      weight: restarts,
      arbitrary: fc
        .record({ how: fc.constantFrom('clean' as const, 'crash' as const), rebuilds: fc.boolean() })
        .map(({ how, rebuilds }) => new Restart(how, rebuilds)),
    },
    { weight: weights.wholeUploads ?? 1, arbitrary: wholeUpload },
    { weight: weights.works, arbitrary: fc.integer({ min: 1, max: 40 }).map((steps) => new Work(steps)) },
    { weight: weights.passes, arbitrary: fc.constantFrom(0, 1, 1, 2).map((days) => new LifecycleStep(days)) },
    { weight: clockSteps, arbitrary: clockChoice.map((choice) => new ClockStep(choice)) },
  )
}
