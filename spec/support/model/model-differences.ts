/** Holds everything that a store has against the model of it. */
import { TABLES } from '../../../projections/tables/table-list.ts'
import { isDeepStrictEqual } from 'node:util'
import { bucketIdOf, type PayloadId, sequenceOf, uploadIdOf } from '../../../engine/brands.ts'
import type { ObjectChecksum } from '../../../engine/events/values.ts'
import type { BucketState, ObjectState } from '../../../engine/state-ports.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { decodeLockRow } from '../../../projections/tables/locks.ts'
import { decodePayload } from '../../../projections/tables/payloads.ts'
import { volumeUsage } from '../../../projections/tables/usage.ts'
import { keyOfOrderedRow } from '../../../projections/tables/version-keys.ts'
import { sequenceOfRow } from '../../../projections/tables/versions.ts'
import type { ModelBucket, ModelState, ModelVersion } from '../../model/state.ts'
import { eventDifferences, eventLogOf, readAllEvents } from './event-differences.ts'
import { linkDifferences } from './link-differences.ts'
import { readPayload, type TestStore } from '../test-store.ts'

const EVERYTHING = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 10_000 }

/** Gathers what differs. */
class Differences {
  readonly wrong: string[] = []
  readonly #onUnreadable: ((error: unknown) => void) | undefined

  constructor(onUnreadable: ((error: unknown) => void) | undefined) {
    this.#onUnreadable = onUnreadable
  }

  /** Compares the bytes of a payload; one that the store refuses to give is told of, if anybody wants to know. */
  async payload(
    what: string,
    store: TestStore,
    payload: PayloadId | undefined,
    expected: Buffer | undefined,
  ): Promise<void> {
    let bytes: Buffer
    try {
      bytes = await readPayload(store, payload)
    } catch (error) {
      this.unreadable(error)
      return
    }
    if (!bytes.equals(expected ?? Buffer.alloc(0))) this.wrong.push(`${what}: bytes`)
  }

  /** @throws the error where nobody wants to know of it */
  unreadable(error: unknown): void {
    if (this.#onUnreadable === undefined) throw error
    this.#onUnreadable(error)
  }

  equal(what: string, found: unknown, expected: unknown): void {
    if (isDeepStrictEqual(found, expected)) return
    this.wrong.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
  }
}

/**
 * What is wrong between a store and the model; empty when all is right.
 * @param onUnreadable is given the error of each payload that cannot be read; without it that error ends the comparison
 */
export async function differences(
  store: TestStore,
  model: ModelState,
  onUnreadable?: (error: unknown) => void,
  readsEvents = true,
): Promise<string[]> {
  const found = new Differences(onUnreadable)
  const stored = store.catalog.snapshot().buckets()
  found.equal(
    'buckets',
    stored.map(({ name }) => name),
    [...model.buckets.keys()].toSorted(),
  )
  for (const bucket of stored) {
    const expected = model.buckets.get(bucket.name)
    if (expected === undefined) continue
    compareBucket(found, store, model, bucket, expected)
    for (const key of model.keys(expected)) {
      for (const version of model.versions(expected, key)) {
        await compareVersion(found, store, bucket.id, key, version)
      }
      compareKey(found, store, bucket.id, key, model.versions(expected, key))
    }
  }
  await compareUploads(found, store, model)
  await compareTables(found, store, model, readsEvents)
  found.wrong.push(...(await linkDifferences(store, model)))
  return found.wrong
}

function compareBucket(
  found: Differences,
  store: TestStore,
  model: ModelState,
  bucket: BucketState,
  expected: ModelBucket,
): void {
  const { name } = bucket
  const { id, region, versioning, lockEnabled, defaultRetention, quota } = expected
  const { createdMicroseconds } = bucket
  const settings = { id, name, region, createdMicroseconds, versioning, lockEnabled, defaultRetention, quota }
  found.equal(`${name}: settings`, bucket, settings)
  found.equal(`${name}: cors`, store.catalog.snapshot().cors(bucketIdOf(id)), expected.cors)
  found.equal(`${name}: usage`, store.catalog.snapshot().bucketUsage(bucketIdOf(id)), model.usage(expected))
  const current = model.keys(expected).filter((key) => model.current(expected, key) !== undefined)
  const listed = store.catalog.snapshot().list(bucketIdOf(id), EVERYTHING)
  found.equal(
    `${name}: objects`,
    listed.objects.map(({ key }) => key),
    current,
  )
  const versions = store.catalog.snapshot().listVersions(bucketIdOf(id), EVERYTHING)
  found.equal(
    `${name}: versions`,
    versions.entries.map(({ key, sequence, isNull, isMarker, isLatest, size }) => {
      return { key, sequence, isNull, isMarker, isLatest, size }
    }),
    model.keys(expected).flatMap((key) =>
      model.versions(expected, key).map(({ sequence, isNull, isMarker, size }, index) => {
        return { key, sequence, isNull, isMarker, isLatest: index === 0, size }
      }),
    ),
  )
}

function plainChecksum(checksum: ObjectChecksum | undefined): string | undefined {
  return (
    checksum &&
    `${checksum.algorithm} ${Buffer.from(checksum.value).toString('hex')}${checksum.composite ? ' of checksums' : ''}`
  )
}

function placeOf(state: ObjectState | undefined): number | undefined {
  return state?.sequence
}

/** Each way to a version leads to the right one. */
function compareKey(
  found: Differences,
  store: TestStore,
  bucketId: number,
  key: string,
  versions: readonly ModelVersion[],
): void {
  const [newest] = versions
  const current = newest?.isMarker === true ? undefined : newest
  const { catalog } = store
  found.equal(`${key}: newest`, placeOf(catalog.snapshot().newestVersion(bucketIdOf(bucketId), key)), newest?.sequence)
  found.equal(`${key}: current`, placeOf(catalog.snapshot().object(bucketIdOf(bucketId), key)), current?.sequence)
  const nullVersion = versions.find(({ isNull }) => isNull)
  found.equal(
    `${key}: null`,
    placeOf(catalog.snapshot().version(bucketIdOf(bucketId), key, 'null')),
    nullVersion?.sequence,
  )
}

async function compareVersion(
  found: Differences,
  store: TestStore,
  bucketId: number,
  key: string,
  expected: ModelVersion,
): Promise<void> {
  const { sequence, isNull, isMarker, size, headers, payload, checksum, lock } = expected
  const name = `${key} ${sequence}`
  const state = store.catalog.snapshot().version(bucketIdOf(bucketId), key, isNull ? 'null' : sequenceOf(sequence))
  if (state?.sequence !== sequence) {
    found.wrong.push(`${name} is not there`)
    return
  }
  const told = {
    isNull: state.isNull,
    isMarker: state.isMarker,
    size: state.size,
    lock: state.lock,
    checksum: plainChecksum(state.checksum),
  }
  found.equal(name, told, { isNull, isMarker, size, lock, checksum: plainChecksum(checksum) })
  found.equal(`${name}: headers`, state.headers, headers)
  found.equal(`${name}: payload`, state.payload, payload?.id)
  if (isNull)
    found.equal(
      `${name}: by a number`,
      store.catalog.snapshot().version(bucketIdOf(bucketId), key, sequenceOf(sequence)),
      undefined,
    )
  if (expected.etag !== undefined) found.equal(`${name}: etag`, state.etag, expected.etag)
  await found.payload(name, store, state.payload, payload?.bytes)
}

async function compareUploads(found: Differences, store: TestStore, model: ModelState): Promise<void> {
  const all = [...model.uploads.values()]
  for (const bucketId of new Set(all.map((upload) => upload.bucketId))) {
    const listed = store.catalog
      .snapshot()
      .listUploads(bucketIdOf(bucketId), EVERYTHING)
      .entries.map(({ key, order }) => `${key} ${order}`)
    found.equal(
      `uploads of ${bucketId}`,
      listed,
      model.uploadsOf(bucketId).map(({ key, upload }) => `${key} ${upload}`),
    )
  }
  const places = store.catalog.snapshot().uploadsInProgress(undefined, 10_000)
  found.equal(
    'uploads in progress',
    places.map(({ upload }) => upload).toSorted(ascending),
    all.map(({ upload }) => upload).toSorted(ascending),
  )
  let bytes = 0
  let count = 0
  for (const { bucketId, key, upload, headers, lock, parts } of all) {
    const state = store.catalog.snapshot().upload(bucketIdOf(bucketId), key, uploadIdOf(upload))
    found.equal(`upload ${upload}`, { headers: state?.headers, lock: state?.lock }, { headers, lock })
    const numbers = [...parts.keys()].toSorted(ascending)
    found.equal(
      `parts of ${upload}`,
      store.catalog
        .snapshot()
        .parts(uploadIdOf(upload), 0, 10_000)
        .map((one) => [one.part, one.size, Buffer.from(one.md5).toString('hex')]),
      numbers.map((number) => [number, parts.get(number)?.size, parts.get(number)?.etag]),
    )
    for (const [number, { payload, size }] of parts) {
      const stored = store.catalog.snapshot().part(uploadIdOf(upload), number)?.payload
      await found.payload(`part ${number} of ${upload}`, store, stored, payload?.bytes)
      bytes += size
      count += 1
    }
  }
  found.equal('usage of uploads', store.catalog.snapshot().uploadUsage(), { uploads: all.length, parts: count, bytes })
}

/** The rows that no reader shows: references, files, volumes, locks, null versions, digests to be computed. */
async function compareTables(
  found: Differences,
  store: TestStore,
  model: ModelState,
  readsEvents: boolean,
): Promise<void> {
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  comparePayloadRows(found, environment, model)
  compareVersionRows(found, environment, model)
  if (readsEvents) await compareEvents(found, store, environment, model)
  await environment.close()
  compareTotals(found, store, model)
}

/** Each acknowledged change is there exactly once, under the id that its entry gives it. */
async function compareEvents(
  found: Differences,
  store: TestStore,
  environment: ProjectionEnvironment,
  model: ModelState,
): Promise<void> {
  try {
    found.wrong.push(...eventDifferences(await readAllEvents(eventLogOf(store, environment)), model.events))
  } catch (error) {
    found.unreadable(error)
  }
}

function numberIn(bytes: Buffer): number {
  return bytes.readUIntBE(2, 6)
}

function comparePayloadRows(found: Differences, environment: ProjectionEnvironment, model: ModelState): void {
  const rows = (name: string) => [...environment.table(name).rows({})]
  const references = [...model.references].toSorted(([left], [right]) => left.id - right.id)
  const table = environment.table(TABLES.payloads)
  const payloads = rows(TABLES.payloads).map(({ key, value }) => ({
    payload: numberIn(key),
    ...decodePayload(table, value),
  }))
  found.equal(
    'payloads',
    payloads.map((row) => [row.payload, row.references, row.location.kind]),
    references.map(([{ id, kind }, count]) => [id, count, kind]),
  )
  const files = payloads.flatMap(({ location }) => (location.kind === 'file' ? [location.name] : []))
  const storedFiles = rows(TABLES.payloadFiles).map(({ key }) => key.toString())
  found.equal('payload files', storedFiles, files.toSorted())
  const pending = references.filter(([{ kind, isDigested }]) => kind === 'parts' && !isDigested)
  const storedPending = rows(TABLES.digestsPending).map(({ key }) => numberIn(key))
  found.equal(
    'digests to be computed',
    storedPending,
    pending.map(([{ id }]) => id),
  )
  for (const { key, value } of rows(TABLES.volumeUsage)) {
    const living = payloads.filter(({ location }) => location.kind === 'volume' && location.volume === numberIn(key))
    const { payloads: count, bytes } = volumeUsage.decode(value)
    const expected = [living.length, living.reduce((total, { location }) => total + location.length, 0)]
    found.equal(`volume ${numberIn(key)}`, [count, bytes], expected)
  }
}

function compareVersionRows(found: Differences, environment: ProjectionEnvironment, model: ModelState): void {
  const rows = (name: string) => [...environment.table(name).rows({})]
  const all = inRowOrder(model.everyVersion)
  const locked = all.filter(({ version }) => version.lock !== undefined)
  found.equal(
    'locks',
    rows(TABLES.locks).map(({ key, value }) => [
      numberIn(key),
      keyOfOrderedRow(key),
      sequenceOfRow(key),
      decodeLockRow(value),
    ]),
    locked.map(({ bucket, key, version }) => [bucket.id, key, version.sequence, version.lock]),
  )
  const nulls = all.filter(({ bucket, key, version }) => version.isNull && model.current(bucket, key) !== version)
  found.equal(
    'null versions',
    rows(TABLES.nullVersions).map(({ key, value }) => [numberIn(key), key.toString('utf8', 8), numberIn(value)]),
    nulls.map(({ bucket, key, version }) => [bucket.id, key, version.sequence]),
  )
  const ids = [...model.buckets.values()].map(({ id }) => id)
  const strangers = rows(TABLES.bucketUsage).filter(({ key }) => !ids.includes(numberIn(key)))
  found.equal('usage of buckets that are no more', strangers.length, 0)
}

type Found = ModelState['everyVersion'][number]

/** By bucket id; within a bucket they are in the order of rows already. */
function inRowOrder(versions: readonly Found[]): Found[] {
  return versions.toSorted((left, right) => left.bucket.id - right.bucket.id)
}

function compareTotals(found: Differences, store: TestStore, model: ModelState): void {
  const usages = [...model.buckets.values()].map((bucket) => model.usage(bucket))
  const { buckets, objects, logicalBytes, physicalBytes } = store.catalog.snapshot().totals()
  const stored = [...model.references.keys()].filter(({ kind }) => kind !== 'parts')
  found.equal(
    'totals',
    { buckets, objects, logicalBytes, physicalBytes },
    {
      buckets: usages.length,
      objects: usages.reduce((total, usage) => total + usage.objects, 0),
      logicalBytes: usages.reduce((total, usage) => total + usage.bytes, 0),
      physicalBytes: stored.reduce((total, { bytes }) => total + bytes.length, 0),
    },
  )
}

function ascending(left: number, right: number): number {
  return left - right
}
