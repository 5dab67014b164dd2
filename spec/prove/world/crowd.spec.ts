/** A modest client is not kept waiting by a greedy one; a client of the same account is. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { Crowd } from './crowd.ts'
import { runWorld } from './world.ts'

const [place] = fc.sample(placeChoice, { seed: 1, numRuns: 1 }) as [PlaceChoice]

test('another account and the administrator are answered soon, and nothing stays in use', async (t) => {
  const steps = [new Crowd('modest', place), new Crowd('root', place)]
  const { finding } = await runWorld({ seed: 1, steps: 0 }, { steps })
  t.equal(finding, undefined)
})

test('a client that waits for all of a crowd is noticed', async (t) => {
  const { finding } = await runWorld({ seed: 1, steps: 0 }, { steps: [new Crowd('greedy', place)] })
  t.match(finding, /^greedy waited for \d+ turns, and all of a crowd took \d+$/)
})
