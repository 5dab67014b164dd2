/** Golden journals of what the extensions of S3 write. */
import { test } from 'tap'
import { bucketIdOf, type PayloadId } from '../../../engine/brands.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { copyGolden, GOLDEN_JOURNALS, GOLDEN_MASTER_KEY, openGolden } from '../../support/journals/golden-journals.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { roomyDisk } from '../../support/test-store.ts'

test('golden journal 10: renames, with and without a token', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[9])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact 156 records/])
  const store = await openGolden(paths)
  const snapshot = store.catalog.snapshot()
  const { id = bucketIdOf(0) } = snapshot.bucket('renames') ?? {}
  t.match(snapshot.bucketUsage(id), { objects: 2, bytes: 5 })
  const [over, empty] = ['over', 'dir/empty'].map((key) => snapshot.object(id, key))
  t.match(over, { headers: ['content-type', 'text/plain'], renamed: { token: 'token-of-the-client', key: 'b' } })
  t.match(empty, { payload: undefined, renamed: { token: 'x'.repeat(64), key: 'empty' } })
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

test('golden journal 11: appends of small and of large bytes, of none, and to a copy', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[10])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact \d+ records/])
  const store = await openGolden(paths)
  const snapshot = store.catalog.snapshot()
  const { id = bucketIdOf(0) } = snapshot.bucket('appends') ?? {}
  const [log, copy, alone] = ['log', 'copy', 'alone'].map((key) => snapshot.object(id, key))
  const partsOf = (payload: PayloadId | undefined) => {
    const location = payload === undefined ? undefined : snapshot.payload(payload)
    if (location?.kind !== 'parts') return location?.kind
    return Array.from({ length: location.parts.count }, (_, index) => location.parts.size(index))
  }
  t.match(log, { size: 5 + 7 + 70_000, headers: ['content-type', 'text/plain'], etag: /^[0-9a-f]{32}-3$/ })
  t.same(partsOf(log?.payload), [5, 7, 70_000])
  t.match(copy, { size: 5 + 7 + 4, etag: /^[0-9a-f]{32}-3$/ })
  t.same(partsOf(copy?.payload), [5, 7, 4])
  t.equal(partsOf(alone?.payload), 'volume')
  t.match(snapshot.bucketUsage(id), { objects: 3 })
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})

const SUMS: readonly (readonly [key: string, algorithm: string, composite: boolean, value: string])[] = [
  ['renamed', 'sha256', true, '65c7f326f1d6017f6f3bb7cf280f57514e5db59fa69ab005c602834258e50b69'],
  ['full', 'crc64nvme', false, '8253d666e504ea2b'],
  ['short', 'crc32', true, '159256aa'],
]

test('golden journal 13: uploads that asked for checksums, and parts with and without one', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[12])
  t.match(await verifyAtRest(paths.journal, { masterKey: GOLDEN_MASTER_KEY }), { intact: true })
  t.match(askStranger(paths.journal), [/^intact \d+ records/])
  const store = await openGolden(paths)
  const snapshot = store.catalog.snapshot()
  const { id = bucketIdOf(0) } = snapshot.bucket('sums') ?? {}
  for (const [key, algorithm, composite, value] of SUMS) {
    const object = snapshot.object(id, key)
    t.match(object?.checksum, { algorithm, composite, value: Buffer.from(value, 'hex') }, key)
    const location = object?.payload === undefined ? undefined : snapshot.payload(object.payload)
    const parts = location?.kind === 'parts' ? location.parts : undefined
    t.equal(parts?.count, 2)
    t.equal(parts?.size(1), 5 * 1024 ** 2)
    t.equal(parts?.checksum(1)?.length, algorithm === 'sha256' ? 32 : composite ? 4 : 8)
  }
  const [left] = snapshot.uploadsInProgress(undefined, 1000).filter(({ key }) => key === 'left')
  t.match(left && snapshot.upload(id, 'left', left.upload)?.checksum, { algorithm: 'sha1', composite: true })
  const parts = left === undefined ? [] : snapshot.parts(left.upload, 0, 10)
  t.same(
    parts.map(({ checksum }) => checksum?.length),
    [20, undefined],
  )
  await store.close(true)
  t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
})
