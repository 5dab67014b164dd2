/** Clients that set, replace, copy, read and remove tags of versions and of buckets; each answer is judged by the model. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import {
  chooseVersion,
  choosePlace,
  content,
  isUnavailable,
  type PlaceChoice,
  placeChoice,
  versionAt,
  versionChoice,
} from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import { headerOf, targetOf } from '../../model/expectation.ts'
import { allVersions, type Model, type ModelStore } from '../../model/model.ts'
import { copyObject } from '../../model/operations/copies.ts'
import { completeUpload, createUpload, uploadPart } from '../../model/operations/multipart.ts'
import { readObject } from '../../model/operations/reads.ts'
import { getBucketTags, getTags, setBucketTags, setTags } from '../../model/operations/tags.ts'
import { renameObject } from '../../model/operations/renames.ts'
import { appendObject, putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { type Recipe, recipe } from '../../model/recipes.ts'
import { Request, Step } from '../../model/steps.ts'
import { firstElement } from '../../support/wire-client.ts'
import { type WorldStore, worldOf } from './world-store.ts'

const TAGS_MAXIMUM = 10
const KEY_LENGTH_MAXIMUM = 128
const VALUE_LENGTH_MAXIMUM = 256

const tags = fc.constantFrom<readonly string[]>(
  ['team', 'a'],
  ['team', 'b', 'cost center', '12/3 @x'],
  ['empty', ''],
  ['\u00fc', '\u00e9t\u00e9', 'a+b=c', '._:/=+-@'],
  ['k'.repeat(KEY_LENGTH_MAXIMUM), 'v'.repeat(VALUE_LENGTH_MAXIMUM)],
  Array.from({ length: 2 * TAGS_MAXIMUM }, (_, index) => `tag ${index}`),
)

const some: fc.Arbitrary<Recipe> = recipe(
  'set tags',
  'a key',
  fc.record({ version: versionChoice, wanted: fc.oneof({ weight: 4, arbitrary: tags }, fc.constant([])) }),
  ({ version, wanted }, model, at) => {
    const versionId = chooseVersion(model, at, version)
    return isUnavailable(versionId) ? undefined : setTags({ ...at, versionId }, wanted)
  },
)

/** Requests that may come at once with others. */
export const tagRequest: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 4, arbitrary: some },
  {
    weight: 2,
    arbitrary: recipe('put with tags', 'nothing', fc.record({ content, wanted: tags }), (chosen, _model, at) =>
      putObject({
        ...at,
        content: chosen.content,
        headers: [],
        lock: {},
        condition: UNCONDITIONAL,
        tags: chosen.wanted,
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: recipe(
      'copy of tags',
      'nothing',
      fc.record({ from: placeChoice, wanted: fc.option(tags, { nil: undefined }) }),
      ({ from, wanted }, model, at) =>
        copyObject({
          source: choosePlace(model, from, 'a key'),
          ...at,
          replacement: undefined,
          lock: {},
          condition: UNCONDITIONAL,
          sourceConditions: {},
          tags: wanted,
        }),
    ),
  },
  {
    weight: 1,
    arbitrary: recipe('append to tags', 'a key', content, (more, model, at) => {
      const offset = versionAt(model, at, undefined)?.size ?? 0
      return appendObject({ ...at, content: more, headers: [], lock: {}, condition: UNCONDITIONAL, offset })
    }),
  },
  {
    weight: 1,
    arbitrary: recipe('rename of tags', 'nothing', placeChoice, (from, model, { key }) => {
      const source = choosePlace(model, from, 'a key').key
      const same = { condition: UNCONDITIONAL, sourceConditions: {}, token: undefined }
      return renameObject({ bucket: 'plain', from: source, key, ...same })
    }),
  },
  {
    weight: 1,
    arbitrary: recipe('read tags', 'a key', versionChoice, (version, model, at) => {
      const versionId = chooseVersion(model, at, version)
      return isUnavailable(versionId) || versionId === 'no id!' ? undefined : getTags({ ...at, versionId })
    }),
  },
  {
    weight: 1,
    arbitrary: recipe('bucket tags', 'nothing', fc.option(tags, { nil: [] }), (wanted, _model, { bucket }) =>
      setBucketTags(bucket, wanted),
    ),
  },
)

/** What no version has for tags, and the code that each must get. */
const REFUSED: readonly (readonly [header: string, code: S3ErrorCode])[] = [
  [Array.from({ length: TAGS_MAXIMUM + 1 }, (_, index) => `k${index}=v`).join('&'), 'BadRequest'],
  ['aws:own=1', 'InvalidTag'],
  [`${'k'.repeat(KEY_LENGTH_MAXIMUM + 1)}=v`, 'InvalidTag'],
  [`k=${'v'.repeat(VALUE_LENGTH_MAXIMUM + 1)}`, 'InvalidTag'],
  ['k=1&k=2', 'InvalidArgument'],
]

class Tagging extends Step {
  readonly #recipes: readonly Recipe[]
  readonly #at: PlaceChoice
  readonly #own: 'an upload' | 'refusals' | 'nothing'

  constructor(recipes: readonly Recipe[], at: PlaceChoice, own: 'an upload' | 'refusals' | 'nothing') {
    super('clients set and read tags')
    this.#recipes = recipes
    this.#at = at
    this.#own = own
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    model.log.push(String(this))
    for (const each of this.#recipes) await new Request(each, this.#at).run(model, store)
    const world = worldOf(store)
    if (this.#own === 'an upload') await this.#upload(model, world)
    if (this.#own === 'refusals') await this.#refusals(model, world)
    await compare(model, store)
    await compareTags(model, world)
  }

  /** The tags that an upload begins with are those of the object that it becomes. */
  async #upload(model: Model, world: WorldStore): Promise<void> {
    const { bucket, key } = choosePlace(model, this.#at, 'nothing')
    const created = await model.carryOut(world, createUpload(bucket, key, [], {}, ['of', 'an upload']))
    const uploadId = firstElement(created.text, 'UploadId')
    if (uploadId === undefined) return
    const part = contentOf(1, 500)
    const upload = { bucket, key, uploadId }
    await model.carryOut(world, uploadPart(upload, 1, part))
    const answer = await model.carryOut(world, completeUpload(upload, [{ part: 1, etag: part.md5 }]))
    model.tally.count('upload with tags', answer)
  }

  async #refusals(model: Model, world: WorldStore): Promise<void> {
    const { bucket, key } = choosePlace(model, this.#at, 'nothing')
    const target = targetOf(bucket, key)
    for (const [value, code] of REFUSED) {
      const headers: HeaderLine[] = [['x-amz-tagging', value]]
      const answer = await world.send({ method: 'PUT', target, headers, body: 'x' })
      model.log.push(`PUT ${target} x-amz-tagging=${value.slice(0, 20)}: ${answer.status} ${answer.code}`)
      const isRight = answer.code === code || (answer.code === 'NoSuchBucket' && !model.world.buckets.has(bucket))
      if (!isRight) throw new Error(`tags ${value} are answered ${answer.status} ${answer.code}, not ${code}`)
    }
  }
}

/** The tags of every version and bucket; the administrator is told how many each version has. */
async function compareTags(model: Model, world: WorldStore): Promise<void> {
  for (const bucket of model.world.buckets.keys()) await model.carryOut(world, getBucketTags(bucket))
  for (const { bucket, key, version } of allVersions(model.world)) {
    const name = { bucket, key, versionId: version.isNull ? 'null' : version.id }
    await model.carryOut(world, getTags(name))
    if (version.isMarker) continue
    const answer = await model.carryOut(world, readObject({ method: 'HEAD', ...name }))
    const found = headerOf(answer, 'x-amz-tagging-count')
    const count = (version.tags?.length ?? 0) / 2
    if (Number(found ?? 0) !== count)
      throw new Error(`HEAD of ${bucket}/${key} counts ${found} tags instead of ${count}`)
  }
}

export const tagStep: fc.Arbitrary<Step> = fc
  .record({
    recipes: fc.array(tagRequest, { minLength: 2, maxLength: 5 }),
    at: placeChoice,
    own: fc.constantFrom('an upload' as const, 'refusals' as const, 'nothing' as const, 'nothing' as const),
  })
  .map(({ recipes, at, own }) => new Tagging(recipes, at, own))
