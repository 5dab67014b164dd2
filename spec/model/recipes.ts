/** Random requests that are complete but for what the state of the model decides when their turn comes. */
import * as fc from 'fast-check'
import { millisecondsOf } from '../../engine/brands.ts'
import {
  chooseCondition,
  chooseLock,
  choosePlace,
  chooseReadConditions,
  chooseTime,
  chooseVersion,
  conditionChoice,
  content,
  isUnavailable,
  KEYS,
  lockChoice,
  mode,
  type Place,
  placeChoice,
  readConditionChoice,
  storedHeaders,
  timeChoice,
  versionAt,
  versionChoice,
  type Wants,
} from './choices.ts'
import type { Operation } from './expectation.ts'
import type { Model } from './model.ts'
import * as buckets from './operations/buckets.ts'
import { copyObject } from './operations/copies.ts'
import { deleteObjects } from './operations/batch-deletions.ts'
import { deleteObject } from './operations/deletions.ts'
import { getLegalHold, getRetention, putLegalHold, putRetention } from './operations/locks.ts'
import { readObject } from './operations/reads.ts'
import { renameObject } from './operations/renames.ts'
import { appendObject, putObject } from './operations/writes.ts'

export interface Recipe {
  readonly name: string
  readonly wants: Wants
  /** Undefined where the model has nothing that it could be about. */
  build(model: Model, at: Place): Operation | undefined
}

/** A recipe of random parameters. */
export function recipe<P>(
  name: string,
  wants: Wants,
  parameters: fc.Arbitrary<P>,
  build: (parameters: P, model: Model, at: Place) => Operation | undefined,
): fc.Arbitrary<Recipe> {
  return parameters.map((chosen) => ({ name, wants, build: (model, at) => build(chosen, model, at) }))
}

const nothing = fc.constant(undefined)

const put = recipe(
  'put',
  'nothing',
  fc.record({ content, headers: storedHeaders, lock: lockChoice, condition: conditionChoice }),
  (chosen, model, at) =>
    putObject({
      ...at,
      content: chosen.content,
      headers: chosen.headers,
      lock: chooseLock(model, at, chosen.lock),
      condition: chooseCondition(model, at, chosen.condition),
    }),
)

/** Mostly at the end of what is there. */
const append = recipe(
  'append',
  'nothing',
  fc.record({
    content,
    headers: storedHeaders,
    lock: lockChoice,
    condition: conditionChoice,
    isAway: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, -1),
  }),
  (chosen, model, at) => {
    const size = versionAt(model, at, undefined)?.size ?? 0
    return appendObject({
      ...at,
      content: chosen.content,
      headers: size === 0 ? chosen.headers : chosen.headers.slice(0, 2),
      lock: chooseLock(model, at, chosen.lock),
      condition: chooseCondition(model, at, chosen.condition),
      offset: Math.max(0, size + chosen.isAway),
    })
  },
)

const read = recipe(
  'read',
  'a key',
  fc.record({
    method: fc.constantFrom('GET' as const, 'GET' as const, 'HEAD' as const),
    version: versionChoice,
    range: fc.constantFrom(
      ...Array(6).fill(undefined),
      'bytes=0-0',
      'bytes=3-',
      'bytes=-4',
      'bytes=2-1',
      'bytes=499-9999',
    ),
    conditions: readConditionChoice,
  }),
  ({ method, version, range, conditions }, model, at) => {
    const versionId = chooseVersion(model, at, version)
    if (isUnavailable(versionId)) return undefined
    const chosen = chooseReadConditions(versionAt(model, at, versionId), conditions)
    return readObject({ method, ...at, versionId, range, conditions: chosen })
  },
)

const deletion = recipe('delete', 'a key', fc.record({ condition: conditionChoice }), ({ condition }, model, at) =>
  deleteObject({ ...at, condition: chooseCondition(model, at, condition) }),
)

const versionDeletion = recipe(
  'delete version',
  'a key',
  fc.record({ version: versionChoice, bypasses: fc.boolean() }),
  ({ version, bypasses }, model, at) => {
    const versionId = chooseVersion(model, at, version)
    return isUnavailable(versionId) ? undefined : deleteObject({ ...at, versionId, bypasses })
  },
)

/** Keys that XML can carry. */
const writableKey = fc.constantFrom(...KEYS.filter((key) => !key.includes('\u0000')))

const batchDeletion = recipe(
  'delete batch',
  'a key',
  fc.record({
    bypasses: fc.boolean(),
    chosen: fc.array(
      fc.record({
        key: fc.option(writableKey, { nil: undefined }),
        version: versionChoice,
        condition: conditionChoice,
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  ({ bypasses, chosen }, model, at) => {
    const deletions = chosen.flatMap((one) => {
      const place = { bucket: at.bucket, key: one.key ?? at.key }
      const versionId = chooseVersion(model, place, one.version)
      if (isUnavailable(versionId) || place.key.includes('\u0000')) return []
      const condition = chooseCondition(model, place, one.condition)
      const isOfEtag = condition.kind === 'exists' || condition.kind === 'matches'
      return [{ key: place.key, versionId, ...(isOfEtag && { condition }) }]
    })
    return deletions.length === 0 ? undefined : deleteObjects({ bucket: at.bucket, deletions, bypasses })
  },
)

/** Half of all copies are of a key onto itself, or of one of its versions. */
const copy = recipe(
  'copy',
  'nothing',
  fc.record({
    source: fc.option(placeChoice, { nil: undefined, freq: 2 }),
    version: versionChoice,
    replacement: fc.option(storedHeaders, { nil: undefined }),
    lock: lockChoice,
    condition: conditionChoice,
    sourceConditions: readConditionChoice,
  }),
  (chosen, model, at) => {
    const source = chosen.source === undefined ? at : choosePlace(model, chosen.source, 'a key')
    const versionId = chooseVersion(model, source, chosen.version)
    // A malformed id would have to be written into the header in another way.
    if (isUnavailable(versionId) || chosen.version === 'malformed') return undefined
    const { match, noneMatch } = chooseReadConditions(versionAt(model, source, versionId), chosen.sourceConditions)
    return copyObject({
      source: { ...source, versionId },
      ...at,
      replacement: chosen.replacement,
      lock: chooseLock(model, at, chosen.lock),
      condition: chooseCondition(model, at, chosen.condition),
      sourceConditions: {
        match: match === '*' ? undefined : match,
        noneMatch: noneMatch === '*' ? undefined : noneMatch,
      },
    })
  },
)

/** Tokens are few, so that some are used again. */
const rename = recipe(
  'rename',
  'nothing',
  fc.record({
    from: placeChoice,
    condition: conditionChoice,
    sourceConditions: readConditionChoice,
    token: fc.constantFrom(undefined, 'one', 'two'),
  }),
  (chosen, model, at) => {
    const { key: from } = choosePlace(model, chosen.from, 'a key')
    // Most are of the bucket that has no versioning at first; any other bucket refuses.
    const bucket = chosen.from.nth % 4 === 0 ? at.bucket : 'plain'
    const { match, noneMatch } = chooseReadConditions(
      versionAt(model, { bucket, key: from }, undefined),
      chosen.sourceConditions,
    )
    return renameObject({
      bucket,
      from,
      key: at.key,
      condition: chooseCondition(model, { bucket, key: at.key }, chosen.condition),
      sourceConditions: {
        match: match === '*' ? undefined : match,
        noneMatch: noneMatch === '*' ? undefined : noneMatch,
      },
      token: chosen.token,
    })
  },
)

const retention = recipe(
  'retention',
  'a key under lock',
  fc.record({
    version: versionChoice,
    mode,
    time: timeChoice,
    removes: fc.nat(5).map((n) => n === 0),
    bypasses: fc.boolean(),
  }),
  (chosen, model, at) => {
    const versionId = chooseVersion(model, at, chosen.version)
    if (isUnavailable(versionId)) return undefined
    const present = versionAt(model, at, versionId)?.lock?.retention
    const wanted = chosen.removes
      ? undefined
      : { mode: chosen.mode, untilMilliseconds: millisecondsOf(chooseTime(model, chosen.time, present)) }
    return putRetention({ ...at, versionId }, wanted, chosen.bypasses)
  },
)

const hold = recipe(
  'legal hold',
  'a key under lock',
  fc.record({ version: versionChoice, hold: fc.boolean() }),
  (chosen, model, at) => {
    const versionId = chooseVersion(model, at, chosen.version)
    return isUnavailable(versionId) ? undefined : putLegalHold({ ...at, versionId }, chosen.hold)
  },
)

const lockRead = recipe(
  'read lock',
  'a key under lock',
  fc.record({ version: versionChoice, get: fc.constantFrom(getRetention, getLegalHold) }),
  (chosen, model, at) => {
    const versionId = chooseVersion(model, at, chosen.version)
    return isUnavailable(versionId) ? undefined : chosen.get({ ...at, versionId })
  },
)

const standard = fc.option(
  fc.record({ mode, unit: fc.constantFrom('days' as const, 'years' as const), value: fc.constantFrom(1, 2) }),
  { nil: undefined, freq: 3 },
)

const bucketWrite = fc.oneof(
  recipe(
    'create bucket',
    'nothing',
    fc.record({ hasLock: fc.boolean(), region: fc.constantFrom(buckets.STANDARD_REGION, 'eu-west-1') }),
    ({ hasLock, region }, _model, { bucket }) => buckets.createBucket(bucket, hasLock, region),
  ),
  recipe('delete bucket', 'nothing', nothing, (_nothing, _model, { bucket }) => buckets.deleteBucket(bucket)),
  recipe(
    'versioning',
    'nothing',
    fc.constantFrom('Enabled' as const, 'Suspended' as const),
    (status, _model, { bucket }) => buckets.putVersioning(bucket, status),
  ),
  recipe('lock configuration', 'nothing', standard, (chosen, _model, { bucket }) =>
    buckets.putLockConfiguration(bucket, chosen),
  ),
  recipe(
    'cors',
    'nothing',
    fc.constantFrom(undefined, 'https://one.example', 'https://*.example'),
    (origin, _model, { bucket }) => buckets.putCors(bucket, origin),
  ),
)

const bucketRead = recipe(
  'read bucket',
  'nothing',
  fc.constantFrom(
    buckets.headBucket,
    buckets.getVersioning,
    buckets.getLockConfiguration,
    buckets.getCors,
    buckets.listBuckets,
  ),
  (get, _model, { bucket }) => get(bucket),
)

/** Requests on one key; each may come at the same time as others on it. */
export const keyRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 8, arbitrary: put },
  { weight: 4, arbitrary: append },
  { weight: 4, arbitrary: copy },
  { weight: 3, arbitrary: rename },
  { weight: 3, arbitrary: deletion },
  { weight: 3, arbitrary: versionDeletion },
  { weight: 3, arbitrary: batchDeletion },
  { weight: 3, arbitrary: retention },
  { weight: 2, arbitrary: hold },
  { weight: 2, arbitrary: read },
  { weight: 1, arbitrary: lockRead },
)

export const bucketRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 4, arbitrary: bucketWrite },
  { weight: 1, arbitrary: bucketRead },
)
