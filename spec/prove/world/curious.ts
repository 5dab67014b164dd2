/** Curious clients: what the model has no recipes for, or has them seldom, each answer judged by the model or by what it holds. */
import * as fc from 'fast-check'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { BUCKETS, choosePlace, type Place, type PlaceChoice, placeChoice } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import { mismatch, type Operation, type Pattern, targetOf } from '../../model/expectation.ts'
import type { Model, ModelStore } from '../../model/model.ts'
import { sameText } from '../../model/operations/buckets.ts'
import { decodedElement } from '../../model/operations/list-entries.ts'
import { listParts } from '../../model/operations/list-uploads.ts'
import { abortUpload, completeUpload, createUpload, uploadPart } from '../../model/operations/multipart.ts'
import { readObject } from '../../model/operations/reads.ts'
import { renameObject } from '../../model/operations/renames.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { Step } from '../../model/steps.ts'
import { chunkedFor, sendChunked } from '../../support/chunked-sends.ts'
import { Random } from '../../support/random.ts'
import { blocks, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type WorldStore, worldOf } from './world-store.ts'

const KINDS_MAXIMUM = 4
/** User metadata has at most this many bytes of names and values (S3 user guide). */
const METADATA_BYTES_MAXIMUM = 2048
const ORIGIN = 'https://one.example'

interface Curiosity {
  readonly model: Model
  readonly world: WorldStore
  readonly place: Place
  readonly random: Random
}

async function judged({ model, world }: Curiosity, operation: Operation): Promise<WireAnswer> {
  const answer = await world.send(operation.request)
  model.tally.count('curious client', answer)
  model.settle([{ operation, answer }])
  return answer
}

function put({ bucket, key }: Place, size: number, headers: readonly string[] = []): Operation {
  return putObject({ bucket, key, content: contentOf(1, size), headers, lock: {}, condition: UNCONDITIONAL })
}

/** Holds an answer that changes nothing against what it must be. */
async function expected(
  { model, world }: Curiosity,
  method: 'GET',
  target: string,
  pattern: Pattern | S3ErrorCode,
  headers: readonly HeaderLine[] = [],
): Promise<void> {
  const answer = await world.send({ method, target, headers })
  const isRefusal = typeof pattern === 'string'
  const problem = isRefusal ? sameText(answer.code, pattern) : mismatch(pattern, method, answer)
  model.log.push(`${method} ${target}: ${answer.status} ${answer.code ?? ''}`)
  if (problem !== undefined) throw new Error(`${method} ${target}: ${problem}`)
}

/** Parts that are too small, in each order, then none. */
async function smallParts(curiosity: Curiosity): Promise<void> {
  const { bucket, key } = curiosity.place
  const created = await judged(curiosity, createUpload(bucket, key, [], {}))
  const uploadId = firstElement(created.text, 'UploadId')
  if (uploadId === undefined) return
  const upload = { bucket, key, uploadId }
  const parts = [contentOf(1, 500), contentOf(2, 11)]
  for (const [index, part] of parts.entries()) await judged(curiosity, uploadPart(upload, index + 1, part))
  const list = parts.map(({ md5 }, index) => ({ part: index + 1, etag: md5 }))
  for (const order of [list, list.toReversed(), []]) await judged(curiosity, completeUpload(upload, order))
  await judged(curiosity, listParts({ ...upload, maxParts: 1, marker: 1 }))
  if (curiosity.random.below(2) === 0) await judged(curiosity, completeUpload(upload, list.slice(1)))
  else await judged(curiosity, abortUpload(upload))
  await judged(curiosity, uploadPart(upload, 1, contentOf(3, 1)))
}

/** The first and the last byte that there are, and the first that there is not. */
async function ranges(curiosity: Curiosity): Promise<void> {
  const { model, place } = curiosity
  const { world } = model
  const size = world.current(world.buckets.get(place.bucket), place.key)?.size ?? 0
  for (const range of [`bytes=0-${size}`, `bytes=${size}-`, `bytes=${Math.max(0, size - 1)}-`, `bytes=-${size + 1}`]) {
    await judged(curiosity, readObject({ method: 'GET', ...place, range }))
  }
}

/** As much metadata as there may be. */
async function longMetadata(curiosity: Curiosity): Promise<void> {
  const note = 'm'.repeat(METADATA_BYTES_MAXIMUM - 'note'.length)
  await judged(curiosity, put(curiosity.place, 1, ['x-amz-meta-note', note]))
  await judged(curiosity, readObject({ method: 'HEAD', ...curiosity.place }))
}

/** Sizes about the one from which bodies have files of their own, and from which bodies go out as streams. */
async function sizes(curiosity: Curiosity): Promise<void> {
  for (const size of [2047, 2048, 2049, 16_384, 16_385]) await judged(curiosity, put(curiosity.place, size))
  await judged(curiosity, readObject({ method: 'GET', ...curiosity.place }))
}

/** A token that was used for another rename. */
async function renameTwice(curiosity: Curiosity): Promise<void> {
  const bucket = 'plain'
  const rename = (from: string, key: string) =>
    renameObject({ bucket, from, key, token: 'twice', condition: UNCONDITIONAL, sourceConditions: {} })
  await judged(curiosity, put({ bucket, key: 'a' }, 11))
  await judged(curiosity, rename('a', 'a/b'))
  await judged(curiosity, put({ bucket, key: 'a' }, 1))
  await judged(curiosity, rename('a', 'a/b'))
  await judged(curiosity, rename('a', 'a/b/c'))
  await judged(curiosity, rename('a/b/c', 'a/b'))
}

/** A body in chunks, each with its signature. */
async function inChunks({ model, world, place, random }: Curiosity): Promise<void> {
  const content = contentOf(2, random.of([0, 1, 8192, 20_000]))
  const operation = putObject({ ...place, content, headers: [], lock: {}, condition: UNCONDITIONAL })
  const { target } = operation.request
  const request = chunkedFor(world.server, decodeURIComponent(target), {
    form: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    payload: content.bytes,
    chunkBytes: 8192,
  })
  model.settle([{ operation, answer: await sendChunked(world.server, target, request) }])
}

/** What is asked of a bucket and not of an object. */
async function ofBucket(curiosity: Curiosity): Promise<void> {
  const { model, place, random } = curiosity
  const { world } = model
  const bucket = world.buckets.get(place.bucket)
  if (bucket === undefined) {
    for (const query of ['location', 'prefix=a'])
      await expected(curiosity, 'GET', `/${place.bucket}?${query}`, 'NoSuchBucket')
    return
  }
  const region = bucket.region === 'us-east-1' ? '' : bucket.region
  const located = ({ text }: WireAnswer) => sameText(firstElement(text, 'LocationConstraint') ?? '', region)
  await expected(curiosity, 'GET', `/${place.bucket}?location`, { status: 200, check: located })
  const prefix = random.of(['', 'a', 'a/'])
  const keys = world.keys(bucket).filter((key) => key.startsWith(prefix) && world.current(bucket, key) !== undefined)
  const listed = ({ text }: WireAnswer) =>
    sameText(
      blocks(text, 'Contents').map((block) => decodedElement(block, 'Key')),
      keys,
    )
  const query = { prefix, 'encoding-type': 'url' }
  await expected(curiosity, 'GET', targetOf(place.bucket, undefined, query), { status: 200, check: listed })
}

/** What is asked of an object beside its bytes. */
async function ofObject(curiosity: Curiosity): Promise<void> {
  const { model, place } = curiosity
  const { world } = model
  const bucket = world.buckets.get(place.bucket)
  const current = world.current(bucket, place.key)
  const target = targetOf(place.bucket, place.key)
  const refusal = bucket === undefined ? 'NoSuchBucket' : 'NoSuchKey'
  const tags = current === undefined ? refusal : { status: 200, check: hasNoTags }
  await expected(curiosity, 'GET', `${target}?tagging`, tags)
  const check = ({ text }: WireAnswer) =>
    sameText([firstElement(text, 'ETag'), firstElement(text, 'ObjectSize')], [current?.etag, String(current?.size)])
  const attributes = current === undefined ? refusal : { status: 200, check }
  await expected(curiosity, 'GET', `${target}?attributes`, attributes, [['x-amz-object-attributes', 'ETag,ObjectSize']])
}

function hasNoTags({ text }: WireAnswer): string | undefined {
  return sameText(firstElement(text, 'TagSet'), '')
}

/** A browser's question before a read: the model allows this origin, or has no rule for it. */
async function preflight({ model, world, place }: Curiosity): Promise<void> {
  const target = targetOf(place.bucket, place.key)
  const headers = [['origin', ORIGIN] as const, ['access-control-request-method', 'GET'] as const]
  const { status, headers: lines } = await world.server.raw('OPTIONS', target, { headers, sign: false })
  const isAllowed = (model.world.buckets.get(place.bucket)?.cors.length ?? 0) > 0
  model.log.push(`OPTIONS ${target}: ${status}`)
  const found = [status, lines['access-control-allow-origin'], lines['access-control-allow-methods']]
  const problem = sameText(found, isAllowed ? [200, ORIGIN, 'GET'] : [403, undefined, undefined])
  if (problem !== undefined) throw new Error(`OPTIONS ${target}: ${problem}`)
}

const KINDS = [smallParts, ranges, longMetadata, sizes, renameTwice, inChunks, ofBucket, ofObject, preflight]

class Curious extends Step {
  readonly #place: PlaceChoice
  readonly #seed: number

  constructor(place: PlaceChoice, seed: number) {
    super('a curious client')
    this.#place = place
    this.#seed = seed
  }

  check(): boolean {
    return true
  }

  async run(model: Model, store: ModelStore): Promise<void> {
    const random = new Random(this.#seed)
    model.log.push(String(this))
    for (let count = 1 + random.below(KINDS_MAXIMUM); count > 0; count -= 1) {
      const chosen = choosePlace(model, this.#place, 'a key')
      const place = random.below(4) === 0 ? { ...chosen, bucket: random.of(BUCKETS) } : chosen
      await random.of(KINDS)({ model, world: worldOf(store), place, random })
    }
    await compare(model, store)
  }
}

export const curiousStep: fc.Arbitrary<Step> = fc
  .record({ at: placeChoice, seed: fc.nat(2 ** 31 - 1) })
  .map(({ at, seed }) => new Curious(at, seed))
