/**
 * Who may lock, and who may release (Object Lock rules 5 and 7), and what is told to those who may not (S9).
 * Proves: DO-CAP-06, STA-LCK-02, STA-LCK-07, S3-LCK-02, S3-LCK-07, S3-LCK-12, S3-LCK-13, S3-LCK-15, AUT-S3P-10,
 * AUT-S3P-11.
 */
import tap, { type Test, test } from 'tap'
import { compilePolicies } from '../../../../engine/access/policy.ts'
import type { PolicyStatement } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { RawRequest, WireAnswer } from '../../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  later,
  lockLines,
  lockOf,
  setDefaultRetention,
  setLegalHold,
  setRetention,
} from '../../../support/wire-locks.ts'
import { historyOf, put, remove } from '../../../support/wire-versions.ts'

const RETENTION = { mode: 'GOVERNANCE', until: later(DAY) }
const WRITER = ['s3:PutObject', 's3:GetObject']
const DELETER = ['s3:DeleteObject', 's3:DeleteObjectVersion']

/** Accounts by name, each with its statements. */
const ACCOUNTS = {
  writer: [allow(...WRITER, ...DELETER)],
  retainer: [allow(...WRITER, 's3:PutObjectRetention')],
  holder: [allow(...WRITER, 's3:PutObjectLegalHold')],
  bypasser: [allow(...DELETER, 's3:PutObjectRetention', 's3:BypassGovernanceRetention')],
  elsewhere: [
    allow(...DELETER, 's3:PutObjectRetention'),
    { effect: 'allow', actions: ['s3:BypassGovernanceRetention'], resources: ['bucket:locked/free/*'] },
  ],
  denied: [allow('s3:*'), { effect: 'deny', actions: ['s3:BypassGovernanceRetention'], resources: ['bucket:*'] }],
  hider: [allow('s3:DeleteObject')],
  manager: [{ effect: 'allow', actions: ['s3:ManageBucket'], resources: ['bucket:locked'] }],
  nobody: [],
} as const satisfies Readonly<Record<string, readonly PolicyStatement[]>>

type Account = keyof typeof ACCOUNTS

function allow(...actions: string[]): PolicyStatement {
  return { effect: 'allow', actions, resources: ['bucket:locked', 'bucket:locked/*'] }
}

const credentials = Object.entries(ACCOUNTS).map(([name, statements]) => ({
  accessKey: name,
  secretKey: `secret of ${name}`,
  principal: `service_account:${name}`,
  credentialId: name,
  policies: compilePolicies(statements),
}))

const server = await startInThread({ credentials })
tap.teardown(() => server.stop())
await createLockBucket(server, 'locked')

function as(account: Account): Pick<RawRequest, 'sign'> {
  return { sign: { accessKey: account, secretKey: `secret of ${account}` } }
}

/** The requests of wire-locks.ts, sent by an account. */
function serverOf(account: Account): typeof server {
  const raw: typeof server.raw = (method, target, options = {}) =>
    server.raw(method, target, { ...options, ...as(account) })
  return { ...server, raw }
}

function write(account: Account, key: string, headers: readonly HeaderLine[]): Promise<WireAnswer> {
  return server.raw('PUT', `/locked/${key}`, { ...as(account), body: 'bytes', headers })
}

test('Object Lock rule 5: a lock at write time needs the permission for it, and a refusal writes nothing', async (t) => {
  const retention = lockLines(RETENTION)
  const hold = lockLines({ hold: 'ON' })
  const rows: [account: Account, headers: readonly HeaderLine[], allowed: boolean][] = [
    ['writer', [], true],
    ['writer', retention, false],
    ['writer', hold, false],
    ['writer', lockLines({ hold: 'OFF' }), false],
    ['writer', retention.slice(0, 1), false],
    ['writer', retention.slice(1), false],
    ['retainer', retention, true],
    ['retainer', hold, false],
    ['retainer', [...retention, ...hold], false],
    ['holder', hold, true],
    ['holder', retention, false],
    ['nobody', [], false],
  ]
  for (const [index, [account, headers, allowed]] of rows.entries()) {
    const key = `written/${index}`
    const source: HeaderLine[] = [['x-amz-copy-source', 'locked/source']]
    await put(server, 'locked/source', 'source')
    const name = `${account} ${JSON.stringify(headers)}`
    const answers: [operation: string, answer: WireAnswer][] = [
      ['put', await write(account, key, headers)],
      ['copy', await server.raw('PUT', `/locked/${key}`, { ...as(account), headers: [...source, ...headers] })],
      ['upload', await server.raw('POST', `/locked/${key}?uploads`, { ...as(account), headers })],
    ]
    for (const [operation, answer] of answers) {
      if (allowed) isDone(t, answer, 200, `${operation} ${name}`)
      else isError(t, answer, 'AccessDenied', `${operation} ${name}`)
    }
    t.equal(
      (await historyOf(server, 'locked', key)).length,
      allowed ? 2 : 0,
      'nothing more and nothing less is written',
    )
  }
})

test('Object Lock rule 5: a lock in the query of a link needs the same permission', async (t) => {
  const { wire } = server
  for (const [account, allowed] of [
    ['writer', false],
    ['retainer', true],
  ] as const) {
    const query = lockLines(RETENTION)
    const signing = { accessKey: account, secretKey: `secret of ${account}` }
    const url = wire.presigned('PUT', `/locked/link-${account}`, { query, ...signing })
    const answer = await server.raw('PUT', url, { sign: false, body: 'x' })
    if (allowed) isDone(t, answer, 200, account)
    else isError(t, answer, 'AccessDenied', account)
  }
  t.same(lockOf(await server.raw('HEAD', '/locked/link-retainer')), RETENTION)
})

test('S7: setting a lock afterwards needs its own permission, whatever else is allowed', async (t) => {
  await put(server, 'locked/later', 'bytes')
  const rows: [account: Account, retention: boolean, hold: boolean][] = [
    ['writer', false, false],
    ['retainer', true, false],
    ['holder', false, true],
    ['manager', false, false],
    ['nobody', false, false],
  ]
  for (const [account, retention, hold] of rows) {
    const set = await setRetention(serverOf(account), 'locked/later', RETENTION)
    const held = await setLegalHold(serverOf(account), 'locked/later', 'OFF')
    t.same([set.status, held.status], [retention ? 200 : 403, hold ? 200 : 403], account)
    const configured = await setDefaultRetention(serverOf(account), 'locked', undefined)
    t.equal(configured.status, account === 'manager' ? 200 : 403, `${account}: the default of the bucket`)
  }
})

test('Object Lock rule 7: a bypass needs the header and the permission on that very resource', async (t) => {
  const rows: [account: Account, key: string, allowed: boolean][] = [
    ['writer', 'a', false],
    ['bypasser', 'a', true],
    ['elsewhere', 'a', false],
    ['elsewhere', 'free/a', true],
    ['denied', 'a', false],
  ]
  for (const [account, key, allowed] of rows) {
    const target = `locked/${key}-${account}`
    const id = await put(server, target, 'bytes', lockLines(RETENTION))
    const query = `/${target}?versionId=${id}`
    const plain = await server.raw('DELETE', query, as(account))
    isError(t, plain, 'AccessDenied', `${account}: no header`)
    t.match(plain.text, /governance retention/, 'the retention refuses it')
    const shorter = { mode: 'GOVERNANCE', until: later(DAY / 2) }
    const set = await setRetention(serverOf(account), target, shorter, { headers: [BYPASS] })
    t.equal(set.status, allowed ? 200 : 403, `${account}: retention`)
    const bypass = await server.raw('DELETE', query, { ...as(account), headers: [BYPASS] })
    if (allowed) isDone(t, bypass, 204, account)
    else isError(t, bypass, 'AccessDenied', account)
    if (!allowed) t.notMatch(bypass.text, /retention/, 'the policy refuses it, before the version is looked at')
    t.equal((await server.raw('GET', query)).status, allowed ? 404 : 200, `${account}: the version`)
  }
})

test('S13: a deletion by id is another permission than hiding a key', async (t) => {
  const id = await put(server, 'locked/hidden', 'bytes')
  isError(t, await server.raw('DELETE', `/locked/hidden?versionId=${id}`, as('hider')), 'AccessDenied', 'by id')
  isError(t, await server.raw('DELETE', '/locked/hidden?versionId=null', as('hider')), 'AccessDenied', 'null')
  isError(t, await server.raw('DELETE', '/locked/hidden?versionId', as('hider')), 'AccessDenied', 'an empty id')
  isDone(t, await server.raw('DELETE', '/locked/hidden', as('hider')), 204, 'hiding')
  t.equal((await server.raw('GET', `/locked/hidden?versionId=${id}`)).text, 'bytes')
})

test('S9: who may not read learns nothing of what is there, whatever the condition, range or version', async (t) => {
  const id = await put(server, 'locked/there', 'bytes', lockLines(RETENTION))
  const etag = String((await server.raw('HEAD', '/locked/there')).headers.etag)
  const marker = await remove(server, 'locked/marked')
  const keys = ['there', 'gone?', 'marked'].map(encodeURIComponent)
  const queries = ['', `?versionId=${id}`, `?versionId=${marker}`, '?versionId=null', '?partNumber=1']
  const conditions: HeaderLine[][] = [[], [['if-match', etag]], [['if-none-match', '*']], [['range', 'bytes=900-']]]
  const shapes = new Set<string>()
  for (const account of ['nobody', 'hider'] as const) {
    for (const method of ['GET', 'HEAD']) {
      for (const query of queries) {
        for (const headers of conditions) {
          for (const key of keys) {
            shapes.add(shapeOf(method, await server.raw(method, `/locked/${key}${query}`, { ...as(account), headers })))
          }
        }
      }
    }
  }
  for (const key of keys) {
    const signed = { sign: { accessKey: 'nobody', secretKey: 'guessed' } }
    t.equal((await server.raw('GET', `/locked/${key}`, signed)).code, 'SignatureDoesNotMatch')
    shapes.add(shapeOf('GET', await server.raw('GET', `/locked/${key}`, { sign: false })))
    for (const query of ['?retention', '?legal-hold', `?retention&versionId=${id}`]) {
      shapes.add(shapeOf('GET', await server.raw('GET', `/locked/${key}${query}`, as('nobody'))))
    }
    shapes.add(shapeOf('DELETE', await server.raw('DELETE', `/locked/${key}?versionId=${id}`, as('nobody'))))
    shapes.add(
      shapeOf('PUT', await server.raw('PUT', `/locked/${key}`, { ...as('nobody'), headers: [['if-match', etag]] })),
    )
  }
  for (const bucket of ['locked', 'no-such-bucket']) {
    for (const query of ['versions', 'versioning', 'object-lock', 'list-type=2', 'uploads']) {
      shapes.add(shapeOf('GET', await server.raw('GET', `/${bucket}?${query}`, as('nobody'))))
    }
  }
  t.same([...shapes].toSorted(), ['GET 403 AccessDenied', 'HEAD 403 none'].toSorted())
})

/** What tells one answer from another, without what belongs to the request itself. */
function shapeOf(method: string, { status, code, headers, text }: WireAnswer): string {
  const telling = ['etag', 'x-amz-version-id', 'x-amz-delete-marker', 'content-range', 'allow', 'last-modified']
  const told = telling.filter((name) => headers[name] !== undefined).map((name) => ` ${name}`)
  const message = text.match(/<Message>(.*)<\/Message>/)?.[1] ?? ''
  const says = message === 'Access Denied' || message === '' ? '' : ` ${message}`
  return `${method === 'HEAD' ? 'HEAD' : 'GET'} ${status} ${code ?? 'none'}${told.join('')}${says}`
}

test('nothing of all this was a fault of the server', async (t: Test) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
