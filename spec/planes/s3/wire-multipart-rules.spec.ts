/** The rules of the bucket that a completion is judged by: conditions, versions, locks, quotas. */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { auditOf } from '../../support/commands.ts'
import {
  abort,
  complete,
  createUpload,
  etagOf,
  largePart,
  PART_BYTES,
  sendPart,
  uploadWhole,
} from '../../support/multipart.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, store } = server
const bucket = '/rules-bucket'

await raw('PUT', bucket)

test('conditions are judged when the upload is completed', async (t) => {
  const target = `${bucket}/conditional`
  const upload = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, 'parts')
  const attempt = (...header: HeaderLine) => complete(server, target, upload, [part], [header])
  isError(t, await attempt('if-match', '"x"'), 'NoSuchKey', 'If-Match on nothing')
  isError(t, await attempt('if-match', '*'), 'NoSuchKey', 'If-Match: * on nothing')
  const { headers } = await raw('PUT', target, { body: 'in between' })
  const refused = await attempt('if-none-match', '*')
  isError(t, refused, 'PreconditionFailed', 'If-None-Match: * on an object')
  t.equal(firstElement(refused.text, 'Condition'), 'If-None-Match')
  isError(t, await attempt('if-match', '"x"'), 'PreconditionFailed', 'another ETag')
  isError(t, await attempt('if-unmodified-since', 'Sun, 06 Nov 1994 08:49:37 GMT'), 'NotImplemented', 'a date')
  t.equal((await raw('GET', target)).text, 'in between', 'the object is what it was')
  isDone(t, await attempt('if-match', String(headers.etag)), 200, 'the ETag of the object')
  t.equal((await raw('GET', target)).text, 'parts')
  const many = await Promise.all(Array.from({ length: 8 }, () => createUpload(server, `${bucket}/raced`)))
  const parts = await Promise.all(many.map((id, index) => sendPart(server, `${bucket}/raced`, id, 1, `${index}`)))
  const answers = await Promise.all(
    many.map((id, index) => {
      const { etag = '' } = parts[index] ?? {}
      return complete(server, `${bucket}/raced`, id, [{ number: 1, etag }], [['if-none-match', '*']])
    }),
  )
  t.equal(answers.filter((answer) => answer.status === 200).length, 1, 'of those that race, one wins')
  t.equal(answers.filter((answer) => answer.code === 'PreconditionFailed').length, 7)
  t.equal(blocks((await raw('GET', `${bucket}?uploads`)).text, 'Upload').length, 7, 'and the others may try again')
  const winner = answers.findIndex((answer) => answer.status === 200)
  t.equal((await raw('GET', `${bucket}/raced`)).text, `${winner}`)
  await Promise.all(many.map((id) => abort(server, `${bucket}/raced`, id)))
})

test('a bucket with versions', async (t) => {
  const target = '/versions-bucket/key'
  await raw('PUT', '/versions-bucket')
  const versioning = (status: string) =>
    raw('PUT', '/versions-bucket?versioning', {
      body: `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
    })
  const early = await createUpload(server, target)
  const part = await sendPart(server, target, early, 1, 'early')
  isDone(t, await versioning('Enabled'), 200, 'enable')
  const done = await complete(server, target, early, [part])
  const first = String(done.headers['x-amz-version-id'])
  t.match(first, /^[\w-]{22}$/)
  const second = await uploadWhole(server, target, ['second'])
  t.not(second.headers['x-amz-version-id'], first)
  const again = await complete(server, target, early, [part])
  isDone(t, again, 200, 'again, when it is no longer the current one')
  t.same([again.headers['x-amz-version-id'], again.text], [first, done.text])
  isDone(t, await raw('DELETE', target), 204, 'a marker')
  t.equal((await complete(server, target, early, [part])).headers['x-amz-version-id'], first, 'and behind a marker')
  t.equal((await raw('GET', `${target}?versionId=${first}&partNumber=1`)).text, 'early')
  isDone(t, await versioning('Suspended'), 200, 'suspend')
  const suspended = await uploadWhole(server, target, ['suspended'])
  t.equal(suspended.headers['x-amz-version-id'], undefined, 'as a plain write')
  await uploadWhole(server, target, ['replaced'])
  t.equal((await raw('HEAD', target)).headers['x-amz-version-id'], 'null')
  t.same(elements((await raw('GET', '/versions-bucket?versions')).text, 'Size').map(Number), [8, 6, 5])
  isDone(t, await raw('DELETE', `${target}?versionId=${first}`), 204, 'delete the first')
  isError(t, await complete(server, target, early, [part]), 'NoSuchUpload', 'again, when it is gone')
})

test('the lock of an upload is that of its beginning', async (t) => {
  const target = '/locked-bucket/key'
  await raw('PUT', '/locked-bucket', { headers: [['x-amz-bucket-object-lock-enabled', 'true']] })
  const until = '2140-01-01T00:00:00.000Z'
  const locked: HeaderLine[] = [
    ['x-amz-object-lock-mode', 'COMPLIANCE'],
    ['x-amz-object-lock-retain-until-date', until],
    ['x-amz-object-lock-legal-hold', 'ON'],
  ]
  const done = await uploadWhole(server, target, ['held'], locked)
  const version = String(done.headers['x-amz-version-id'])
  t.match((await raw('HEAD', target)).headers, Object.fromEntries(locked))
  isError(t, await raw('DELETE', `${target}?versionId=${version}`), 'AccessDenied', 'it cannot be deleted')
  const past: HeaderLine[] = [
    ['x-amz-object-lock-mode', 'GOVERNANCE'],
    ['x-amz-object-lock-retain-until-date', '2001-01-01T00:00:00Z'],
  ]
  isError(t, await raw('POST', `${target}?uploads`, { headers: past }), 'InvalidArgument', 'a date that is past')
  const upload = await createUpload(server, target)
  const part = await sendPart(server, target, upload, 1, 'x')
  const atEnd = await complete(server, target, upload, [part], locked)
  isError(t, atEnd, 'NotImplemented', 'a lock with the completion comes too late')
  const rule = '<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule>'
  const configuration = `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</ObjectLockConfiguration>`
  isDone(t, await raw('PUT', '/locked-bucket?object-lock', { body: configuration }), 200, 'a default')
  isDone(t, await complete(server, target, upload, [part]), 200, 'complete')
  const { headers } = await raw('HEAD', target)
  t.equal(headers['x-amz-object-lock-mode'], 'GOVERNANCE', 'the default of the moment when the version is made')
  const tomorrow = Date.now() + 86_400_000
  t.ok(Math.abs(Date.parse(String(headers['x-amz-object-lock-retain-until-date'])) - tomorrow) < 3_600_000)
  t.equal((await raw('HEAD', `${target}?versionId=${version}`)).headers['x-amz-object-lock-mode'], 'COMPLIANCE')
})

function limit(bytes: number | undefined, objects: number | undefined) {
  const audit = auditOf('quota', 'bucket:quota-bucket')
  return store.client.execute({ kind: 'set-quota', audit, bucket: 'quota-bucket', quota: { bytes, objects } })
}

test('a quota is judged when the upload is completed', async (t) => {
  const target = '/quota-bucket/key'
  await raw('PUT', '/quota-bucket')
  await limit(PART_BYTES + 2, undefined)
  const upload = await createUpload(server, target)
  const first = await sendPart(server, target, upload, 1, largePart(1))
  const second = await sendPart(server, target, upload, 2, 'end')
  isError(t, await complete(server, target, upload, [first, second]), 'QuotaExceeded', 'a byte too many')
  isDone(t, await complete(server, target, upload, [first]), 200, 'without the last part it fits')
  const next = await createUpload(server, target)
  const parts = [await sendPart(server, target, next, 1, 'replaced')]
  isDone(t, await complete(server, target, next, parts), 200, 'a smaller one fits over it')
  await limit(undefined, 1)
  const other = await createUpload(server, '/quota-bucket/other')
  const part = await sendPart(server, '/quota-bucket/other', other, 1, 'x')
  isError(t, await complete(server, '/quota-bucket/other', other, [part]), 'QuotaExceeded', 'an object too many')
  await limit(undefined, undefined)
  isDone(t, await complete(server, '/quota-bucket/other', other, [part]), 200, 'the upload is still there')
  t.equal((await raw('HEAD', '/quota-bucket/other')).headers.etag, etagOf(['x']))
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(store.catalog.uploadUsage(), { uploads: 0, parts: 0, bytes: 0 })
})
