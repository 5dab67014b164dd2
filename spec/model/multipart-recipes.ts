/** Random requests of multipart uploads. */
import * as fc from 'fast-check'
import {
  chooseCondition,
  chooseLock,
  choosePlace,
  chooseReadConditions,
  chooseVersion,
  conditionChoice,
  content,
  isUnavailable,
  lockChoice,
  type Place,
  placeChoice,
  readConditionChoice,
  storedHeaders,
  versionAt,
  versionChoice,
} from './choices.ts'
import { contentOf } from './content.ts'
import type { Model } from './model.ts'
import type { ListedPart } from '../support/upload-commands.ts'
import { PART_MINIMUM } from './rules.ts'
import type { ModelUpload } from './state.ts'
import { listParts } from './operations/list-uploads.ts'
import { copyPart } from './operations/part-copies.ts'
import { abortUpload, completeUpload, createUpload, type UploadName, uploadPart } from './operations/multipart.ts'
import { type Recipe, recipe } from './recipes.ts'

/** An upload of the key: one in progress, or one that was completed. */
function chooseUpload(model: Model, { bucket, key }: Place, nth: number): UploadName | undefined {
  const there = model.world.buckets.get(bucket)
  if (there === undefined) return undefined
  const isHere = (upload: ModelUpload) => upload.bucketId === there.id && upload.key === key
  const open = [...model.world.uploads.values()].filter(isHere)
  const done = model.world.completions.flatMap(({ upload }) => (isHere(upload) ? (upload.id ?? []) : []))
  const filled = open.filter(({ parts: all }) => all.size > 0)
  const ids = [...[...open, ...filled, ...filled, ...filled].flatMap(({ id }) => id ?? []), ...done]
  const uploadId = ids[nth % ids.length]
  return uploadId === undefined ? undefined : { bucket, key, uploadId }
}

function openUpload({ world }: Model, { uploadId }: UploadName): ModelUpload | undefined {
  return [...world.uploads.values()].find(({ id }) => id === uploadId)
}

const nth = fc.nat(11)

const create = recipe(
  'create upload',
  'nothing',
  fc.record({ headers: storedHeaders, lock: lockChoice }),
  ({ headers, lock }, model, at) => createUpload(at.bucket, at.key, headers, chooseLock(model, at, lock)),
)

/** Parts of full size are two, so that few bytes are made, sent and compared. */
export const fullPart = fc.nat(1).map((seed) => contentOf(seed, PART_MINIMUM))
const partNumber = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(1, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(0, 10_000, 10_001) },
)

const partUpload = recipe(
  'part',
  'an upload',
  fc.record({
    nth,
    number: partNumber,
    content: fc.oneof({ weight: 7, arbitrary: content }, { weight: 1, arbitrary: fullPart }),
  }),
  (chosen, model, at) => {
    const upload = chooseUpload(model, at, chosen.nth)
    return upload === undefined ? undefined : uploadPart(upload, chosen.number, chosen.content)
  },
)

/** Ranges of a source: some are all of it, some reach over the border of two parts, some are not inside. */
const rangeChoice = fc.constantFrom(
  undefined,
  undefined,
  [0, 0],
  [0, 499],
  [1, 2048],
  [0, PART_MINIMUM - 1],
  [PART_MINIMUM - 3, PART_MINIMUM + 3],
  [3, 2],
  [9000, 9000],
) satisfies fc.Arbitrary<readonly number[] | undefined>

const partCopy = recipe(
  'part copy',
  'an upload',
  fc.record({
    nth,
    number: partNumber,
    source: placeChoice,
    version: versionChoice,
    range: rangeChoice,
    sourceConditions: readConditionChoice,
  }),
  (chosen, model, at) => {
    const name = chooseUpload(model, at, chosen.nth)
    const source = choosePlace(model, chosen.source, 'a key')
    const versionId = chooseVersion(model, source, chosen.version)
    if (name === undefined || isUnavailable(versionId) || chosen.version === 'malformed') return undefined
    const { match, noneMatch } = chooseReadConditions(versionAt(model, source, versionId), chosen.sourceConditions)
    const [first, last] = chosen.range ?? []
    return copyPart({
      name,
      number: chosen.number,
      source: { ...source, versionId },
      range: first === undefined || last === undefined ? undefined : [first, last],
      sourceConditions: {
        match: match === '*' ? undefined : match,
        noneMatch: noneMatch === '*' ? undefined : noneMatch,
      },
    })
  },
)

const WRONG_ETAG = 'd41d8cd98f00b204e9800998ecf8427f'

type ListChoice = 'all' | 'one' | 'reversed' | 'wrong etag' | 'missing' | 'none'

function listOf(upload: ModelUpload, choice: ListChoice): ListedPart[] {
  const all = [...upload.parts].map(([part, { etag }]) => ({ part, etag })).sort((a, b) => a.part - b.part)
  switch (choice) {
    case 'all':
      return all
    case 'one':
      return all.slice(-1)
    case 'reversed':
      return all.toReversed()
    case 'wrong etag':
      return all.map((each, index) => (index === 0 ? { ...each, etag: WRONG_ETAG } : each))
    case 'missing':
      return [...all, { part: 9999, etag: WRONG_ETAG }]
    case 'none':
      return []
  }
}

const complete = recipe(
  'complete',
  'an upload',
  fc.record({
    nth,
    list: fc.constantFrom<ListChoice>(
      'all',
      'all',
      'all',
      'one',
      'one',
      'one',
      'reversed',
      'wrong etag',
      'missing',
      'none',
    ),
    condition: conditionChoice,
  }),
  (chosen, model, at) => {
    const upload = chooseUpload(model, at, chosen.nth)
    if (upload === undefined) return undefined
    const open = openUpload(model, upload)
    const condition = chooseCondition(model, at, chosen.condition)
    if (open !== undefined) return completeUpload(upload, listOf(open, chosen.list), condition)
    return completeUpload(upload, listedBefore(model, upload, chosen.list))
  },
)

/** The list of an upload that was completed, or a part of it. */
function listedBefore({ world }: Model, { uploadId }: UploadName, choice: ListChoice): ListedPart[] {
  const made = world.completions.find(({ upload }) => upload.id === uploadId)
  const all = (made?.numbers ?? []).map((part) => ({ part, etag: made?.upload.parts.get(part)?.etag ?? WRONG_ETAG }))
  return choice === 'all' || choice === 'one' ? all : [...all, { part: 9999, etag: WRONG_ETAG }]
}

const abort = recipe('abort', 'an upload', nth, (chosen, model, at) => {
  const upload = chooseUpload(model, at, chosen)
  return upload === undefined ? undefined : abortUpload(upload)
})

const parts = recipe(
  'parts',
  'an upload',
  fc.record({ nth, maxParts: fc.constantFrom(1, 2, 1000), marker: fc.constantFrom(0, 1, 2) }),
  (chosen, model, at) => {
    const upload = chooseUpload(model, at, chosen.nth)
    return upload === undefined ? undefined : listParts({ ...upload, maxParts: chosen.maxParts, marker: chosen.marker })
  },
)

export const multipartRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 4, arbitrary: create },
  { weight: 6, arbitrary: partUpload },
  { weight: 4, arbitrary: partCopy },
  { weight: 6, arbitrary: complete },
  { weight: 1, arbitrary: abort },
  { weight: 1, arbitrary: parts },
)
