/**
 * DeleteObjects, an extension: what it answers, and that each key of it is a deletion like any other.
 * Proves: DO-NOT-03.
 */
import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { compilePolicies } from '../../../../engine/access/policy.ts'
import type { Credential } from '../../../../planes/s3/signing/identity.ts'
import { allow, deny } from '../../../support/identities.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement } from '../../../support/wire-client.ts'
import {
  deletedIn,
  deletionDocument,
  digestOf,
  removeAll,
  sendDeletions,
  type WireDeletion,
} from '../../../support/wire-deletions.ts'
import { BYPASS, createLockBucket, DAY, later, lockLines } from '../../../support/wire-locks.ts'
import { createBucket, historyOf, put, remove, setVersioning } from '../../../support/wire-versions.ts'

function credential(name: string, ...statements: Parameters<typeof compilePolicies>[0]): Credential {
  return {
    accessKey: name,
    secretKey: `the secret of ${name}`,
    principal: `service_account:${name}`,
    credentialId: `${name}-1`,
    policies: compilePolicies(statements),
  }
}

const CREDENTIALS = [
  credential('nobody'),
  credential('lister', allow(['s3:ListBucket', 's3:GetObject'], 'bucket:*')),
  credential('cleaner', allow(['s3:DeleteObject'], 'bucket:people/own/*', 'bucket:missing/*')),
  credential(
    'eraser',
    allow(['s3:DeleteObject*'], 'bucket:people/*'),
    deny(['s3:DeleteObject*'], 'bucket:people/kept'),
  ),
  credential('reader', allow(['s3:DeleteObject', 's3:GetObject'], 'bucket:people/*')),
  credential('warden', allow(['s3:DeleteObject*'], 'bucket:guarded/*')),
  credential(
    'master',
    allow(['s3:DeleteObject*', 's3:BypassGovernanceRetention'], 'bucket:guarded/free*'),
    allow(['s3:DeleteObject*'], 'bucket:guarded/*'),
  ),
]

const dataDirectory = temporaryDirectory()
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const server = await startInThread({ dataDirectory, credentials: CREDENTIALS, extensions: ['delete-objects'] })
tap.teardown(() => server.stop())
const { raw } = server

function as(accessKey: string) {
  return { sign: { accessKey, secretKey: `the secret of ${accessKey}` } }
}

async function statusOf(target: string): Promise<number> {
  return (await raw('HEAD', `/${target}`)).status
}

test('with the extension off, the refusal is the one of before and names the setting', async (t) => {
  const plain = await startInThread({ credentials: CREDENTIALS })
  t.teardown(() => plain.stop())
  await createBucket(plain, 'plain')
  await put(plain, 'plain/k', 'bytes')
  for (const options of [{}, as('nobody'), { sign: false } as const]) {
    const answer = await sendDeletions(plain, 'plain', deletionDocument([{ Key: 'k' }]), options)
    isError(t, answer, 'NotImplemented', 'off')
    t.match(firstElement(answer.text, 'Message'), /^DeleteObjects is not supported .* delete-objects .* s3\.extensions/)
  }
  t.equal((await plain.raw('GET', '/plain/k')).text, 'bytes')
})

test('keys are deleted, and each is answered, also one that is not there and one that is named twice', async (t) => {
  await createBucket(server, 'keys')
  await put(server, 'keys/a', 'a')
  await put(server, 'keys/b', 'b')
  await put(server, 'keys/stays', 'c')
  const deletions = [{ Key: 'a' }, { Key: 'none' }, { Key: 'b' }, { Key: 'a' }]
  t.same(
    await removeAll(server, 'keys', deletions),
    deletions.map(({ Key }) => ({ key: Key, deleted: true })),
  )
  t.same(await Promise.all(['a', 'b', 'stays'].map((key) => statusOf(`keys/${key}`))), [404, 404, 200])
  const answer = await sendDeletions(server, 'keys', deletionDocument([{ Key: 'none' }]))
  isDone(t, answer, 200, 'the document')
  t.equal(
    answer.text,
    '<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
      '<Deleted><Key>none</Key></Deleted></DeleteResult>',
  )
  t.equal(answer.headers['content-type'], 'application/xml')
})

test('a quiet request is told of failures alone', async (t) => {
  await createBucket(server, 'quiet')
  await put(server, 'quiet/a', 'a')
  const bad = { Key: 'b', VersionId: 'not valid' }
  const answers = await removeAll(server, 'quiet', [{ Key: 'a' }, bad], { quiet: true })
  t.match(answers, [{ key: 'b', versionId: 'not valid', code: 'NoSuchVersion' }])
  t.equal(answers.length, 1)
  t.equal(await statusOf('quiet/a'), 404)
  t.equal((await removeAll(server, 'quiet', [{ Key: 'a' }, bad], { quiet: false })).length, 2)
})

test('Content-MD5 or a checksum must be there, and right', async (t) => {
  await createBucket(server, 'digests')
  await put(server, 'digests/k', 'bytes')
  const body = deletionDocument([{ Key: 'k' }])
  const send = (...headers: [string, string][]) => raw('POST', '/digests?delete', { body, headers })
  isError(t, await send(), 'InvalidRequest', 'neither')
  isError(t, await send(['x-amz-sdk-checksum-algorithm', 'CRC32']), 'InvalidRequest', 'only announced')
  isError(t, await send(['content-md5', hash('md5', 'another', 'base64')]), 'BadDigest', 'of another body')
  isError(t, await send(['content-md5', 'short']), 'InvalidDigest', 'no digest')
  isError(t, await send(['x-amz-checksum-sha256', hash('sha256', 'another', 'base64')]), 'BadDigest', 'checksum')
  const unsigned = { payloadHash: 'UNSIGNED-PAYLOAD' }
  const sent = { body, headers: [digestOf(`${body} `)], sign: unsigned }
  isError(t, await raw('POST', '/digests?delete', sent), 'BadDigest', 'also where the body is not signed')
  t.equal(await statusOf('digests/k'), 200)
  isDone(t, await send(['x-amz-checksum-sha256', hash('sha256', body, 'base64')]), 200, 'a checksum')
  t.equal(await statusOf('digests/k'), 404)
})

test('a request that is wrong as a whole deletes nothing', async (t) => {
  await createBucket(server, 'whole')
  await put(server, 'whole/k', 'bytes')
  const good = { Key: 'k' }
  const many = Array.from({ length: 1001 }, (_, index) => ({ Key: index === 0 ? 'k' : `k${index}` }))
  const documents = ['', '<Delete/>', deletionDocument(many), '<Delete><Object><Key>k</Key></Object>', '{"Key":"k"}']
  for (const body of documents)
    isError(t, await sendDeletions(server, 'whole', body), 'MalformedXML', body.slice(0, 40))
  const long = deletionDocument([good, ...Array.from({ length: 999 }, () => ({ Key: '&'.repeat(1000) }))])
  const tooLong = await sendDeletions(server, 'whole', long)
  isError(t, tooLong, 'MaxMessageLengthExceeded', 'more than 2 MiB')
  const document = deletionDocument([good])
  const headers = [['if-match', '"x"']] as const
  isError(t, await sendDeletions(server, 'whole', document, { headers }), 'NotImplemented', 'a condition on all')
  isError(t, await raw('POST', '/whole?delete&versionId=null', { body: document }), 'InvalidArgument', 'versionId')
  isError(t, await raw('POST', '/whole?delete&uploads', { body: document }), 'InvalidArgument', 'two at once')
  isError(t, await sendDeletions(server, 'not-there', document), 'NoSuchBucket', 'no bucket')
  isError(t, await raw('POST', '/whole/k?delete', { body: document }), 'MethodNotAllowed', 'of an object')
  t.equal(await statusOf('whole/k'), 200)
  t.equal((await removeAll(server, 'whole', many.slice(0, 1000))).length, 1000, 'a thousand are not too many')
})

/** Keys that readers of XML change, and keys that look alike. */
const HOSTILE = [
  ' a',
  'a ',
  'a',
  '\ta\n',
  '\r',
  'a\rb',
  '&amp;',
  '&#13;',
  '<Key>',
  ']]>',
  'a/../b',
  '\u00a0',
  '\ufeffx',
  '%41',
  '😀',
  '.',
]

function hostileTarget(key: string): string {
  return `hostile/${encodeURIComponent(key)}`
}

test('hostile keys: the one that is named is deleted, to the byte', async (t) => {
  await createBucket(server, 'hostile')
  for (const key of HOSTILE) await put(server, hostileTarget(key), key)
  for (const [index, key] of HOSTILE.entries()) {
    const [deleted] = await removeAll(server, 'hostile', [{ Key: key }])
    t.same(deleted, { key, deleted: true }, JSON.stringify(key))
    const left = await Promise.all(HOSTILE.map((other) => statusOf(hostileTarget(other))))
    t.same(
      left,
      HOSTILE.map((_, other) => (other <= index ? 404 : 200)),
      `after ${JSON.stringify(key)}`,
    )
  }
  const [long] = await removeAll(server, 'hostile', [{ Key: 'k'.repeat(1025) }])
  t.match(long, { code: 'KeyTooLongError' })
  t.match(await removeAll(server, 'hostile', [{ Key: '&'.repeat(1600) }]), [
    { key: `${'&'.repeat(219)}...`, code: 'KeyTooLongError' },
  ])
})

test('versions: markers are written, named and removed; what was never there counts as deleted', async (t) => {
  await createBucket(server, 'versions')
  await put(server, 'versions/k', 'null version')
  await setVersioning(server, 'versions', 'enabled')
  const first = String(await put(server, 'versions/k', 'first'))
  const [hidden] = await removeAll(server, 'versions', [{ Key: 'k' }])
  const [marker = ''] = (await historyOf(server, 'versions', 'k')).map((name) => name.replace(/ .*/, ''))
  t.same(hidden, { key: 'k', deleted: true, markerId: marker })
  t.same(await removeAll(server, 'versions', [{ Key: 'k', VersionId: marker }]), [
    { key: 'k', versionId: marker, deleted: true, markerId: marker },
  ])
  t.equal((await raw('GET', '/versions/k')).text, 'first')
  const unknown = `${first.slice(0, -2)}${first.endsWith('AA') ? 'BB' : 'AA'}`
  const named = [first, 'null', unknown].map((VersionId) => ({ Key: 'k', VersionId }))
  t.same(
    await removeAll(server, 'versions', named),
    named.map(({ VersionId }) => ({ key: 'k', versionId: VersionId, deleted: true })),
  )
  t.same(await historyOf(server, 'versions', 'k'), [])
  for (const VersionId of ['', ' ', 'a b', 'ü', '../k', 'x'.repeat(1025)]) {
    t.match(await removeAll(server, 'versions', [{ Key: 'k', VersionId }]), [{ code: 'NoSuchVersion' }], VersionId)
  }
  await setVersioning(server, 'versions', 'suspended')
  t.same(await removeAll(server, 'versions', [{ Key: 'k' }]), [{ key: 'k', deleted: true, markerId: 'null' }])
})

test('conditions: an ETag is that of If-Match, and the others are refused by name', async (t) => {
  await createBucket(server, 'conditions')
  const etag = hash('md5', 'bytes', 'hex')
  for (const key of ['a', 'b', 'c', 'd', 'e']) await put(server, `conditions/${key}`, 'bytes')
  const deletions: WireDeletion[] = [
    { Key: 'a', ETag: `"${etag}"` },
    { Key: 'b', ETag: etag },
    { Key: 'c', ETag: '"0cc175b9c0f1b6a831c399e269772661"' },
    { Key: 'd', ETag: `W/"${etag}"` },
    { Key: 'e', ETag: '*' },
    { Key: 'c', ETag: '' },
    { Key: 'c', Size: '5' },
    { Key: 'c', LastModifiedTime: 'Wed, 01 Jan 2020 00:00:00 GMT', ETag: etag },
    { Key: 'none', ETag: etag },
  ]
  const answers = await removeAll(server, 'conditions', deletions)
  t.same(
    answers.map((answer) => ('code' in answer ? answer.code : 'deleted')),
    [
      'deleted',
      'deleted',
      'PreconditionFailed',
      'PreconditionFailed',
      'deleted',
      'InvalidArgument',
      'NotImplemented',
      'NotImplemented',
      'deleted',
    ],
  )
  t.match(answers[6], { message: /Size/ })
  t.match(answers[7], { message: /LastModifiedTime/ })
  t.same(await Promise.all(['c', 'd'].map((key) => statusOf(`conditions/${key}`))), [200, 200])
})

test('locks hold one by one; the bypass needs header and permission for the key', async (t) => {
  await createLockBucket(server, 'guarded')
  const governance = lockLines({ mode: 'GOVERNANCE', until: later(DAY) })
  const compliance = lockLines({ mode: 'COMPLIANCE', until: later(DAY) })
  const ids = {
    free: String(await put(server, 'guarded/free', 'x', governance)),
    bound: String(await put(server, 'guarded/bound', 'x', governance)),
    'free-compliance': String(await put(server, 'guarded/free-compliance', 'x', compliance)),
    'free-held': String(await put(server, 'guarded/free-held', 'x', lockLines({ hold: 'ON' }))),
    'free-plain': String(await put(server, 'guarded/free-plain', 'x')),
  }
  const deletions = Object.entries(ids).map(([Key, VersionId]) => ({ Key, VersionId }))
  const outcome = async (options: Parameters<typeof removeAll>[3]) =>
    (await removeAll(server, 'guarded', deletions, options)).map((one) => ('code' in one ? one.message : 'deleted'))
  t.match(await outcome(as('warden')), [/governance/, /governance/, /compliance/, /legal hold/, 'deleted'])
  t.match(
    await outcome({ ...as('warden'), headers: [BYPASS] }),
    deletions.map(() => 'Access Denied'),
    'the header without the permission',
  )
  t.match(
    await outcome({ ...as('master'), headers: [BYPASS] }),
    ['deleted', 'Access Denied', /compliance/, /legal hold/, 'deleted'],
    'with it, for some of the keys',
  )
  t.match(await historyOf(server, 'guarded', 'bound'), [`${ids.bound}*`])
  const entries = await server.journal()
  const bypasses = entries.filter(({ operation }) => operation === 's3:object-lock.bypass')
  const told = bypasses.map(({ result, resource, details }) => [result, resource, details.get('version_id')])
  const pair = (key: keyof typeof ids, result: string) =>
    ['attempted', result].map((each) => [each, `bucket:guarded/${key}`, ids[key]])
  t.same(told, [...pair('free', 'success'), ...pair('free-compliance', 'denied'), ...pair('free-held', 'denied')])
  t.equal(bypasses[1]?.intent, bypasses[0]?.sequence)
  const [marker] = await removeAll(server, 'guarded', [{ Key: 'bound' }], as('warden'))
  t.ok(marker !== undefined && 'markerId' in marker, 'rule 9: without an id a marker is written')
})

test('permissions are those of each key, and who may delete nothing of it learns nothing', async (t) => {
  await createBucket(server, 'people')
  await setVersioning(server, 'people', 'enabled')
  const ids: Record<string, string> = {}
  for (const key of ['own/a', 'other/a', 'kept', 'read']) ids[key] = String(await put(server, `people/${key}`, key))
  const codes = async (who: string, deletions: readonly WireDeletion[], bucket = 'people') => {
    const answers = await removeAll(server, bucket, deletions, as(who))
    return answers.map((one) => ('code' in one ? one.code : 'deleted'))
  }
  const all = Object.keys(ids).map((Key) => ({ Key }))
  const denied = all.map(() => 'AccessDenied')
  t.same(await codes('nobody', all), denied)
  t.same(await codes('lister', all), denied, 'reading is not deleting')
  t.same(await codes('nobody', all, 'not-there'), denied, 'as where there is no bucket')
  t.same(await codes('cleaner', all, 'not-there'), denied)
  const own = await sendDeletions(server, 'missing', deletionDocument([{ Key: 'x' }]), as('cleaner'))
  isError(t, own, 'NoSuchBucket', 'who may delete it hears that there is no bucket')
  t.same(await codes('cleaner', [{ Key: 'own/a', VersionId: ids['own/a'] ?? '' }]), ['AccessDenied'], 'a version')
  t.same(await codes('cleaner', [{ Key: 'own/a' }, { Key: 'other/a' }]), ['deleted', 'AccessDenied'])
  t.same(await codes('eraser', [{ Key: 'kept' }, { Key: 'kept', VersionId: ids['kept'] ?? '' }]), [
    'AccessDenied',
    'AccessDenied',
  ])
  t.same(await codes('eraser', [{ Key: 'other/a', VersionId: ids['other/a'] ?? '' }]), ['deleted'])
  const condition = { Key: 'read', ETag: hash('md5', 'another', 'hex') }
  t.same(await codes('eraser', [condition]), ['AccessDenied'], 'an ETag asks what is there, as a read does')
  t.same(await codes('eraser', [{ ...condition, Key: 'none' }]), ['AccessDenied'], 'there or not')
  t.same(await codes('reader', [condition]), ['PreconditionFailed'])
  t.same(await historyOf(server, 'people', 'kept'), [`${ids['kept']}*`])
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
  t.same(deletedIn((await sendDeletions(server, 'keys', deletionDocument([{ Key: 'x' }]))).text), [
    { key: 'x', deleted: true },
  ])
  await remove(server, 'keys/x')
})
