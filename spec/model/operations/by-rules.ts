/** Requests that change something: the command that they come to, and how what the rules make of it looks on the wire. */
import type { Command } from '../../../engine/commands/commands.ts'
import type { VersionSelector } from '../../../engine/commands/version-name.ts'
import { sequenceOf } from '../../../engine/brands.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type ErrorCode, headerOf, type Operation, type Outcome, type Pattern, refusals } from '../expectation.ts'
import { type Outcome as Ruled, timeOf } from '../refusals.ts'
import { ModelRules } from '../rules.ts'
import { type ModelBucket, type ModelState, type ModelVersion, wireId } from '../state.ts'

/** What refusals of the rules are called on the wire (S3 API reference, Error responses). */
const CODES: Readonly<Record<string, ErrorCode>> = {
  'bucket-exists': 'BucketAlreadyOwnedByYou',
  'bucket-not-empty': 'BucketNotEmpty',
  'bucket-not-found': 'NoSuchBucket',
  'clock-behind': 'ServiceUnavailable',
  'compliance-retention': 'AccessDenied',
  'copy-onto-itself': 'InvalidRequest',
  'governance-retention': 'AccessDenied',
  'legal-hold': 'AccessDenied',
  'lock-not-enabled': 'InvalidRequest',
  'object-not-found': 'NoSuchKey',
  'offset-is-not-size': 'InvalidWriteOffset',
  'part-not-found': 'InvalidPart',
  'part-too-small': 'EntityTooSmall',
  'precondition-failed': 'PreconditionFailed',
  'quota-exceeded': 'QuotaExceeded',
  'rename-of-versions': 'InvalidBucketState',
  'rename-onto-itself': 'InvalidRequest',
  'rename-token-reused': 'IdempotencyParameterMismatch',
  'retention-in-past': 'InvalidArgument',
  'source-changed': 'NoSuchVersion',
  'upload-not-found': 'NoSuchUpload',
  'version-is-marker': 'MethodNotAllowed',
  'version-not-found': 'NoSuchVersion',
  'versioning-is-locked': 'InvalidBucketState',
}

/** What the rules made of a command, in the world before and after it. */
export interface Carried {
  readonly outcome: Ruled
  readonly before: ModelState
  readonly after: ModelState
  /** Milliseconds since 1970. */
  readonly time: number
}

/** The same on the management plane (spec/manual/errors.md). */
export const MANAGEMENT_CODES: Readonly<Record<string, ErrorCode>> = {
  'bucket-exists': 'BUCKET_EXISTS',
  'bucket-not-empty': 'BUCKET_NOT_EMPTY',
  'bucket-not-found': 'BUCKET_NOT_FOUND',
  'clock-behind': 'CLOCK_BEHIND',
  'compliance-retention': 'VERSION_LOCKED',
  'copy-onto-itself': 'INVALID_REQUEST',
  'governance-retention': 'VERSION_LOCKED',
  'legal-hold': 'VERSION_LOCKED',
  'lock-not-enabled': 'BUCKET_STATE',
  'object-not-found': 'OBJECT_NOT_FOUND',
  'precondition-failed': 'CONFLICT',
  'quota-exceeded': 'QUOTA_EXCEEDED',
  'rule-not-found': 'LIFECYCLE_RULE_NOT_FOUND',
  'source-changed': 'CONFLICT',
  'version-is-marker': 'VERSION_IS_MARKER',
  'version-not-found': 'VERSION_NOT_FOUND',
  'versioning-is-locked': 'BUCKET_STATE',
  'webhook-not-found': 'WEBHOOK_NOT_FOUND',
}

const NO_FILES = new Map<string, Buffer>()

/**
 * The outcomes of a request that comes to a command.
 * @param patternOf how success looks
 * @param name takes what the answer names into the world after it, beside the id of the version
 * @param codes what refusals are called
 */
export function byRules(
  commandOf: (world: ModelState) => Command,
  patternOf: (carried: Carried) => Pattern,
  name?: (after: ModelState, answer: WireAnswer) => void,
  codes: Readonly<Record<string, ErrorCode>> = CODES,
): Operation['outcomes'] {
  return (before, at) => {
    const after = before.copy()
    const command = commandOf(before)
    const moment = { ...at, sequence: before.sequence + 1 }
    const outcome = new ModelRules(after, NO_FILES).apply(command, moment)
    if (outcome === undefined) throw new Error(`the model has no rules of ${command.kind}`)
    if (outcome.code !== 'done')
      return refusals(
        before,
        (outcome.reasons ?? [outcome.code]).map((reason) => codeOf(codes, reason)),
      )
    const next = (answer: WireAnswer | undefined) => {
      if (answer === undefined) return after
      const made = after.everyVersion.find(({ version }) => version.sequence === outcome.version)?.version
      if (made !== undefined) after.learn(made, headerOf(answer, 'x-amz-version-id'))
      name?.(after, answer)
      return after
    }
    return [{ pattern: patternOf({ outcome, before, after, time: timeOf(at) }), next }]
  }
}

/** What clients are told of a refusal of the rules. */
export function codeOfRule(reason: string): ErrorCode {
  return codeOf(CODES, reason)
}

function codeOf(codes: Readonly<Record<string, ErrorCode>>, reason: string): ErrorCode {
  const code = codes[reason]
  if (code === undefined) throw new Error(`${reason} is not for clients`)
  return code
}

/** What the planes check by themselves may be told before what the rules refuse; with neither it is what the rules say. */
export function orRefused(
  world: ModelState,
  own: readonly Outcome[] | readonly ErrorCode[],
  ruled: readonly Outcome[],
): readonly Outcome[] {
  const refused = own.flatMap((one) => (typeof one === 'string' ? refusals(world, [one]) : one))
  return refused.length === 0 ? ruled : [...refused, ...ruled.filter(({ pattern }) => pattern.code !== undefined)]
}

/** The version of a key with an id of the wire; markers too. */
export function versionNamed(
  world: ModelState,
  bucket: ModelBucket | undefined,
  key: string,
  id: string,
): ModelVersion | undefined {
  return world.versions(bucket, key).find((version) => wireId(version) === id)
}

/** The version that a request names, as commands name it. */
export function selectorOf(world: ModelState, { bucket, key, versionId }: VersionName): VersionSelector | undefined {
  if (versionId === undefined || versionId === 'null') return versionId
  const found = versionNamed(world, world.buckets.get(bucket), key, versionId)
  return found === undefined ? 'unknown' : sequenceOf(found.sequence)
}

export interface VersionName {
  readonly bucket: string
  readonly key: string
  /** Undefined is the current object. */
  readonly versionId?: string | undefined
}
