/** Random things to ask of a store, as recipes: what they become depends on the state that they meet. */
import * as fc from 'fast-check'
import {
  type Condition,
  type Group,
  LINK_DEEDS,
  type LockRecipe,
  type Place,
  type RetentionRecipe,
  type Step,
} from './step-recipes.ts'

export const BUCKETS = ['first', 'second'] as const
/** One has a NUL, one is as long as a key may be. */
const KEYS = ['a', 'a\u0000b', 'z'.repeat(1024)] as const
const DAY = 24 * 60 * 60 * 1000

function one<const K extends Step['kind']>(kind: K): fc.Arbitrary<K> {
  return fc.constant(kind)
}

function maybe<T>(value: fc.Arbitrary<T>, freq = 2): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq })
}

const bucket = fc.constantFrom(...BUCKETS)
const key = fc.constantFrom(...KEYS)
const place = fc.record({ bucket, key })
const pick = fc.nat({ max: 11 })
const size = fc.oneof(fc.constant(0), fc.nat({ max: 3000 }))
const condition = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Condition>('none') },
  { weight: 1, arbitrary: fc.constantFrom<Condition>('absent', 'exists', 'matches', 'mismatches', 'differs') },
)
const mode = fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const)
const retention: fc.Arbitrary<RetentionRecipe> = fc.record({
  mode,
  inMilliseconds: fc.constantFrom(-1, 0, 1, 1000, 5000, DAY, Date.parse('9999-12-31T23:59:59.999Z')),
})
/** Most writes ask for nothing, as buckets without Object Lock refuse it. */
const lock: fc.Arbitrary<LockRecipe | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ retention: maybe(retention), hold: maybe(fc.boolean()) }) },
)

type Weighted = fc.WeightedArbitrary<Step>

const OF_BUCKETS: readonly Weighted[] = [
  {
    weight: 3,
    arbitrary: fc.record({
      kind: one('create-bucket'),
      bucket,
      lock: fc.boolean(),
      region: fc.constantFrom('us-east-1', 'eu-west-1'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: one('delete-bucket'), bucket }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: one('versioning'),
      bucket,
      versioning: fc.constantFrom('enabled' as const, 'suspended' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: one('default-retention'),
      bucket,
      mode: maybe(mode),
      unit: fc.constantFrom('days' as const, 'years' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: one('cors'), bucket, rules: fc.nat({ max: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: one('quota'),
      bucket,
      bytes: maybe(fc.nat({ max: 6000 })),
      objects: maybe(fc.nat({ max: 3 })),
    }),
  },
]

const write: fc.Arbitrary<Step> = fc.record({
  kind: one('write'),
  bucket,
  key,
  size,
  inFile: fc.boolean(),
  checksum: fc.boolean(),
  condition,
  lock,
})

const OF_OBJECTS: readonly Weighted[] = [
  { weight: 12, arbitrary: write },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: one('copy'),
      from: place,
      version: maybe(pick),
      to: place,
      replaces: fc.boolean(),
      lock,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: one('rename'),
      bucket,
      from: key,
      key,
      token: fc.constantFrom('none', 'new', 'same', 'same'),
      condition,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: one('delete'),
      bucket,
      key,
      version: maybe(pick),
      condition,
      bypass: fc.boolean(),
    }),
  },
]

const OF_LOCKS: readonly Weighted[] = [
  {
    weight: 3,
    arbitrary: fc.record({
      kind: one('retain'),
      bucket,
      key,
      version: maybe(pick),
      retention: maybe(retention),
      bypass: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: one('hold'), bucket, key, version: maybe(pick), hold: fc.boolean() }) },
]

const part: fc.Arbitrary<Step> = fc.record({
  kind: one('part'),
  upload: pick,
  part: fc.constantFrom(1, 2, 3, 9, 10_000),
  size: fc.constantFrom('none' as const, 'small' as const, 'full' as const, 'full' as const, 'full' as const),
  inFile: fc.boolean(),
})

const OF_UPLOADS: readonly Weighted[] = [
  { weight: 4, arbitrary: fc.record({ kind: one('create-upload'), bucket, key, lock, sums: fc.boolean() }) },
  { weight: 10, arbitrary: part },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: one('complete'),
      upload: pick,
      list: fc.constantFrom('all', 'all', 'fewer', 'stranger', 'changed'),
      at: pick,
      condition,
      mistakes: fc.nat({ max: 5 }).map((number) => number === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: one('abort'), upload: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: one('reclaim'), upload: pick }) },
]

const OF_PAYLOADS: readonly Weighted[] = [
  {
    weight: 3,
    arbitrary: fc.record({
      kind: one('move'),
      payloads: fc.array(pick, { minLength: 1, maxLength: 4 }),
      again: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: one('remove-volume'), volume: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: one('digest'), payload: pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: one('link'),
      deed: fc.constantFrom(...LINK_DEEDS),
      link: fc.nat({ max: 2 }),
      version: maybe(pick),
      bucket,
      key,
    }),
  },
]

const OF_ACCESS: readonly Weighted[] = [
  {
    weight: 4,
    arbitrary: fc.record({ kind: one('access'), what: pick, who: fc.nat({ max: 1 }), which: fc.nat({ max: 1 }) }),
  },
]

/** All steps there are. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  ...OF_BUCKETS,
  ...OF_OBJECTS,
  ...OF_LOCKS,
  ...OF_UPLOADS,
  ...OF_PAYLOADS,
  ...OF_ACCESS,
)

const clockMilliseconds = fc.constantFrom(0, 1, 1000, 5000, -1000, -10_000, DAY)

function group(steps: fc.Arbitrary<Step>, lengths: fc.ArrayConstraints): fc.Arbitrary<Group> {
  return fc.record({ clockMilliseconds, steps: fc.array(steps, lengths) })
}

/** Two buckets, each of any kind. */
const beginning: fc.Arbitrary<Group> = fc
  .tuple(
    ...BUCKETS.map((name) =>
      fc.tuple(fc.constant(name), fc.constantFrom('off', 'enabled', 'suspended', 'locked', 'locked')),
    ),
  )
  .map((kinds) => ({
    clockMilliseconds: 0,
    steps: kinds.flatMap(([name, kind]): Step[] => [
      { kind: 'create-bucket', bucket: name, lock: kind === 'locked', region: 'us-east-1' },
      ...(kind === 'enabled' || kind === 'suspended'
        ? [{ kind: 'versioning' as const, bucket: name, versioning: kind }]
        : []),
    ]),
  }))
const writes = group(write, { minLength: 3, maxLength: 8 })
/** Uploads, then parts of them. */
const uploads = group(fc.record({ kind: one('create-upload'), bucket, key, lock, sums: fc.boolean() }), {
  minLength: 2,
  maxLength: 4,
})
const parts = group(part, { minLength: 2, maxLength: 8 })
const anything = group(step, { minLength: 1, maxLength: 8 })

/** Groups of steps; those of a group are sent at once. They begin so that most of what follows succeeds. */
export const history: fc.Arbitrary<Group[]> = fc
  .tuple(beginning, writes, uploads, parts, fc.array(anything, { maxLength: 12, size: 'max' }))
  .map(([first, second, third, fourth, groups]) => [first, second, third, fourth, ...groups])

/** Short whiles, so that the clock soon gets past them. */
const kept = fc.constantFrom<LockRecipe>(
  { retention: { mode: 'GOVERNANCE', inMilliseconds: 5000 }, hold: undefined },
  { retention: { mode: 'COMPLIANCE', inMilliseconds: 1000 }, hold: undefined },
  { retention: { mode: 'COMPLIANCE', inMilliseconds: DAY }, hold: undefined },
  { retention: undefined, hold: true },
  { retention: { mode: 'GOVERNANCE', inMilliseconds: 1 }, hold: true },
)
const protect: fc.Arbitrary<Step> = fc.record({
  kind: one('write'),
  size: fc.constant(5),
  inFile: fc.constant(false),
  checksum: fc.boolean(),
  condition: fc.constant<Condition>('none'),
  lock: kept,
  bucket,
  key,
})
const locked: Group = {
  clockMilliseconds: 0,
  steps: [{ kind: 'create-bucket', bucket: 'first', lock: true, region: 'us-east-1' }],
}
const here: Place = { bucket: 'first', key: 'a' }
const destroy: fc.Arbitrary<Step> = fc.record({
  kind: one('delete'),
  version: pick,
  condition: fc.constant<Condition>('none'),
  bypass: fc.boolean(),
  bucket,
  key,
})
/** All on the same key, so that they meet. */
const withLocks: fc.Arbitrary<Step> = fc
  .oneof(
    ...OF_LOCKS,
    ...OF_OBJECTS,
    { weight: 8, arbitrary: protect },
    { weight: 12, arbitrary: destroy },
    { weight: 1, arbitrary: fc.record({ kind: one('delete-bucket'), bucket }) },
  )
  .map((recipe) => ({ ...recipe, ...here, ...(recipe.kind === 'copy' ? { from: here, to: here } : {}) }) as Step)

/** A bucket with Object Lock, then step by step what could get past it. */
export const lockHistory: fc.Arbitrary<Group[]> = fc
  .array(group(withLocks, { minLength: 1, maxLength: 1 }), { minLength: 20, maxLength: 60, size: 'max' })
  .map((groups) => [locked, ...groups])
