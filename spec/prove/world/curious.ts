/** Curious clients: what the model has no recipes for, or has them seldom, each answer judged by the model or by what it holds. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { BUCKETS, type Place } from '../../model/choices.ts'
import { compare } from '../../model/comparison.ts'
import { contentOf } from '../../model/content.ts'
import { mismatch, type Operation, type Pattern, targetOf } from '../../model/expectation.ts'
import { sameText } from '../../model/operations/buckets.ts'
import { decodedElement } from '../../model/operations/list-entries.ts'
import { listParts } from '../../model/operations/list-uploads.ts'
import { abortUpload, completeUpload, createUpload, uploadPart } from '../../model/operations/multipart.ts'
import { readObject } from '../../model/operations/reads.ts'
import { getTags } from '../../model/operations/tags.ts'
import { renameObject } from '../../model/operations/renames.ts'
import { putObject, UNCONDITIONAL } from '../../model/operations/writes.ts'
import { chunkedFor, sendChunked } from '../../support/chunked-sends.ts'
import { blocks, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Chance, stepByChance } from './step-by-chance.ts'

const KINDS_MAXIMUM = 4
/** User metadata has at most this many bytes of names and values (S3 user guide). */
const METADATA_BYTES_MAXIMUM = 2048
const ORIGIN = 'https://one.example'

function judged({ model, world }: Chance, operation: Operation): Promise<WireAnswer> {
  return model.carryOut(world, operation, 'curious client')
}

function put({ bucket, key }: Place, size: number, headers: readonly string[] = []): Operation {
  return putObject({ bucket, key, content: contentOf(1, size), headers, lock: {}, condition: UNCONDITIONAL })
}

/** Holds an answer that changes nothing against what it must be. */
async function expected(
  { model, world }: Chance,
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
async function smallParts(chance: Chance): Promise<void> {
  const { bucket, key } = chance.place
  const created = await judged(chance, createUpload(bucket, key, [], {}))
  const uploadId = firstElement(created.text, 'UploadId')
  if (uploadId === undefined) return
  const upload = { bucket, key, uploadId }
  const parts = [contentOf(1, 500), contentOf(2, 11)]
  for (const [index, part] of parts.entries()) await judged(chance, uploadPart(upload, index + 1, part))
  const list = parts.map(({ md5 }, index) => ({ part: index + 1, etag: md5 }))
  for (const order of [list, list.toReversed(), []]) await judged(chance, completeUpload(upload, order))
  await judged(chance, listParts({ ...upload, maxParts: 1, marker: 1 }))
  if (chance.random.below(2) === 0) await judged(chance, completeUpload(upload, list.slice(1)))
  else await judged(chance, abortUpload(upload))
  await judged(chance, uploadPart(upload, 1, contentOf(3, 1)))
}

/** The first and the last byte that there are, and the first that there is not. */
async function ranges(chance: Chance): Promise<void> {
  const { model, place } = chance
  const { world } = model
  const size = world.current(world.buckets.get(place.bucket), place.key)?.size ?? 0
  for (const range of [`bytes=0-${size}`, `bytes=${size}-`, `bytes=${Math.max(0, size - 1)}-`, `bytes=-${size + 1}`]) {
    await judged(chance, readObject({ method: 'GET', ...place, range }))
  }
}

/** As much metadata as there may be. */
async function longMetadata(chance: Chance): Promise<void> {
  const note = 'm'.repeat(METADATA_BYTES_MAXIMUM - 'note'.length)
  await judged(chance, put(chance.place, 1, ['x-amz-meta-note', note]))
  await judged(chance, readObject({ method: 'HEAD', ...chance.place }))
}

/** Sizes about the one from which bodies have files of their own, and from which bodies go out as streams. */
async function sizes(chance: Chance): Promise<void> {
  for (const size of [2047, 2048, 2049, 16_384, 16_385]) await judged(chance, put(chance.place, size))
  await judged(chance, readObject({ method: 'GET', ...chance.place }))
}

/** A token that was used for another rename. */
async function renameTwice(chance: Chance): Promise<void> {
  const bucket = 'plain'
  const rename = (from: string, key: string) =>
    renameObject({ bucket, from, key, token: 'twice', condition: UNCONDITIONAL, sourceConditions: {} })
  await judged(chance, put({ bucket, key: 'a' }, 11))
  await judged(chance, rename('a', 'a/b'))
  await judged(chance, put({ bucket, key: 'a' }, 1))
  await judged(chance, rename('a', 'a/b'))
  await judged(chance, rename('a', 'a/b/c'))
  await judged(chance, rename('a/b/c', 'a/b'))
}

/** A body in chunks, each with its signature. */
async function inChunks({ model, world, place, random }: Chance): Promise<void> {
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
async function ofBucket(chance: Chance): Promise<void> {
  const { model, place, random } = chance
  const { world } = model
  const bucket = world.buckets.get(place.bucket)
  if (bucket === undefined) {
    for (const query of ['location', 'prefix=a'])
      await expected(chance, 'GET', `/${place.bucket}?${query}`, 'NoSuchBucket')
    return
  }
  const region = bucket.region === 'us-east-1' ? '' : bucket.region
  const located = ({ text }: WireAnswer) => sameText(firstElement(text, 'LocationConstraint') ?? '', region)
  await expected(chance, 'GET', `/${place.bucket}?location`, { status: 200, check: located })
  const prefix = random.of(['', 'a', 'a/'])
  const keys = world.keys(bucket).filter((key) => key.startsWith(prefix) && world.current(bucket, key) !== undefined)
  const listed = ({ text }: WireAnswer) =>
    sameText(
      blocks(text, 'Contents').map((block) => decodedElement(block, 'Key')),
      keys,
    )
  const query = { prefix, 'encoding-type': 'url' }
  await expected(chance, 'GET', targetOf(place.bucket, undefined, query), { status: 200, check: listed })
}

/** What is asked of an object beside its bytes. */
async function ofObject(chance: Chance): Promise<void> {
  const { model, place } = chance
  const { world } = model
  const bucket = world.buckets.get(place.bucket)
  const current = world.current(bucket, place.key)
  const target = targetOf(place.bucket, place.key)
  const refusal = bucket === undefined ? 'NoSuchBucket' : 'NoSuchKey'
  if (model.worlds.length === 1) await judged(chance, getTags(place))
  const check = ({ text }: WireAnswer) =>
    sameText([firstElement(text, 'ETag'), firstElement(text, 'ObjectSize')], [current?.etag, String(current?.size)])
  const attributes = current === undefined ? refusal : { status: 200, check }
  await expected(chance, 'GET', `${target}?attributes`, attributes, [['x-amz-object-attributes', 'ETag,ObjectSize']])
}

/** A browser's question before a read: the model allows this origin, or has no rule for it. */
async function preflight({ model, world, place }: Chance): Promise<void> {
  const target = targetOf(place.bucket, place.key)
  const headers = [['origin', ORIGIN] as const, ['access-control-request-method', 'GET'] as const]
  const { status, headers: lines } = await world.server.raw('OPTIONS', target, { headers, sign: false })
  model.log.push(`OPTIONS ${target}: ${status}`)
  const found = [status, lines['access-control-allow-origin'], lines['access-control-allow-methods']]
  // It may not be known yet what became of a request that set CORS.
  const problems = model.worlds.map(({ buckets }) => {
    const isAllowed = (buckets.get(place.bucket)?.cors.length ?? 0) > 0
    return sameText(found, isAllowed ? [200, ORIGIN, 'GET'] : [403, undefined, undefined])
  })
  if (!problems.includes(undefined)) throw new Error(`OPTIONS ${target}: ${problems[0]}`)
}

const KINDS = [smallParts, ranges, longMetadata, sizes, renameTwice, inChunks, ofBucket, ofObject, preflight]

export const curiousStep = stepByChance('a curious client', async (chance, choose) => {
  const { model, world, random } = chance
  for (let count = 1 + random.below(KINDS_MAXIMUM); count > 0; count -= 1) {
    const chosen = choose()
    const place = random.below(4) === 0 ? { ...chosen, bucket: random.of(BUCKETS) } : chosen
    await random.of(KINDS)({ ...chance, place })
  }
  await compare(model, world)
})
