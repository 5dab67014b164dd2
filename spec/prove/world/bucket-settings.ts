/** Clients of S3 that read and set what buckets have beside their objects: settings, ACLs and lifecycle rules. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { BUCKETS } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { type ModelRequest, type Operation, targetOf } from '../../model/expectation.ts'
import { LifecycleStep } from '../../model/lifecycle-step.ts'
import {
  createRule,
  deleteRule,
  getRules,
  listRules,
  putRules,
  removeRules,
  type SentRule,
  sentRules,
} from '../../model/operations/lifecycle-rules.ts'
import { isKnown } from '../../model/operations/listed-names.ts'
import { type Recipe, recipe } from '../../model/recipes.ts'
import type { Random } from '../../support/random.ts'
import { type Chance, stepByChance } from './step-by-chance.ts'

const KINDS_MAXIMUM = 4
const RULES_MAXIMUM = 3
const REQUESTS_MAXIMUM = 6

/** What an answer must hold: a code, or a part of its body. */
type Expected = S3ErrorCode | { readonly holds: string }

/** By subresource, of a bucket that is there; that of `encryption` goes by whether the store encrypts. */
const SETTINGS: Readonly<Record<string, Expected>> = {
  accelerate: { holds: '<AccelerateConfiguration' },
  acl: { holds: '<Permission>FULL_CONTROL</Permission>' },
  logging: { holds: '<BucketLoggingStatus' },
  notification: { holds: '<NotificationConfiguration' },
  ownershipControls: { holds: '<ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>' },
  policy: 'NoSuchBucketPolicy',
  policyStatus: 'NoSuchBucketPolicy',
  publicAccessBlock: 'NoSuchPublicAccessBlockConfiguration',
  replication: 'ReplicationConfigurationNotFoundError',
  requestPayment: { holds: '<Payer>BucketOwner</Payer>' },
  website: 'NoSuchWebsiteConfiguration',
}

const ACLS: readonly (readonly [asked: readonly HeaderLine[], Expected])[] = [
  [[['x-amz-acl', 'private']], { holds: '' }],
  [[['x-amz-acl', 'public-read']], 'NotImplemented'],
  [[], 'InvalidRequest'],
]

/** @throws Error when the answer is another one */
async function ask({ model, world }: Chance, request: ModelRequest, expected: Expected): Promise<void> {
  const { status, code, text } = await world.send(request)
  const line = `${request.method} ${request.target}`
  model.log.push(`${line}: ${status} ${code ?? ''}`)
  model.tally.add('bucket setting', status < 300 ? 'done' : 'refused')
  const isRight = typeof expected === 'string' ? code === expected : status === 200 && text.includes(expected.holds)
  if (!isRight) throw new Error(`${line}: ${status} ${text} instead of ${JSON.stringify(expected)}`)
}

/** Every setting of a bucket, as clients read them that take over a bucket. */
async function settings(chance: Chance): Promise<void> {
  const { model, world, place } = chance
  const isThere = model.world.buckets.has(place.bucket)
  const encryption: Expected = world.server.services.encrypts
    ? { holds: '<SSEAlgorithm>AES256</SSEAlgorithm>' }
    : 'ServerSideEncryptionConfigurationNotFoundError'
  const tagged = (model.world.buckets.get(place.bucket)?.tags.length ?? 0) > 0
  const tagging: Expected = tagged ? { holds: '<Tag>' } : 'NoSuchTagSet'
  for (const [name, expected] of Object.entries({ ...SETTINGS, tagging, encryption })) {
    await ask(chance, { method: 'GET', target: `/${place.bucket}?${name}` }, isThere ? expected : 'NoSuchBucket')
  }
}

/** The ACL that there is, and others, asked for a bucket and for an object. */
async function acls(chance: Chance): Promise<void> {
  const { model, place, random } = chance
  const { world } = model
  const bucket = world.buckets.get(place.bucket)
  const missing = bucket === undefined ? 'NoSuchBucket' : 'NoSuchKey'
  const isThere = world.current(bucket, place.key) !== undefined
  const target = `${targetOf(place.bucket, place.key)}?acl`
  await ask(chance, { method: 'GET', target }, isThere ? (SETTINGS['acl'] as Expected) : missing)
  const [headers, expected] = random.of(ACLS)
  // A value that no ACL here has is refused before anybody looks for the bucket.
  const isKept = expected !== 'NotImplemented'
  await ask(chance, { method: 'PUT', target, headers }, isThere || !isKept ? expected : missing)
  const ofBucket = { method: 'PUT', target: `/${place.bucket}?acl`, headers } as const
  await ask(chance, ofBucket, bucket !== undefined || !isKept ? expected : 'NoSuchBucket')
}

function rulesBy(random: Random, bucket: string): SentRule[] {
  // With the name of the bucket before it an id of a client looks like the id that the store gives it.
  const ids = ['one', 'two & <three>', `${bucket}/one`, 'one/one', undefined]
  const first = random.below(ids.length)
  return Array.from({ length: 1 + random.below(RULES_MAXIMUM) }, (_, index) => {
    const days = () => 1 + random.below(2)
    const actions = random.below(3)
    return {
      id: ids[(first + index) % ids.length],
      prefix: random.of(['', '', 'a', 'a/', ' b & c ']),
      enabled: random.below(5) > 0,
      expirationDays: actions === 0 ? undefined : days(),
      noncurrentDays: actions === 1 ? undefined : days(),
    }
  })
}

/** Rules of both planes: set, written back as they were read, in another order, without one of them, with further ones. */
function ruleRequest({ model, place, random }: Chance): Operation {
  const { bucket } = place
  const there = model.world.buckets.get(bucket)
  const read = there === undefined ? [] : sentRules(bucket, there)
  const asRead = random.of([read, read.toReversed(), read.slice(1), [...rulesBy(random, bucket).slice(0, 1), ...read]])
  const known = [...(there?.rules.keys() ?? [])].filter(isKnown)
  const ids = asRead.flatMap(({ id }) => id ?? [])
  const isWhole = asRead.length > 0 && new Set(ids).size === ids.length
  return random.of([
    putRules(bucket, rulesBy(random, bucket)),
    putRules(bucket, isWhole ? asRead : rulesBy(random, bucket)),
    getRules(bucket),
    random.below(3) === 0 ? removeRules(bucket) : getRules(bucket),
    createRule(bucket, { prefix: '', enabled: true, expirationDays: undefined, noncurrentDays: 1 }),
    deleteRule(known.length === 0 ? 'never-there' : random.of(known)),
  ])
}

async function rules(chance: Chance): Promise<void> {
  const { model, world, place, random } = chance
  for (let count = 1 + random.below(REQUESTS_MAXIMUM); count > 0; count -= 1) {
    await model.carryOut(world, ruleRequest(chance), 'rules over S3')
    for (const operation of [listRules(place.bucket), getRules(place.bucket)]) await model.carryOut(world, operation)
  }
  const pass = new LifecycleStep(random.below(3))
  if (random.below(3) === 0 && pass.check(model)) await pass.run(model, world)
}

const KINDS = [settings, acls, rules, rules]

export const bucketSettingsStep = stepByChance('a client reads and sets what a bucket has', async (chance, choose) => {
  const { model, world, random } = chance
  // What became of earlier requests must be known, since answers are held against one world.
  if (model.worlds.length > 1) await compare(model, world)
  for (let count = 1 + random.below(KINDS_MAXIMUM); count > 0; count -= 1) {
    const chosen = choose()
    const place = random.below(4) === 0 ? { ...chosen, bucket: random.of(BUCKETS) } : chosen
    await random.of(KINDS)({ ...chance, place })
  }
  await compare(model, world)
})

/** For requests at once: with ids that are known before, since which rules there are is read before they are set. */
export const rulesOverS3: fc.Arbitrary<Recipe> = recipe(
  'rules over S3 at once',
  'nothing',
  fc.record({ ids: fc.subarray(['one', 'two', 'three'], { minLength: 0 }), days: fc.constantFrom(1, 2) }),
  ({ ids, days }, _model, { bucket }) => {
    const settingsOf = { prefix: '', enabled: true, expirationDays: undefined, noncurrentDays: days }
    return ids.length === 0
      ? removeRules(bucket)
      : putRules(
          bucket,
          ids.map((id) => ({ id, ...settingsOf })),
        )
  },
)
