/** DeleteObjects: what the rules say of one deletion after the other, and a list of it. */
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import { deleteObject as deletion } from '../../support/commands.ts'
import { deletedIn, deletionDocument, digestOf, type WireDeleted } from '../../support/wire-deletions.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type ErrorCode, type Moment, type Operation, type Outcome, refusals, targetOf } from '../expectation.ts'
import { ModelRules } from '../rules.ts'
import type { ModelState } from '../state.ts'
import { codeOfRule, selectorOf, versionNamed } from './by-rules.ts'
import { BYPASS } from './deletions.ts'
import { isMalformed } from './reads.ts'
import { UNCONDITIONAL } from './writes.ts'

export interface BatchDeletion {
  readonly key: string
  readonly versionId?: string | undefined
  /** `exists` or `matches`, which an ETag can say. */
  readonly condition?: WriteCondition
}

interface BatchRequest {
  readonly bucket: string
  readonly deletions: readonly BatchDeletion[]
  readonly bypasses: boolean
}

/** What is right for one key: one of some errors, or deleted, with a marker of a known id, a new one or none. */
type Expected =
  | { readonly codes: readonly ErrorCode[] }
  | { readonly marker: { readonly id: string | undefined; readonly made: number | undefined } | undefined }

const NO_FILES = new Map<string, Buffer>()

export function deleteObjects(request: BatchRequest): Operation {
  const { bucket, deletions, bypasses } = request
  const body = deletionDocument(
    deletions.map(({ key, versionId, condition = UNCONDITIONAL }) => ({
      Key: key,
      ...(versionId !== undefined && { VersionId: versionId }),
      ...(condition.kind !== 'none' && { ETag: 'etags' in condition ? condition.etags.join() : '*' }),
    })),
  )
  return {
    request: {
      method: 'POST',
      target: targetOf(bucket, undefined, { delete: '' }),
      headers: [digestOf(body), ...(bypasses ? [BYPASS] : [])],
      body,
    },
    outcomes: (world, moment) => {
      const isAsked = deletions.some(({ versionId }) => !isMalformed(versionId))
      if (isAsked && !world.buckets.has(bucket)) return refusals(world, ['NoSuchBucket'])
      return [outcomeOf(world, moment, request)]
    },
    pieces: deletions.map((_one, index) => pieceOf(request, index)),
  }
}

/** All of them, one after the other, in a world of their own. */
function outcomeOf(before: ModelState, moment: Moment, request: BatchRequest): Outcome {
  const after = before.copy()
  const expected = request.deletions.map((one) => carryOut(after, moment, request, one))
  return {
    pattern: { status: 200, listsErrors: true, check: (answer) => problemOf(request.deletions, expected, answer) },
    next: (answer) => {
      if (answer !== undefined) learnMarkers(after, expected, deletedIn(answer.text))
      return after
    },
  }
}

/**
 * One key of a request whose keys are in several batches of the journal, as they are with the small segments of the model:
 * other requests come in between (decision 0137). Whether there is a bucket is asked once, before the first.
 */
function pieceOf(request: BatchRequest, index: number): Pick<Operation, 'outcomes'> {
  const one = request.deletions[index] as BatchDeletion
  return {
    outcomes: (before, moment) => {
      const after = before.copy()
      const expected = carryOut(after, moment, request, one)
      const check = ({ text }: WireAnswer) => {
        const told = deletedIn(text)
        if (told.length !== request.deletions.length) return `${told.length} keys are answered`
        return problemOfKey(one, expected, told[index] as WireDeleted)
      }
      const next = (answer: WireAnswer | undefined) => {
        if (answer !== undefined) learnMarkers(after, [expected], deletedIn(answer.text).slice(index, index + 1))
        return after
      }
      const whole = index === 0 && before.buckets.has(request.bucket) ? [] : refusals(before, ['NoSuchBucket'])
      return [{ pattern: { status: 200, listsErrors: true, check }, next }, ...whole]
    },
  }
}

function carryOut(world: ModelState, moment: Moment, request: BatchRequest, one: BatchDeletion): Expected {
  const { bucket, bypasses } = request
  const { key, versionId, condition = UNCONDITIONAL } = one
  if (isMalformed(versionId)) return { codes: ['NoSuchVersion'] }
  const name = { bucket, key, versionId }
  const version = selectorOf(world, name)
  const command = { ...deletion(bucket, key, condition), bypassGovernance: bypasses }
  const found = versionId === undefined ? undefined : versionNamed(world, world.buckets.get(bucket), key, versionId)
  const sequence = world.sequence + 1
  const ruled = new ModelRules(world, NO_FILES).apply(version === undefined ? command : { ...command, version }, {
    ...moment,
    sequence,
  })
  if (ruled === undefined) throw new Error('the model has no rules of deletions')
  if (ruled.code !== 'done') return { codes: (ruled.reasons ?? [ruled.code]).map(codeOfRule) }
  if (ruled.marker !== true) return { marker: undefined }
  if (versionId !== undefined) return { marker: { id: found === undefined ? undefined : versionId, made: undefined } }
  const made = typeof ruled.version === 'number' ? ruled.version : undefined
  return { marker: { id: ruled.version === 'null' ? 'null' : undefined, made } }
}

function problemOf(
  deletions: readonly BatchDeletion[],
  expected: readonly Expected[],
  answer: WireAnswer,
): string | undefined {
  const told = deletedIn(answer.text)
  if (told.length !== expected.length) return `${told.length} keys are answered, not ${expected.length}`
  for (const [index, one] of expected.entries()) {
    const problem = problemOfKey(deletions[index] as BatchDeletion, one, told[index] as WireDeleted)
    if (problem !== undefined) return `${index}: ${problem}`
  }
  return undefined
}

function problemOfKey({ key, versionId }: BatchDeletion, expected: Expected, told: WireDeleted): string | undefined {
  if (told.key !== key || told.versionId !== versionId)
    return `${told.key} ${told.versionId} instead of ${key} ${versionId}`
  if ('code' in told) {
    return 'codes' in expected && expected.codes.some((code) => code === told.code) ? undefined : `it is ${told.code}`
  }
  if ('codes' in expected) return `it is deleted, not ${expected.codes.join(' or ')}`
  const { marker } = expected
  if ((marker === undefined) !== (told.markerId === undefined)) return `the marker is ${told.markerId}`
  // A marker with an id of its own, which no answer has told yet: a world in which it has none is another one.
  if (marker?.made !== undefined && told.markerId === 'null') return 'the marker has no id of its own'
  if (marker?.id !== undefined && told.markerId !== marker.id) return `the marker is ${told.markerId}, not ${marker.id}`
  return undefined
}

function learnMarkers(after: ModelState, expected: readonly Expected[], told: readonly WireDeleted[]): void {
  for (const [index, one] of expected.entries()) {
    const made = 'marker' in one ? one.marker?.made : undefined
    const answered = told[index]
    if (made === undefined || answered === undefined || 'code' in answered) continue
    const version = after.everyVersion.find((each) => each.version.sequence === made)?.version
    if (version !== undefined) after.learn(version, answered.markerId)
  }
}
