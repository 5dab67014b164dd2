/** Random requests on lifecycle rules and webhooks. */
import * as fc from 'fast-check'
import { EVENT_TYPES } from '../../engine/events/values.ts'
import { BUCKETS } from './choices.ts'
import type { Model } from './model.ts'
import { createRule, deleteRule, replaceRule } from './operations/lifecycle-rules.ts'
import { isKnown } from './operations/listed-names.ts'
import { createWebhook, deleteWebhook, setWebhookStatus } from './operations/webhooks.ts'
import { type Recipe, recipe } from './recipes.ts'

const NOBODY = 'never-there'
/** Nobody listens at this port. */
const CLOSED_TARGET = 'http://127.0.0.1:1'

const days = fc.constantFrom(1, 1, 2)
const ruleSettings = fc
  .record({
    prefix: fc.constantFrom('', '', 'a', 'a/'),
    enabled: fc.nat(5).map((number) => number > 0),
    actions: fc.constantFrom('expiration', 'noncurrent', 'both'),
    expiration: days,
    noncurrent: days,
  })
  .map(({ prefix, enabled, actions, expiration, noncurrent }) => ({
    prefix,
    enabled,
    expirationDays: actions === 'noncurrent' ? undefined : expiration,
    noncurrentDays: actions === 'expiration' ? undefined : noncurrent,
  }))

/** One of some names; now and then one that is not there. */
function chosen(names: Iterable<string>, nth: number): string {
  const known = [...names].filter(isKnown)
  return nth === 0 ? NOBODY : (known[nth % known.length] ?? NOBODY)
}

/** A rule, mostly with its own bucket. */
function ruleAt({ world }: Model, nth: number, free: string): { readonly bucket: string; readonly rule: string } {
  const all = [...world.buckets].flatMap(([bucket, { rules }]) => [...rules.keys()].map((rule) => ({ bucket, rule })))
  const rule = chosen(
    all.map((each) => each.rule),
    nth,
  )
  return { rule, bucket: all.find((each) => each.rule === rule && nth > 1)?.bucket ?? free }
}

const nth = fc.nat(19)

const ruleRequest = fc.oneof(
  {
    weight: 3,
    arbitrary: recipe('create rule', 'nothing', ruleSettings, (settings, _model, { bucket }) =>
      createRule(bucket, settings),
    ),
  },
  {
    weight: 2,
    arbitrary: recipe(
      'replace rule',
      'nothing',
      fc.record({ nth, settings: ruleSettings }),
      (wanted, model, { bucket: free }) => {
        const { bucket, rule } = ruleAt(model, wanted.nth, free)
        return replaceRule(bucket, rule, wanted.settings)
      },
    ),
  },
  {
    weight: 1,
    arbitrary: recipe('delete rule', 'nothing', nth, (number, model, { bucket }) =>
      deleteRule(ruleAt(model, number, bucket).rule),
    ),
  },
)

const webhookSettings = fc.record({
  eventTypes: fc.subarray([...EVENT_TYPES], { minLength: 1 }),
  bucket: fc.option(fc.constantFrom(...BUCKETS), { nil: undefined }),
  enabled: fc.boolean(),
  number: fc.nat(2 ** 30),
})

const webhookRequest = fc.oneof(
  recipe('create webhook', 'nothing', webhookSettings, ({ number, ...settings }) =>
    createWebhook({ ...settings, target: `${CLOSED_TARGET}/${number}` }),
  ),
  recipe('webhook status', 'nothing', fc.record({ nth, enabled: fc.boolean() }), (wanted, { world }) =>
    setWebhookStatus(chosen(world.webhooks.keys(), wanted.nth), wanted.enabled),
  ),
  recipe('delete webhook', 'nothing', nth, (number, { world }) => deleteWebhook(chosen(world.webhooks.keys(), number))),
)

export const managementRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 3, arbitrary: ruleRequest },
  { weight: 2, arbitrary: webhookRequest },
)
