/** Everything that clients can see of the store, held against the model. */
import type { Operation } from './expectation.ts'
import type { Model, ModelStore } from './model.ts'
import { type ModelBucket, type ModelState, type ModelVersion, wireId } from './state.ts'
import { getCors, getLockConfiguration, getVersioning, headBucket, listBuckets } from './operations/buckets.ts'
import { type ListObjectsRequest, listObjects, nextObjects } from './operations/list-objects.ts'
import {
  listAllUploads,
  listParts,
  listUploads,
  type ListUploadsRequest,
  nextUploads,
} from './operations/list-uploads.ts'
import { listAllVersions, listVersions, type ListVersionsRequest, nextVersions } from './operations/list-versions.ts'
import { listEvents, shownIds } from './operations/list-events.ts'
import { listRules } from './operations/lifecycle-rules.ts'
import { listWebhooks } from './operations/webhooks.ts'
import { getLegalHold, getRetention } from './operations/locks.ts'
import { readObject } from './operations/reads.ts'
import { getBucketTags, getTags } from './operations/tags.ts'

const REQUESTS_AT_ONCE = 8
/** Larger ones are read to their end only once in a sequence. */
const SMALL_BYTES_MAXIMUM = 1 << 20
/** Pages of each listing are walked with these. */
const WALKS = [
  { prefix: '', delimiter: '', size: 2 },
  { prefix: '', delimiter: '/', size: 1 },
  { prefix: 'a/', delimiter: '/', size: 3 },
] as const

/**
 * Reads every bucket, version and upload. Afterwards it is known what became of requests without an answer.
 * @throws ContradictionError, Error when a lock did not hold
 */
export async function compare(model: Model, store: ModelStore): Promise<void> {
  model.ledger.beginComparison()
  const names = [...new Set(model.worlds.flatMap((world) => [...world.buckets.keys()]))]
  await carryOut(model, store, [listBuckets()])
  // These tell the ids that are not known, so that the rest can ask by them.
  await carryOut(model, store, names.map(listAllVersions))
  await carryOut(model, store, names.map(listAllUploads))
  await carryOut(model, store, [...names.map(listRules), listWebhooks()])
  await compareEvents(model, store)
  const { world } = model
  await carryOut(
    model,
    store,
    [...world.buckets].flatMap(([name, bucket]) => readAll(world, name, bucket)),
  )
  model.ledger.endComparison(model.moment.now)
}

/**
 * Reads every storage event: those of the model, in its order, and under the ids that they had before.
 * @throws ContradictionError, Error when an id has changed
 */
export async function compareEvents(model: Model, store: ModelStore): Promise<void> {
  const ids = shownIds(await model.carryOut(store, listEvents()))
  const changed = model.eventIds.findIndex((id, index) => ids[index] !== id)
  if (changed !== -1) throw new Error(`event ${changed} was ${model.eventIds[changed]} and is ${ids[changed]}`)
  const wrong = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? ''))
  if (wrong !== -1) throw new Error(`event ${wrong} has an id that is not after that of the one before`)
  model.eventIds = ids
}

/** Reads to their end the versions of which `compare` asks for no more than the head. */
export async function compareLarge(model: Model, store: ModelStore): Promise<void> {
  const reads = [...model.world.buckets].flatMap(([name, bucket]) =>
    [...bucket.keys].flatMap(([key, all]) =>
      all
        .filter((version) => !isSmall(version))
        .map((version) => readObject({ method: 'GET', bucket: name, key, versionId: wireId(version) })),
    ),
  )
  await carryOut(model, store, reads)
}

/** The same and the rest of what can be seen: heads, lock states, every listing in pages. */
export async function compareFully(model: Model, store: ModelStore): Promise<void> {
  await compare(model, store)
  const { world } = model
  await carryOut(
    model,
    store,
    [...world.buckets].flatMap(([name, bucket]) => headAll(world, name, bucket)),
  )
  for (const name of world.buckets.keys()) {
    for (const walk of WALKS) await walkPages(model, store, name, walk)
  }
}

/** Sends reads, some at once, and takes in their answers. */
async function carryOut(model: Model, store: ModelStore, operations: readonly Operation[]): Promise<void> {
  for (let index = 0; index < operations.length; index += REQUESTS_AT_ONCE) {
    const some = operations.slice(index, index + REQUESTS_AT_ONCE)
    const answers = await Promise.all(some.map(({ request }) => store.send(request)))
    for (const [place, operation] of some.entries()) model.settle([{ operation, answer: answers[place] }])
  }
}

function readAll(world: ModelState, name: string, bucket: ModelBucket): Operation[] {
  const versions = [...bucket.keys].flatMap(([key, all]) =>
    all.map((version) => {
      const method = isSmall(version) ? 'GET' : 'HEAD'
      return readObject({ method, bucket: name, key, versionId: wireId(version) })
    }),
  )
  const uploads = world
    .uploadsOf(bucket.id)
    .map(({ key, id = '' }) => listParts({ bucket: name, key, uploadId: id, maxParts: 1000, marker: 0 }))
  return [getVersioning(name), getLockConfiguration(name), ...versions, ...uploads]
}

function headAll(world: ModelState, name: string, bucket: ModelBucket): Operation[] {
  const heads = [...bucket.keys].flatMap(([key, all]) => [
    readObject({ method: 'HEAD', bucket: name, key }),
    ...all.map((version) => {
      const method = isSmall(version) ? 'HEAD' : 'GET'
      return readObject({ method, bucket: name, key, versionId: wireId(version) })
    }),
  ])
  const locks = [...bucket.keys].flatMap(([key, all]) =>
    bucket.lockEnabled
      ? all.flatMap((version) =>
          [getRetention, getLegalHold].map((get) => get({ bucket: name, key, versionId: wireId(version) })),
        )
      : [],
  )
  const parts = world
    .uploadsOf(bucket.id)
    .flatMap(({ key, id = '', parts: all }) =>
      [0, ...all.keys()].map((marker) => listParts({ bucket: name, key, uploadId: id, maxParts: 1, marker })),
    )
  return [headBucket(name), getCors(name), ...heads, ...locks, ...parts, ...tagsOf(world, name, bucket)]
}

/** Where there are any: a server without the extension has none, and refuses to be asked. */
function tagsOf(world: ModelState, name: string, bucket: ModelBucket): Operation[] {
  const hasTags = [...world.buckets.values()].some(({ tags }) => tags.length > 0)
  const isTagged = world.everyVersion.some(({ version: { tags = [] } }) => tags.length > 0)
  if (!hasTags && !isTagged) return []
  const named = [...bucket.keys].flatMap(([key, all]) => all.map((version) => ({ key, versionId: wireId(version) })))
  return [getBucketTags(name), ...named.map((one) => getTags({ bucket: name, ...one }))]
}

function isSmall({ size }: ModelVersion): boolean {
  return size <= SMALL_BYTES_MAXIMUM
}

async function walkPages(
  model: Model,
  store: ModelStore,
  name: string,
  { prefix, delimiter, size }: (typeof WALKS)[number],
): Promise<void> {
  const bucket = model.world.buckets.get(name)
  if (bucket === undefined) return
  const filter = { bucket: name, prefix, delimiter }
  let objects: ListObjectsRequest | undefined = { ...filter, maxKeys: size, position: undefined }
  while (objects !== undefined) {
    const next = nextObjects(await model.carryOut(store, listObjects(objects)))
    objects = next === undefined ? undefined : { ...filter, maxKeys: size, ...next }
  }
  let versions: ListVersionsRequest | undefined = { ...filter, maxKeys: size }
  while (versions !== undefined) {
    versions = nextVersions(model.world, bucket, versions, await model.carryOut(store, listVersions(versions)))
  }
  let uploads: ListUploadsRequest | undefined = { ...filter, maxUploads: size }
  while (uploads !== undefined) {
    await model.carryOut(store, listUploads(uploads))
    uploads = nextUploads(model.world, bucket, uploads)
  }
}
