/** What random requests name that only the state of the model can tell: a version, an upload, a time, an ETag. */
import * as fc from 'fast-check'
import { contentOf } from './content.ts'
import { allVersions, type Model } from './model.ts'
import type { WriteCondition } from '../../engine/commands/spine-commands.ts'
import type { Retention, RetentionMode } from '../../engine/events/values.ts'
import { versionNamed } from './operations/by-rules.ts'
import type { ReadConditions } from './operations/reads.ts'
import { type AskedLock, UNCONDITIONAL } from './operations/writes.ts'
import { type ModelVersion, wireId } from './state.ts'

/** Bucket and key that a request is about. */
export interface Place {
  readonly bucket: string
  readonly key: string
}

export const BUCKETS = ['plain', 'versioned', 'locked', 'spare'] as const
const LONGEST_KEY = 'z'.repeat(1024)
/** Two of them are in another order by UTF-16 than by UTF-8, which is that of S3. */
export const KEYS = ['a', 'a\u0000', 'a/b', 'a/b/c', 'b+ %', '\u{ff5e}', '\u{1f600}', LONGEST_KEY] as const

const bucketName = fc.oneof(
  { weight: 3, arbitrary: fc.constant('plain') },
  { weight: 4, arbitrary: fc.constant('versioned') },
  { weight: 4, arbitrary: fc.constant('locked') },
  { weight: 1, arbitrary: fc.constant('spare') },
)
const keyName = fc.oneof(
  { weight: 3, arbitrary: fc.constant('a') },
  { weight: 2, arbitrary: fc.constant('a/b') },
  { weight: 2, arbitrary: fc.constantFrom(...KEYS) },
)
export const place: fc.Arbitrary<Place> = fc.record({ bucket: bucketName, key: keyName })

/** What a request needs to find, to be more than a refusal. */
export type Wants = 'nothing' | 'a key' | 'a key under lock' | 'an upload'

/** Mostly a place where the request finds what it wants. */
export interface PlaceChoice {
  readonly free: Place
  readonly isFree: boolean
  readonly nth: number
}

export const placeChoice: fc.Arbitrary<PlaceChoice> = fc.record({
  free: place,
  isFree: fc.nat(7).map((number) => number === 7),
  nth: fc.nat(99),
})

export function choosePlace(model: Model, { free, isFree, nth }: PlaceChoice, wants: Wants): Place {
  const fitting = isFree ? [] : placesOf(model, wants)
  return fitting[nth % fitting.length] ?? free
}

function placesOf({ world }: Model, wants: Wants): Place[] {
  if (wants === 'nothing') return []
  return [...world.buckets].flatMap(([bucket, { id, lockEnabled, keys }]) => {
    if (wants === 'an upload') return world.uploadsOf(id).map(({ key }) => ({ bucket, key }))
    return wants === 'a key' || lockEnabled ? [...keys.keys()].map((key) => ({ bucket, key })) : []
  })
}

/** Sizes around the one from which bodies get files of their own. */
export const content = fc
  .record({ seed: fc.nat(3), size: fc.constantFrom(0, 1, 11, 500, 2048, 2049, 9000) })
  .map(({ seed, size }) => contentOf(seed, size))

export const storedHeaders = fc
  .record({
    type: fc.constantFrom(undefined, 'text/plain', 'application/x-model'),
    note: fc.constantFrom(undefined, '', 'one', 'one ü, more'),
  })
  .map(({ type, note }) => {
    const typed = type === undefined ? [] : ['content-type', type]
    return note === undefined ? typed : [...typed, 'x-amz-meta-note', note]
  })

export type VersionChoice =
  | 'current'
  | 'null'
  | 'malformed'
  | { readonly nth: number }
  | { readonly gone: number }
  | { readonly other: number }

/** Mostly one that is there. */
export const versionChoice: fc.Arbitrary<VersionChoice> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('current' as const) },
  { weight: 14, arbitrary: fc.record({ nth: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.constant('null' as const) },
  { weight: 1, arbitrary: fc.record({ gone: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ other: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant('malformed' as const) },
)

const UNAVAILABLE = Symbol('this version does not exist')
export type Chosen = string | undefined | typeof UNAVAILABLE

/** The id that a choice comes to; undefined names no version. */
export function chooseVersion(model: Model, { bucket, key }: Place, choice: VersionChoice): Chosen {
  if (choice === 'current') return undefined
  if (choice === 'null') return 'null'
  if (choice === 'malformed') return 'no id!'
  if ('nth' in choice) {
    const versions = model.world.versions(model.world.buckets.get(bucket), key)
    return idOrNone(versions[choice.nth % versions.length])
  }
  if ('gone' in choice) return model.gone[choice.gone % model.gone.length]?.id ?? UNAVAILABLE
  const others = allVersions(model.world).filter((each) => each.bucket !== bucket || each.key !== key)
  return idOrNone(others[choice.other % others.length]?.version)
}

function idOrNone(version: ModelVersion | undefined): Chosen {
  return (version && wireId(version)) ?? UNAVAILABLE
}

export function isUnavailable(chosen: Chosen): chosen is typeof UNAVAILABLE {
  return chosen === UNAVAILABLE
}

/** The version that a request with this id finds; markers too. */
export function versionAt(model: Model, { bucket, key }: Place, id: string | undefined): ModelVersion | undefined {
  const { world } = model
  const there = world.buckets.get(bucket)
  return id === undefined ? world.current(there, key) : versionNamed(world, there, key, id)
}

const SECOND = 1000
export const HOUR = 3600 * SECOND
export const DAY = 24 * HOUR
/** The last time that a date of four digits can say. */
const YEAR_9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** From now on, or from the end of the retention that is there. */
export type TimeChoice = { readonly fromNow: number } | { readonly fromPresent: number } | 'year 9999'

export const timeChoice: fc.Arbitrary<TimeChoice> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ fromNow: fc.constantFrom(1, SECOND, HOUR, DAY, 40 * DAY) }) },
  { weight: 1, arbitrary: fc.record({ fromNow: fc.constantFrom(-DAY, -1, 0) }) },
  { weight: 3, arbitrary: fc.record({ fromPresent: fc.constantFrom(-HOUR, -1, 0, 1, DAY) }) },
  { weight: 1, arbitrary: fc.constant('year 9999' as const) },
)

export function chooseTime(model: Model, choice: TimeChoice, present: Retention | undefined): number {
  const { now } = model.moment
  if (choice === 'year 9999') return YEAR_9999
  if ('fromNow' in choice) return now + choice.fromNow
  return Math.min((present?.untilMilliseconds ?? now + DAY) + choice.fromPresent, YEAR_9999)
}

export const mode: fc.Arbitrary<RetentionMode> = fc.constantFrom('GOVERNANCE', 'GOVERNANCE', 'COMPLIANCE')

export interface LockChoice {
  readonly mode?: RetentionMode
  readonly time?: TimeChoice
  readonly hold?: boolean
}

/** Mostly none; rarely one that is half said. */
export const lockChoice: fc.Arbitrary<LockChoice> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.record({ mode, time: timeChoice }) },
  { weight: 2, arbitrary: fc.record({ hold: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ mode, time: timeChoice, hold: fc.boolean() }) },
  { weight: 1, arbitrary: fc.oneof(fc.record({ mode }), fc.record({ time: timeChoice })) },
)

/** Buckets without Object Lock are asked for a lock only now and then. */
export function chooseLock(model: Model, { bucket, key }: Place, choice: LockChoice): AskedLock {
  const isRare = model.world.buckets.get(bucket)?.lockEnabled !== true && choice.hold !== false
  if (isRare) return {}
  const until =
    choice.time === undefined
      ? undefined
      : chooseTime(model, choice.time, versionAt(model, { bucket, key }, undefined)?.lock?.retention)
  return { mode: choice.mode, until, hold: choice.hold }
}

export type ConditionChoice = 'none' | 'absent' | 'exists' | 'matches' | 'mismatches' | 'is not' | 'is not another'

export const conditionChoice: fc.Arbitrary<ConditionChoice> = fc.constantFrom(
  ...Array<'none'>(24).fill('none'),
  'absent',
  'exists',
  'matches',
  'mismatches',
  'is not',
  'is not another',
)

const OTHER_ETAG = 'd41d8cd98f00b204e9800998ecf8427f'

export function chooseCondition(model: Model, at: Place, choice: ConditionChoice): WriteCondition {
  const etag = versionAt(model, at, undefined)?.etag ?? OTHER_ETAG
  if (choice === 'none') return UNCONDITIONAL
  if (choice === 'absent' || choice === 'exists') return { kind: choice }
  const etags = [choice === 'matches' || choice === 'is not' ? etag : OTHER_ETAG]
  return { kind: choice === 'matches' || choice === 'mismatches' ? 'matches' : 'differs', etags }
}

export interface ReadConditionChoice {
  readonly match?: 'same' | 'other' | '*'
  readonly noneMatch?: 'same' | 'other' | '*'
  /** Milliseconds from the time of the version. */
  readonly modifiedSince?: number
  readonly unmodifiedSince?: number
}

const tag = fc.constantFrom('same' as const, 'other' as const, '*' as const)
const since = fc.constantFrom(-HOUR, -SECOND, 0, SECOND, DAY)

export const readConditionChoice: fc.Arbitrary<ReadConditionChoice> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record(
      { match: tag, noneMatch: tag, modifiedSince: since, unmodifiedSince: since },
      { requiredKeys: [] },
    ),
  },
)

export function chooseReadConditions(version: ModelVersion | undefined, choice: ReadConditionChoice): ReadConditions {
  const etag = (which: 'same' | 'other' | '*' | undefined) =>
    which === 'same' ? (version?.etag ?? OTHER_ETAG) : which === 'other' ? OTHER_ETAG : which
  const time = (offset: number | undefined) => (offset === undefined ? undefined : (version?.modified ?? 0) + offset)
  return {
    match: etag(choice.match),
    noneMatch: etag(choice.noneMatch),
    modifiedSince: time(choice.modifiedSince),
    unmodifiedSince: time(choice.unmodifiedSince),
  }
}
