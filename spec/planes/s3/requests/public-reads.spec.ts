/**
 * Reads without a credential: only what the setting s3.public_read_prefixes and the policy of the bucket both open, and
 * nothing else.
 */
import { rmSync } from 'node:fs'
import { GetBucketPolicyStatusCommand } from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { BusyError } from '../../../../engine/shares/shares.ts'
import { OPERATIONS } from '../../../../planes/s3/operation-list.ts'
import { enterPublicRead } from '../../../../planes/s3/public-reads.ts'
import { policyOf, putPolicy, statement } from '../../../support/bucket-policies.ts'
import { newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { type InThreadServer, startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { RawRequest } from '../../../support/wire-client.ts'
import { createLockBucket, lockLines, later, DAY } from '../../../support/wire-locks.ts'
import { createBucket, put, remove } from '../../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
const extensions = ['bucket-policy', 'tagging', 'checksums', 'list-objects-v1', 'listen'] as const
const publicReadPrefixes = ['site/pub/', 'locked/'] as const
const server = await startManaged({ extensions, dataDirectory, publicReadPrefixes })
let isStopped = false
tap.teardown(async () => {
  if (!isStopped) await server.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})
const { raw, s3 } = server
const OPEN = policyOf(statement('Allow', '*', 's3:GetObject', 'site/pub/*'))
await createBucket(server, 'site')
await createLockBucket(server, 'locked')
await put(server, 'site/pub/page.html', 'a page', [['content-type', 'text/html']])
await put(server, 'site/private', 'secret')
await put(server, 'site/pub', 'not below')

function unsigned(
  target: string,
  request: Omit<RawRequest, 'sign'> = {},
  method = 'GET',
  at: Pick<InThreadServer, 'raw'> = server,
) {
  return at.raw(method, target, { ...request, sign: false })
}

const PAGE = '/site/pub/page.html'

test('nothing is public before a policy says so, and nothing after it is removed', async (t) => {
  isError(t, await unsigned(PAGE), 'AccessDenied', 'the setting alone')
  isDone(t, await putPolicy(server, 'site', OPEN), 204, 'a policy that the setting covers')
  t.equal((await s3.send(new GetBucketPolicyStatusCommand({ Bucket: 'site' }))).PolicyStatus?.IsPublic, true)
  t.match(await unsigned(PAGE), { status: 200, text: 'a page', headers: { 'content-type': 'text/html' } })
  await raw('DELETE', '/site?policy')
  isError(t, await unsigned(PAGE), 'AccessDenied', 'the policy is removed')
  isDone(t, await putPolicy(server, 'site', OPEN), 204, 'again')
})

test('a stranger reads objects: whole, in ranges, by conditions, and their heads', async (t) => {
  const whole = await unsigned(PAGE)
  isDone(t, whole, 200, 'GET')
  const head = await unsigned(PAGE, {}, 'HEAD')
  t.match(head, { status: 200, text: '' })
  t.equal(head.headers['content-length'], '6')
  t.match(await unsigned(PAGE, { headers: [['range', 'bytes=2-5']] }), { status: 206, text: 'page' })
  const etag = String(whole.headers['etag'])
  t.equal((await unsigned(PAGE, { headers: [['if-none-match', etag]] })).status, 304)
  t.equal((await unsigned(`${PAGE}?v=3&x-id=GetObject`)).text, 'a page', 'a parameter that S3 does not know')
  const account = await newIdentity(server)
  t.equal((await raw('GET', PAGE, account.signing)).status, 200, 'an account reads what strangers read')
  t.equal((await raw('GET', '/site/private', account.signing)).status, 403)
  account.s3.destroy()
})

test('the record of a public read is of a stranger', async (t) => {
  await unsigned(PAGE)
  const last = (await server.journal()).at(-1)
  t.match(last, {
    principal: 'anonymous',
    result: 'success',
    operation: 's3:GET',
    resource: 'bucket:site/pub/page.html',
  })
  t.match(Object.fromEntries(last?.details ?? []), { api: 'GetObject', status: 200 })
})

test('nothing is listed, widened, or named', async (t) => {
  for (const target of [
    '/site/private',
    '/site/pub',
    '/site/pub/none',
    '/site/pub/../private',
    '/site/pub%2f',
    '/other/pub/page.html',
    '/site/PUB/page.html',
    `${PAGE}?versionId=null`,
    `${PAGE}?partNumber=1`,
    `${PAGE}?response-content-type=text/plain`,
    `${PAGE}?Response-Content-Disposition=x`,
    `${PAGE}?x-amz-checksum-mode=ENABLED`,
    `${PAGE}?acl`,
    '/',
    '/site',
    '/site?list-type=2&prefix=pub/',
    '/site?prefix=pub/',
    '/site?versions&prefix=pub/',
    '/site?policy',
    '/site?policyStatus',
    '/site?events=s3:ObjectCreated:*',
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const { status } = await unsigned(target, {}, method)
      t.ok([403, 405, 501].includes(status), `${method} ${target}: ${status}`)
    }
  }
  isError(t, await unsigned(PAGE, { body: 'a body' }), 'AccessDenied', 'a GET with a body')
  for (const header of ['x-amz-acl', 'x-amz-security-token', 'x-amz-expected-bucket-owner'] as const) {
    t.ok([403, 501].includes((await unsigned(PAGE, { headers: [[header, 'x']] })).status), header)
  }
  for (const { method, level, subresource, mark, name } of OPERATIONS) {
    if (name === 'GetObject' || name === 'HeadObject' || name.startsWith('Preflight')) continue
    const path = level === 'service' ? '/' : level === 'bucket' ? '/site' : PAGE
    const query = [subresource, mark?.query !== undefined && `${mark.query}=${mark.value ?? 'x'}`]
      .filter(Boolean)
      .join('&')
    const headers = mark !== undefined && mark.query === undefined ? [[mark.header, 'site/pub/page.html'] as const] : []
    const { status } = await unsigned(query === '' ? path : `${path}?${query}`, { headers }, method)
    t.ok([400, 403, 405, 501].includes(status), `${name}: ${status}`)
  }
  t.equal((await unsigned(PAGE)).text, 'a page', 'all of that changed nothing')
})

test('a delete marker and a lock are not shown', async (t) => {
  const open = policyOf(statement('Allow', { AWS: '*' }, 's3:GetObject', 'locked/*'))
  const lock = lockLines({ mode: 'GOVERNANCE', until: later(DAY), hold: 'ON' })
  await put(server, 'locked/key', 'held', lock)
  await put(server, 'locked/gone', 'x')
  isDone(t, await putPolicy(server, 'locked', open), 204, 'the whole bucket')
  const read = await unsigned('/locked/key')
  t.equal(read.text, 'held')
  t.same(
    Object.keys(read.headers).filter((name) => name.startsWith('x-amz-object-lock')),
    [],
  )
  await remove(server, 'locked/gone')
  const gone = await unsigned('/locked/gone')
  isError(t, gone, 'AccessDenied', 'a marker')
  t.notOk('x-amz-delete-marker' in gone.headers)
  const missing = await unsigned('/locked/none')
  t.equal(
    missing.text.replaceAll(/<(Resource|RequestId)>[^<]*/g, ''),
    gone.text.replaceAll(/<(Resource|RequestId)>[^<]*/g, ''),
    'as a key that never was',
  )
})

test('a denial holds for strangers, and what the setting does not cover cannot be opened', async (t) => {
  const denied = policyOf(
    statement('Allow', '*', 's3:GetObject', 'site/pub/*'),
    statement('Deny', '*', 's3:GetObject', 'site/pub/page*'),
  )
  await put(server, 'site/pub/other', 'other')
  isDone(t, await putPolicy(server, 'site', denied), 204, 'with a denial')
  isError(t, await unsigned(PAGE), 'AccessDenied', 'denied')
  t.equal((await unsigned('/site/pub/other')).text, 'other')
  isDone(t, await putPolicy(server, 'site', OPEN), 204, 'without it')
  for (const opened of [
    statement('Allow', '*', 's3:GetObject', 'site/*'),
    statement('Allow', '*', 's3:GetObject', 'site/pub*'),
    statement('Allow', '*', 's3:GetObject', 'site/pub/*', 'site/private'),
    statement('Allow', '*', 's3:Get*', 'site/pub/*'),
    statement('Allow', '*', ['s3:GetObject', 's3:PutObject'], 'site/pub/*'),
    statement('Allow', '*', 's3:ListBucket', 'site'),
  ]) {
    isError(t, await putPolicy(server, 'site', policyOf(opened)), 'AccessDenied', JSON.stringify(opened))
  }
})

test('one network has so many places, all strangers together have those of one account, and all come back', async (t) => {
  const held = Array.from({ length: 16 }, () => enterPublicRead('10.0.0.1'))
  t.throws(() => enterPublicRead('10.0.0.1'), BusyError)
  enterPublicRead('10.0.0.2').leave()
  for (const place of held) place.leave()
  for (let at = 0; at < 40; at += 1) {
    for (const target of [PAGE, '/site/pub/none', '/site/private'])
      await unsigned(target, {}, at % 2 === 0 ? 'GET' : 'HEAD')
  }
  const again = Array.from({ length: 16 }, () => enterPublicRead('127.0.0.1'))
  for (const place of again) place.leave()
  t.equal(server.gate.active, 0)
  t.same(server.failures, [])
})

test('a narrower setting closes what a policy opened before, at a restart; records beyond the budget are counted', async (t) => {
  isStopped = true
  await server.stop()
  const narrower = await startInThread({ extensions, dataDirectory, publicReadPrefixes: ['site/pub/sub/'] })
  isError(t, await unsigned(PAGE, {}, 'GET', narrower), 'AccessDenied', 'narrower')
  t.equal((await narrower.s3.send(new GetBucketPolicyStatusCommand({ Bucket: 'site' }))).PolicyStatus?.IsPublic, false)
  await narrower.stop()
  const off = await startInThread({ extensions: ['tagging'], dataDirectory, publicReadPrefixes })
  isError(t, await unsigned(PAGE, {}, 'GET', off), 'AccessDenied', 'the extension is off')
  await off.stop()
  const poor = await startInThread({ extensions, dataDirectory, publicReadPrefixes, strangerBytesPerSecond: 16 })
  const before = (await poor.journal()).length
  for (let at = 0; at < 20; at += 1) isDone(t, await unsigned(PAGE, {}, 'GET', poor), 200, 'read all the same')
  t.ok((await poor.journal()).length < before + 20, 'not each has a record')
  await poor.stop()
  const again = await startInThread({ extensions, dataDirectory })
  t.teardown(() => again.stop())
  const counted = (await again.journal()).filter(({ operation }) => operation === 'requests.counted')
  t.ok(
    counted.some(({ details }) => Number(details.get('success')) > 0),
    'the others are counted',
  )
})
