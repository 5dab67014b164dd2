import { CopyObjectCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import tap, { type Test, test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { startInThread } from '../../support/test-server.ts'
import { isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import {
  createLockBucket,
  DAY,
  later,
  lockDocuments,
  lockLines,
  lockOf,
  LOCK_HEADER,
  setDefaultRetention,
  type WireLock,
} from '../../support/wire-locks.ts'
import { createBucket, historyOf, put, setVersioning, versionIdOf } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server
const UNTIL = later(DAY)
const FULL: WireLock = { mode: 'GOVERNANCE', until: UNTIL, hold: 'ON' }
const LARGE = sampleBytes(200_000)

await createLockBucket(server, 'locked')
await createLockBucket(server, 'defaulted')
await setDefaultRetention(server, 'defaulted', '<Mode>COMPLIANCE</Mode><Days>10</Days>')
await createBucket(server, 'plain')
await createBucket(server, 'versioned')
await setVersioning(server, 'versioned', 'enabled')

/** The three writes that can carry a lock, each with its own way to the new version. */
const WRITES: readonly [
  name: string,
  write: (target: string, headers: readonly HeaderLine[]) => Promise<WireAnswer>,
][] = [
  ['PutObject', (target, headers) => raw('PUT', `/${target}`, { body: 'bytes', headers })],
  ['PutObject of a file', (target, headers) => raw('PUT', `/${target}`, { body: LARGE, headers })],
  [
    'CopyObject',
    (target, headers) => raw('PUT', `/${target}`, { headers: [['x-amz-copy-source', 'plain/source'], ...headers] }),
  ],
  ['multipart upload', multipart],
]

/** Creation, one part, completion; the answer of the creation where that is refused. */
async function multipart(target: string, headers: readonly HeaderLine[]): Promise<WireAnswer> {
  const created = await raw('POST', `/${target}?uploads`, { headers })
  return created.status === 200 ? complete(target, created) : created
}

async function complete(target: string, created: WireAnswer): Promise<WireAnswer> {
  const uploadId = firstElement(created.text, 'UploadId')
  const part = await raw('PUT', `/${target}?partNumber=1&uploadId=${uploadId}`, { body: 'bytes' })
  const list = `<Part><PartNumber>1</PartNumber><ETag>${String(part.headers.etag)}</ETag></Part>`
  const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`
  return raw('POST', `/${target}?uploadId=${uploadId}`, { body })
}

async function hasLock(t: Test, target: string, lock: WireLock, name: string): Promise<void> {
  t.same(lockOf(await raw('GET', `/${target}`)), lock, `${name}: GET`)
  t.same(lockOf(await raw('HEAD', `/${target}`)), lock, `${name}: HEAD`)
  t.same(await lockDocuments(server, target), lock, `${name}: the operations of the lock`)
}

await put(server, 'plain/source', 'bytes')

test('specification "S3 data plane": put, copy and multipart uploads are born with the lock that they ask for', async (t) => {
  const asked: [lock: WireLock, told: WireLock][] = [
    [
      { mode: 'GOVERNANCE', until: UNTIL },
      { mode: 'GOVERNANCE', until: UNTIL },
    ],
    [
      { mode: 'COMPLIANCE', until: UNTIL },
      { mode: 'COMPLIANCE', until: UNTIL },
    ],
    [{ hold: 'ON' }, { hold: 'ON' }],
    [FULL, FULL],
    [
      { ...FULL, hold: 'OFF' },
      { ...FULL, hold: 'OFF' },
    ],
    [
      { mode: 'COMPLIANCE', until: '2140-01-01T00:00:00Z' },
      { mode: 'COMPLIANCE', until: '2140-01-01T00:00:00.000Z' },
    ],
    [
      { mode: 'COMPLIANCE', until: '9999-12-31T23:59:59.999Z' },
      { mode: 'COMPLIANCE', until: '9999-12-31T23:59:59.999Z' },
    ],
    [
      { mode: 'GOVERNANCE', until: '2140-01-01T02:00:00+02:00' },
      { mode: 'GOVERNANCE', until: '2140-01-01T00:00:00.000Z' },
    ],
    [{}, {}],
  ]
  for (const [name, write] of WRITES) {
    for (const [index, [lock, told]] of asked.entries()) {
      const target = `locked/${name.replaceAll(' ', '-')}/${index}`
      isDone(t, await write(target, lockLines(lock)), 200, `${name} ${JSON.stringify(lock)}`)
      await hasLock(t, target, told, `${name} ${JSON.stringify(lock)}`)
    }
  }
})

test('Object Lock rule 1 and s3-wire 6: locks that are refused, and nothing is written', async (t) => {
  const refused: [lock: WireLock, argument: string][] = [
    [{ mode: 'GOVERNANCE' }, LOCK_HEADER.mode],
    [{ until: UNTIL }, LOCK_HEADER.until],
    [{ mode: 'GOVERNANCE', hold: 'ON' }, LOCK_HEADER.mode],
    [{ mode: 'governance', until: UNTIL }, LOCK_HEADER.mode],
    [{ mode: 'OTHER', until: UNTIL }, LOCK_HEADER.mode],
    [{ mode: '', until: UNTIL }, LOCK_HEADER.mode],
    [{ mode: 'GOVERNANCE', until: '' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: 'tomorrow' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '2140-01-01' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '2140-02-30T00:00:00Z' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '2140-01-01T00:00:00' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '12140-01-01T00:00:00Z' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '4102444800' }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: later(-1) }, LOCK_HEADER.until],
    [{ mode: 'COMPLIANCE', until: '1970-01-01T00:00:00Z' }, LOCK_HEADER.until],
    [{ hold: 'on' }, LOCK_HEADER.hold],
    [{ hold: '' }, LOCK_HEADER.hold],
    [{ hold: 'true' }, LOCK_HEADER.hold],
  ]
  for (const [name, write] of WRITES) {
    for (const [lock, argument] of refused) {
      const answer = await write('locked/refused', lockLines(lock))
      isError(t, answer, 'InvalidArgument', `${name} ${JSON.stringify(lock)}`)
      t.equal(firstElement(answer.text, 'ArgumentName'), argument)
    }
  }
  t.same(await historyOf(server, 'locked', 'refused'), [])
  t.notMatch((await raw('GET', '/locked?uploads')).text, '<UploadId>', 'no upload was begun')
})

test('specification "S3 errors": on a bucket without Object Lock a lock is refused, not left out', async (t) => {
  for (const bucket of ['plain', 'versioned']) {
    for (const [name, write] of WRITES) {
      for (const lock of [{ mode: 'GOVERNANCE', until: UNTIL }, { hold: 'ON' }, { hold: 'OFF' }]) {
        const answer = await write(`${bucket}/refused`, lockLines(lock))
        isError(t, answer, 'InvalidRequest', `${name} in ${bucket}`)
        t.match(firstElement(answer.text, 'Message'), /Object Lock is not enabled on this bucket/)
      }
    }
    isError(t, await raw('GET', `/${bucket}/refused`), 'NoSuchKey', 'nothing was written')
  }
})

test('Object Lock rule 3: what a write leaves out the default fills in', async (t) => {
  for (const [name, write] of WRITES) {
    const key = `defaulted/${name.replaceAll(' ', '-')}`
    const before = Date.now() + 10 * DAY
    isDone(t, await write(key, []), 200, name)
    const { mode, until = '', hold } = lockOf(await raw('HEAD', `/${key}`))
    t.same([mode, hold], ['COMPLIANCE', undefined], name)
    t.ok(Date.parse(until) >= before - 1 && Date.parse(until) <= Date.now() + 10 * DAY, 'ten days from its birth')
    isDone(t, await write(`${key}-held`, lockLines({ hold: 'ON' })), 200, `${name} with a hold`)
    t.match(lockOf(await raw('HEAD', `/${key}-held`)), { mode: 'COMPLIANCE', hold: 'ON' }, 'a hold is no retention')
    isDone(t, await write(`${key}-own`, lockLines({ mode: 'GOVERNANCE', until: UNTIL })), 200, `${name} with its own`)
    await hasLock(t, `${key}-own`, { mode: 'GOVERNANCE', until: UNTIL }, 'its own retention wins')
  }
})

test('Object Lock rule 4: a copy takes the default of its bucket and nothing of the lock of its source', async (t) => {
  await put(server, 'locked/held', 'bytes', lockLines(FULL))
  const copy = (target: string, headers: HeaderLine[] = []) =>
    raw('PUT', `/${target}`, { headers: [['x-amz-copy-source', 'locked/held'], ...headers] })
  const REPLACE: HeaderLine = ['x-amz-metadata-directive', 'REPLACE']
  for (const target of ['plain/copy', 'versioned/copy', 'locked/copy']) {
    isDone(t, await copy(target), 200, target)
    t.same(lockOf(await raw('HEAD', `/${target}`)), {}, `${target} is not locked`)
  }
  isDone(t, await copy('defaulted/copy'), 200, 'into a bucket with a default')
  t.match(lockOf(await raw('HEAD', '/defaulted/copy')), { mode: 'COMPLIANCE', hold: undefined })
  const itself = await copy('locked/held', [REPLACE])
  isDone(t, itself, 200, 'onto itself')
  t.same(lockOf(await raw('HEAD', '/locked/held')), {}, 'the new version is not locked')
  const history = await historyOf(server, 'locked', 'held')
  t.equal(history.length, 2)
  t.same(lockOf(await raw('HEAD', `/locked/held?versionId=${history[1]}`)), FULL, 'the old one still is')
})

test('specification "S3 data plane": the lock of a multipart upload is fixed at its creation', async (t) => {
  const created = await raw('POST', '/defaulted/fixed?uploads', { headers: lockLines(FULL) })
  const bare = await raw('POST', '/defaulted/bare?uploads')
  await setDefaultRetention(server, 'defaulted', '<Mode>GOVERNANCE</Mode><Years>1</Years>')
  t.notMatch((await raw('GET', `/defaulted/fixed?uploadId=${firstElement(created.text, 'UploadId')}`)).headers, {
    [LOCK_HEADER.mode]: String,
  })
  isDone(t, await complete('defaulted/fixed', created), 200, 'with a lock')
  await hasLock(t, 'defaulted/fixed', FULL, 'what was asked for at creation')
  const before = Date.now()
  isDone(t, await complete('defaulted/bare', bare), 200, 'without one')
  const { mode, until = '' } = lockOf(await raw('HEAD', '/defaulted/bare'))
  t.equal(mode, 'GOVERNANCE', 'the default is that of the moment when the version is written')
  t.ok(Date.parse(until) >= before - 1 + 365 * DAY)
  const part: [method: string, target: string, code: S3ErrorCode][] = [
    ['PUT', 'defaulted/x?partNumber=1&uploadId=u', 'NotImplemented'],
    ['POST', 'defaulted/x?uploadId=u', 'NotImplemented'],
    ['DELETE', 'defaulted/x', 'NotImplemented'],
    ['GET', 'defaulted/fixed', 'NotImplemented'],
  ]
  for (const [method, target, code] of part) {
    const answer = await raw(method, `/${target}`, { body: method === 'POST' ? 'x' : '', headers: lockLines(FULL) })
    isError(t, answer, code, `${method} ${target} sets no lock, and does not seem to`)
  }
})

test('s3-wire 11: a presigned PUT carries its lock in the query', async (t) => {
  const query = lockLines(FULL).map(([name, value]) => [name, value] as const)
  const url = wire.presigned('PUT', '/locked/presigned', { query })
  isDone(t, await raw('PUT', url, { sign: false, body: 'bytes' }), 200, 'all three in the query')
  await hasLock(t, 'locked/presigned', FULL, 'presigned')
  const upper = query.map(([name, value]) => [name.replace('x-amz-object', 'X-Amz-Object'), value] as const)
  const other = wire.presigned('PUT', '/locked/presigned-upper', { query: upper })
  isDone(t, await raw('PUT', other, { sign: false, body: 'bytes' }), 200, 'in any case')
  await hasLock(t, 'locked/presigned-upper', FULL, 'presigned')
  const half = wire.presigned('PUT', '/locked/presigned-half', { query: query.slice(0, 1) })
  isError(t, await raw('PUT', half, { sign: false, body: 'x' }), 'InvalidArgument', 'rule 1 holds there too')
  const changed = url.replace(/GOVERNANCE/, 'COMPLIANCE')
  isError(t, await raw('PUT', changed, { sign: false, body: 'x' }), 'SignatureDoesNotMatch', 'changed afterwards')
  const bare = wire.presigned('PUT', '/locked/presigned-bare')
  const added = { sign: false, body: 'x', unsignedHeaders: lockLines(FULL) } as const
  isError(t, await raw('PUT', bare, added), 'AccessDenied', 'S2: a lock that was not signed')
  isError(t, await raw('GET', '/locked/presigned-bare'), 'NoSuchKey', 'nothing was written')
  const signed = wire.presigned('PUT', '/locked/presigned-headers', { headers: lockLines(FULL) })
  isError(t, await raw('PUT', signed, { sign: false, body: 'x' }), 'SignatureDoesNotMatch', 'a signed header left out')
  isDone(t, await raw('PUT', signed, { sign: false, body: 'x', headers: lockLines(FULL) }), 200, 'signed headers')
  await hasLock(t, 'locked/presigned-headers', FULL, 'signed headers')
  const twice = { sign: false, body: 'x', unsignedHeaders: lockLines({ hold: 'OFF' }) } as const
  const contradiction = await raw('PUT', wire.presigned('PUT', '/locked/twice', { query }), twice)
  t.ok([400, 403].includes(contradiction.status), 'S2: the same name with another value in the headers')
})

test('the SDK, its presigner included, sets the same locks', async (t) => {
  const s3: S3Client = server.s3
  const lock = {
    ObjectLockMode: 'GOVERNANCE',
    ObjectLockRetainUntilDate: new Date('2140-06-01T00:00:00Z'),
    ObjectLockLegalHoldStatus: 'ON',
  } as const
  const told = { mode: 'GOVERNANCE', until: '2140-06-01T00:00:00.000Z', hold: 'ON' }
  const Bucket = 'locked'
  await s3.send(new PutObjectCommand({ Bucket, Key: 'sdk', Body: 'bytes', ...lock }))
  await hasLock(t, 'locked/sdk', told, 'PutObject')
  await s3.send(new CopyObjectCommand({ Bucket, Key: 'sdk-copy', CopySource: 'plain/source', ...lock }))
  await hasLock(t, 'locked/sdk-copy', told, 'CopyObject')
  const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'sdk-url', ...lock }), { expiresIn: 60 })
  isDone(t, await raw('PUT', url.slice(server.endpoint.length), { sign: false, body: 'bytes' }), 200, 'presigned')
  await hasLock(t, 'locked/sdk-url', told, 'presigned')
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'sdk-url' }))
  t.match(got, { ...lock, VersionId: versionIdOf(await raw('HEAD', '/locked/sdk-url')) })
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
