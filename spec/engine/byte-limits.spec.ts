/** What the rows cannot hold, the rules refuse: sums of bytes, references to the same bytes. Sizes are only numbers here. */
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { oneTime } from '../../engine/journal/record-times.ts'
import { test } from 'tap'
import {
  microsecondsOf,
  type BucketId,
  bucketIdOf,
  millisecondsOf,
  payloadIdOf,
  sequenceOf,
} from '../../engine/brands.ts'
import type { Command, DecidableCommand } from '../../engine/commands/commands.ts'
import { decide } from '../../engine/loop/decide.ts'
import { BUCKET_BYTES_MAXIMUM, REFERENCES_MAXIMUM } from '../../engine/domain/quota.ts'
import { OBJECT_BYTES_MAXIMUM } from '../../engine/domain/upload.ts'
import { ruleHelpers } from '../../engine/loop/rule-helpers.ts'
import type { BucketState, ObjectState, UploadState } from '../../engine/state-ports.ts'
import type { StoreState } from '../../engine/state-store.ts'
import { ProjectionEnvironment, type Table } from '../../projections/lmdb-environment.ts'
import {
  encodePayload,
  getPayload,
  type PayloadRow,
  REFERENCES_MAXIMUM as ROW_MAXIMUM,
} from '../../projections/tables/payloads.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { numberKey } from '../../projections/keys.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import {
  appendObject,
  copyObject,
  createBucket,
  deleteObject,
  md5Of,
  renameObject,
  write,
  writeFile,
} from '../support/commands.ts'
import { NO_STATE } from '../support/no-state.ts'
import { branded } from '../support/plain.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import { copyPart, writePart } from '../support/upload-commands.ts'
import { deleteVersion, setVersioning } from '../support/version-commands.ts'

const TEBIBYTE = 1024 ** 4
const SIZES = { segmentBytes: 1 << 20 }

let files = 0
const sized = (key: string, size: number): Command => ({
  ...writeFile('b', key, Buffer.from(key), String((files += 1)).padStart(28, '0')),
  size,
  ...(size === 0 && { body: { kind: 'empty' } }),
})

async function bucketWithVersions(root: string): Promise<TestStore> {
  const store = await openTestStore(root, SIZES)
  await store.client.execute(createBucket('b'))
  await store.client.execute(setVersioning('b', 'enabled'))
  return store
}

const bucketOf = (store: TestStore): BucketId => store.catalog.snapshot().bucket('b')?.id ?? bucketIdOf(0)

/** One object of 5 TiB and so many versions that share its bytes. */
async function fill(store: TestStore, copies: number): Promise<void> {
  const { sequence } = await store.client.execute(sized('source', OBJECT_BYTES_MAXIMUM))
  const copy = copyObject({ bucket: 'b', key: 'source', sequence }, { bucket: 'b', key: 'copy' })
  await Promise.all(Array.from({ length: copies }, () => store.client.execute(copy)))
}

test('the versions of a bucket hold 4 PiB together, to the byte; what makes room again is always taken', async (t) => {
  const store = await bucketWithVersions(t.testdir())
  const send = (command: Command) => store.client.execute(command)
  await fill(store, 818)
  const refused = { code: 'bucket-too-large', subject: 'b' }
  await t.rejects(send(sized('more', TEBIBYTE + 1)), refused)
  await send(sized('more', TEBIBYTE))
  for (const size of [1, OBJECT_BYTES_MAXIMUM]) await t.rejects(send(sized('more', size)), refused)
  await t.rejects(send(appendObject('b', 'other', 0, Buffer.from('x'))), refused)
  await send(sized('more', 0))
  const usage = () => store.catalog.snapshot().bucketUsage(bucketOf(store))
  t.equal(usage().bytes + usage().noncurrentBytes, BUCKET_BYTES_MAXIMUM)
  t.equal(BUCKET_BYTES_MAXIMUM, 4096 * TEBIBYTE)
  await send(deleteObject('b', 'copy'))
  await send(createBucket('another'))
  await send(write('another', 'key', Buffer.from('x')))
  const newest = store.catalog.snapshot().object(bucketOf(store), 'source')
  await send(deleteVersion('b', 'source', newest?.sequence ?? 0))
  await send(sized('more', OBJECT_BYTES_MAXIMUM))
  await store.close(true)
  t.match(await checkProjections(roomyDisk, store.paths), { differenceCount: 0 })
})

/** Every version of the bucket as it is listed; the counters have no part in it. */
function listedBytes(store: TestStore): bigint {
  const everything = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 2000 }
  const { entries } = store.catalog.snapshot().listVersions(bucketOf(store), everything)
  return entries.reduce((bytes, { size }) => bytes + BigInt(size), 0n)
}

const size = fc
  .tuple(fc.constantFrom(0, TEBIBYTE, OBJECT_BYTES_MAXIMUM), fc.integer({ min: -2, max: 2 }))
  .map(([limit, near]) => Math.max(0, Math.min(limit + near, OBJECT_BYTES_MAXIMUM)))
const step = fc.tuple(fc.constantFrom('write', 'write', 'delete', 'remove'), fc.constantFrom('a', 'b', 'copy'), size)

test('whatever is accepted near the bound, the counters are the exact sum, and no more is taken than it allows', async (t) => {
  const root = t.testdir()
  let runs = 0
  let refused = 0
  const history = async (steps: readonly (readonly [string, string, number])[]) => {
    const store = await bucketWithVersions(`${root}/${(runs += 1)}`)
    await fill(store, 817)
    for (const [kind, key, bytes] of steps) {
      const before = listedBytes(store)
      const { sequence = 0 } = store.catalog.snapshot().object(bucketOf(store), key) ?? {}
      const removed = kind === 'delete' ? deleteObject('b', key) : deleteVersion('b', key, sequence)
      const command = kind === 'write' ? sized(key, bytes) : removed
      const code = await store.client.execute(command).then(
        () => 'done',
        (error: { readonly code: string }) => error.code,
      )
      const fits = kind !== 'write' || bytes === 0 || before + BigInt(bytes) <= BigInt(BUCKET_BYTES_MAXIMUM)
      if (code !== (fits ? 'done' : 'bucket-too-large')) throw new Error(`${kind} of ${bytes} on ${before}: ${code}`)
      if (!fits) refused += 1
      const usage = store.catalog.snapshot().bucketUsage(bucketOf(store))
      const counted = BigInt(usage.bytes) + BigInt(usage.noncurrentBytes)
      if (counted !== listedBytes(store)) throw new Error(`${counted} counted, ${listedBytes(store)} listed`)
    }
    await store.close(true)
    const { differenceCount } = await checkProjections(roomyDisk, store.paths)
    if (differenceCount > 0) throw new Error('a replay gives other rows')
  }
  const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), history)
  await fc.assert(property, { numRuns: 5, endOnFailure: true })
  t.ok(refused > 0, `${refused} were refused`)
})

const SOURCE = { bucket: 'b', key: 'source', sequence: 5 }
const UPLOAD = { bucket: 'b', key: 'k', upload: 7 }

/** Which refusal the rules have for a command on a bucket with one object and one upload. */
function refusalOf(command: DecidableCommand, more: Partial<StoreState>): string {
  const bucket = branded<BucketState>({
    id: 1,
    name: 'b',
    region: 'eu',
    createdMicroseconds: 1,
    versioning: 'off',
    lockEnabled: false,
    defaultRetention: undefined,
    quota: { bytes: undefined, objects: undefined },
  })
  const object = branded<ObjectState>({
    sequence: 5,
    isNull: true,
    isMarker: false,
    modifiedMicroseconds: 1,
    size: 3,
    etag: 'ab'.repeat(16),
    digest: Buffer.alloc(32),
    headers: [],
    metadata: [],
    payload: 5,
    lock: undefined,
    checksum: undefined,
  })
  const upload = branded<UploadState>({
    upload: 7,
    createdMicroseconds: 1,
    headers: [],
    metadata: [],
    lock: undefined,
    given: undefined,
    checksum: undefined,
  })
  const state = { ...NO_STATE, bucket: () => bucket, object: () => object, upload: () => upload, ...more }
  const placement = {
    place: () => ({ kind: 'file', payload: payloadIdOf(9), name: '', length: 1, sealed: false }) as const,
  }
  const given = {
    ...ruleHelpers,
    referenceRatioMaximum: 1000,
    now: millisecondsOf(1),
    host: microsecondsOf(1000),
    last: oneTime(microsecondsOf(1000)),
    clockIsBehind: false,
    attempt: sequenceOf(8),
    md5: md5Text,
  }
  try {
    decide(command, { state, ...state.features, sequence: sequenceOf(9), placement, ...given })
    return 'done'
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}

const md5Text = (text: string) => md5Of(Buffer.from(text))

test('bytes are shared by at most 2,147,483,648; the parts of uploads count with the versions of their bucket', (t) => {
  const sharing: readonly DecidableCommand[] = [
    copyObject(SOURCE, { bucket: 'b', key: 'copy' }),
    copyPart(UPLOAD, 1, SOURCE),
    appendObject('b', 'source', 3, Buffer.alloc(0)),
  ]
  for (const command of sharing) {
    t.equal(refusalOf(command, { references: () => REFERENCES_MAXIMUM }), 'too-many-copies', command.kind)
    t.equal(refusalOf(command, { references: () => REFERENCES_MAXIMUM - 1 }), 'done', command.kind)
  }
  const full = { ...NO_STATE.logicalUsage(bucketIdOf(1)), objects: 1, bytes: 3 }
  for (const command of [writePart(UPLOAD, 1, Buffer.from('abc')), copyPart(UPLOAD, 1, SOURCE)]) {
    for (const [uploadBytes, expected] of [
      [BUCKET_BYTES_MAXIMUM - 5, 'bucket-too-large'],
      [BUCKET_BYTES_MAXIMUM - 6, 'done'],
    ] as const) {
      const usage = { ...full, uploadBytes, receivedBytes: BUCKET_BYTES_MAXIMUM }
      t.equal(refusalOf(command, { logicalUsage: () => usage }), expected, command.kind)
    }
  }
  const over = { ...full, noncurrentBytes: BUCKET_BYTES_MAXIMUM }
  const same = refusalOf(write('b', 'source', Buffer.from('abc')), { logicalUsage: () => over })
  t.equal(same, 'done', 'no more than before')
  t.equal(refusalOf(write('b', 'source', Buffer.from('abcd')), { logicalUsage: () => over }), 'bucket-too-large')
  t.end()
})

test('bytes with more references than a row counts are kept for ever', async (t) => {
  const store = await openTestStore(t.testdir())
  await store.client.execute(createBucket('b'))
  const { sequence } = await store.client.execute(write('b', 'key', Buffer.from('bytes')))
  await store.close(true)
  const payload = payloadIdOf(sequence)
  const inPayloads = async (work: (table: Table) => unknown) => {
    const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: false })
    const result = environment.write(() => work(openTables(environment).payloads))
    await environment.close()
    return result
  }
  await inPayloads((table) => {
    const { location } = getPayload(table, payload) as PayloadRow
    table.put(numberKey(payload), encodePayload({ references: ROW_MAXIMUM - 1, location }))
  })
  // As after a kill: a start would not believe what was written since the stop.
  rmSync(store.paths.projectionsSums)
  const again = await openTestStore(store.paths.root)
  await t.rejects(
    again.client.execute(copyObject({ bucket: 'b', key: 'key', sequence }, { bucket: 'b', key: 'copy' })),
    {
      code: 'too-many-copies',
    },
  )
  // A rename takes a reference and gives one back.
  const { sequence: renamed } = await again.client.execute(renameObject('b', 'key', 'other', sequence, undefined))
  await again.client.execute(renameObject('b', 'other', 'key', renamed, undefined))
  await again.client.execute(deleteObject('b', 'key'))
  t.same(again.failures, [])
  await again.close(true)
  t.equal(await inPayloads((table) => getPayload(table, payload)?.references), ROW_MAXIMUM)
})
