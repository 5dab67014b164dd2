/**
 * Storage events over the wire: each type with its conditions.
 * Proves: DO-CAP-19, RES-EVT-01, RES-EVT-04, RES-EVT-05, STA-VRS-02, STA-OBJ-04, API-OBJ-10, EVT-TYP-01, EVT-TYP-02,
 * EVT-TYP-03, EVT-TYP-04, EVT-TYP-05, EVT-GUA-07.
 */
import tap, { test } from 'tap'
import { UploadReclaim } from '../../../workers/reclaim-uploads.ts'
import { startManaged } from '../../support/management-server.ts'
import { completionOf, createUpload, sendPart, uploadTarget } from '../../support/multipart.ts'
import { eventsDuring } from '../../support/storage-events.ts'
import { createBucket, put, remove, setVersioning } from '../../support/wire-versions.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
const ONE = '0123456789'
const ETAG = /^[0-9a-f]{32}$/

await createBucket(server, 'plain')
await createBucket(server, 'kept')
await setVersioning(server, 'kept', 'enabled')

/** What `work` makes happen, without what no spec can know. */
async function happens(work: () => Promise<unknown>): Promise<unknown[]> {
  const unknown = new Set(['id', 'time', 'request_id'])
  const known = (record: object) => Object.fromEntries(Object.entries(record).filter(([name]) => !unknown.has(name)))
  return (await eventsDuring(api, work)).map((event) => ({ ...known(event), metadata: known(event.metadata) }))
}

test('a bucket is created and deleted', async (t) => {
  const events = await eventsDuring(api, () => api.get('POST', '/buckets', { name: 'made-and-gone' }))
  t.match(events, [
    {
      id: /^\d{16}-0000$/,
      type: 'bucket.created',
      time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
      bucket: 'made-and-gone',
      metadata: {
        principal_kind: 'management',
        request_id: /^[0-9a-f-]{36}$/,
        region: 'us-east-1',
        object_lock: false,
      },
    },
  ])
  t.same(Object.keys(events[0] ?? {}).toSorted(), ['bucket', 'id', 'metadata', 'time', 'type'], 'and no other members')
  t.same(await happens(() => server.raw('DELETE', '/made-and-gone')), [
    { type: 'bucket.deleted', bucket: 'made-and-gone', metadata: { principal_kind: 'root' } },
  ])
})

test('an object is created, overwritten and deleted in a bucket without versioning', async (t) => {
  const object = { bucket: 'plain', object: 'a/one.txt', version_id: 'null' }
  const type = [['content-type', 'text/plain']] as const
  const md5 = '781e5e245d69b566979b86e28d23f2c7'
  t.same(await happens(() => put(server, 'plain/a/one.txt', ONE, type)), [
    {
      type: 'object.created',
      ...object,
      size: 10,
      metadata: { principal_kind: 'root', etag: md5, content_type: 'text/plain' },
    },
  ])
  t.match(await happens(() => put(server, 'plain/a/one.txt', 'longer than before')), [
    { type: 'object.updated', ...object, size: 18, metadata: { etag: ETAG } },
  ])
  t.same(await happens(() => remove(server, 'plain/a/one.txt')), [
    {
      type: 'object.deleted',
      ...object,
      size: 18,
      metadata: { principal_kind: 'root', delete_marker: false, permanent: true },
    },
  ])
  t.same(await happens(() => remove(server, 'plain/a/one.txt')), [], 'what was not there makes no event')
  t.match(await happens(() => put(server, 'plain/a/one.txt', ONE)), [{ type: 'object.created', ...object }])
})

async function otherRequests(): Promise<void> {
  await server.raw('PUT', '/plain/refused', { body: ONE, headers: [['if-match', '"none"']] })
  await server.raw('GET', '/plain/a/one.txt')
  await setVersioning(server, 'kept', 'enabled')
  await api.get('PUT', '/buckets/plain/quota', {
    quota: { bytes: { mode: 'unlimited' }, objects: { mode: 'unlimited' } },
  })
  await createUpload(server, '/plain/uploading')
}

test('what is refused, and what is not about data, makes no event', async (t) => {
  t.same(await happens(otherRequests), [])
})

test('versions, delete markers, and what becomes current again', async (t) => {
  const object = { bucket: 'kept', object: 'v' }
  let [first, second, marker]: (string | undefined)[] = []
  const made = await happens(async () => {
    first = await put(server, 'kept/v', 'one')
    second = await put(server, 'kept/v', 'second')
    marker = await remove(server, 'kept/v')
    await remove(server, 'kept/v', marker)
    await remove(server, 'kept/v', second)
    await remove(server, 'kept/v', first)
  })
  const root = { principal_kind: 'root' }
  const gone = { ...root, permanent: true }
  t.match(made, [
    { type: 'object.created', ...object, version_id: first, size: 3, metadata: root },
    { type: 'object.updated', ...object, version_id: second, size: 6, metadata: root },
    {
      type: 'object.deleted',
      ...object,
      version_id: marker,
      size: 0,
      metadata: { ...root, delete_marker: true, permanent: false },
    },
    { type: 'object.deleted', ...object, version_id: marker, size: 0, metadata: { ...gone, delete_marker: true } },
    {
      type: 'object.restored',
      ...object,
      version_id: second,
      size: 6,
      metadata: { ...root, removed_version_id: marker, etag: ETAG },
    },
    { type: 'object.deleted', ...object, version_id: second, size: 6, metadata: { ...gone, delete_marker: false } },
    {
      type: 'object.restored',
      ...object,
      version_id: first,
      size: 3,
      metadata: { ...root, removed_version_id: second },
    },
    { type: 'object.deleted', ...object, version_id: first, size: 3, metadata: { ...gone, delete_marker: false } },
  ])
  t.equal(made.length, 8)
})

test('the first write after a delete marker creates, and a marker on nothing is an event as well', async (t) => {
  const events = await happens(async () => {
    await remove(server, 'kept/hidden')
    await put(server, 'kept/hidden', ONE)
  })
  t.match(events, [
    { type: 'object.deleted', object: 'hidden', metadata: { delete_marker: true, permanent: false } },
    { type: 'object.created', object: 'hidden' },
  ])
})

test('with versioning suspended, the null version is replaced', async (t) => {
  await createBucket(server, 'paused')
  await setVersioning(server, 'paused', 'enabled')
  const first = await put(server, 'paused/k', 'one')
  await setVersioning(server, 'paused', 'suspended')
  const events = await happens(async () => {
    await put(server, 'paused/k', 'null one')
    await put(server, 'paused/k', 'null two!')
    await remove(server, 'paused/k', 'null')
  })
  t.match(events, [
    { type: 'object.updated', version_id: 'null', size: 8 },
    { type: 'object.updated', version_id: 'null', size: 9 },
    { type: 'object.deleted', version_id: 'null', size: 9, metadata: { permanent: true } },
    { type: 'object.restored', version_id: first, size: 3, metadata: { removed_version_id: 'null' } },
  ])
  t.equal(events.length, 4)
})

test('copies name their source, and an earlier version comes back by either plane', async (t) => {
  const source = await put(server, 'kept/from', 'to be copied', [['content-type', 'image/png']])
  const copy = (target: string, path: string) => server.raw('PUT', target, { headers: [['x-amz-copy-source', path]] })
  const named = { source_bucket: 'kept', source_key: 'from', source_version_id: source }
  t.match(await happens(() => copy('/plain/copied', '/kept/from')), [
    {
      type: 'object.created',
      bucket: 'plain',
      object: 'copied',
      size: 12,
      metadata: { ...named, content_type: 'image/png' },
    },
  ])
  t.match(await happens(() => copy('/plain/copied', '/kept/from')), [{ type: 'object.updated', metadata: named }])
  const later = await put(server, 'kept/from', 'later')
  t.match(await happens(() => copy('/kept/from', `/kept/from?versionId=${source}`)), [
    { type: 'object.restored', bucket: 'kept', object: 'from', size: 12, metadata: named },
  ])
  t.match(await happens(() => api.get('POST', '/restore/kept/from', { version_id: later })), [
    {
      type: 'object.restored',
      size: 5,
      metadata: { principal_kind: 'management', source_key: 'from', source_version_id: later },
    },
  ])
  await remove(server, 'kept/from')
  t.match(
    await happens(() => api.get('POST', '/restore/kept/from', { version_id: source })),
    [{ type: 'object.restored', object: 'from', size: 12, metadata: named }],
    'from under a delete marker',
  )
  const replaced = () =>
    server.raw('PUT', '/plain/copied', {
      headers: [
        ['x-amz-copy-source', '/plain/copied'],
        ['x-amz-metadata-directive', 'REPLACE'],
      ],
    })
  t.match(await happens(replaced), [{ type: 'object.updated', object: 'copied', metadata: { source_key: 'copied' } }])
})

test('multipart uploads are completed and aborted', async (t) => {
  const target = '/plain/parts'
  const upload = await createUpload(server, target, [['content-type', 'video/mp4']])
  const parts = [await sendPart(server, target, upload, 3, 'three')]
  const complete = () => server.raw('POST', uploadTarget(target, upload), { body: completionOf(parts) })
  const object = { bucket: 'plain', object: 'parts', version_id: 'null', size: 5 }
  const metadata = { principal_kind: 'root', etag: /-1$/, content_type: 'video/mp4', upload_id: upload }
  const events = await eventsDuring(api, async () => {
    await complete()
    await complete()
  })
  t.match(events, [
    { type: 'multipart.completed', ...object, metadata: { ...metadata, parts: 1 } },
    { type: 'object.created', ...object, metadata },
  ])
  t.equal(events.length, 2, 'a repeated completion changes nothing')
  t.match(
    events.map(({ id }) => id.slice(16)),
    ['-0000', '-0001'],
  )
  t.equal(events[0]?.id.slice(0, 16), events[1]?.id.slice(0, 16), 'one entry makes both')

  const other = await createUpload(server, target)
  await sendPart(server, target, other, 1, 'one')
  await sendPart(server, target, other, 2, 'number two')
  t.same(await happens(() => server.raw('DELETE', uploadTarget(target, other))), [
    {
      type: 'multipart.aborted',
      bucket: 'plain',
      object: 'parts',
      size: 13,
      metadata: { principal_kind: 'root', upload_id: other, parts: 2 },
    },
  ])
})

test('uploads end with their bucket: before it, and by the request that deleted it', async (t) => {
  await createBucket(server, 'left-behind')
  const target = '/left-behind/k'
  const upload = await createUpload(server, target)
  await sendPart(server, target, upload, 1, 'one')
  let answer: Awaited<ReturnType<typeof server.raw>> | undefined
  const events = await happens(async () => {
    answer = await server.raw('DELETE', '/left-behind')
  })
  t.same(events, [
    {
      type: 'multipart.aborted',
      bucket: 'left-behind',
      object: 'k',
      size: 3,
      metadata: { principal_kind: 'root', upload_id: upload, parts: 1 },
    },
    { type: 'bucket.deleted', bucket: 'left-behind', metadata: { principal_kind: 'root' } },
  ])
  const entries = (await server.journal()).filter(({ changes }) =>
    changes.some(({ name }) => name === 'bucket.deleted'),
  )
  t.match(entries.at(-1), {
    requestId: answer?.headers['x-amz-request-id'],
    principal: 'system:root',
    changes: [{ name: 'upload.aborted', key: 'k' }, { name: 'bucket.deleted' }],
  })
})

test('an upload that is left alone for too long is aborted by the store itself', async (t) => {
  const { client, catalog } = server.store
  const reclaim = (days: number) =>
    new UploadReclaim(client, catalog, {
      afterDays: 7,
      clock: () => Date.now() + days * 86_400_000,
      uploadIds: server.services.uploadIds,
    }).step()
  // What the tests before have left.
  await reclaim(8)
  const target = '/plain/abandoned'
  const upload = await createUpload(server, target)
  await sendPart(server, target, upload, 1, 'one')
  t.same(await happens(() => reclaim(6)), [])
  t.same(await happens(() => reclaim(8)), [
    {
      type: 'multipart.aborted',
      bucket: 'plain',
      object: 'abandoned',
      size: 3,
      metadata: { principal_kind: 'system', upload_id: upload, parts: 1 },
    },
  ])
  t.equal((await server.raw('GET', uploadTarget(target, upload))).status, 404)
})
