import { GetObjectRetentionCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3'
import tap, { type Test, test } from 'tap'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'
import {
  BYPASS,
  createLockBucket,
  DAY,
  later,
  lockDocuments,
  lockLines,
  lockOf,
  setLegalHold,
  setRetention,
  type WireLock,
} from '../../support/wire-locks.ts'
import { createBucket, historyOf, put, remove, setVersioning } from '../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { s3, raw } = server
const [SOON, LATER, LATEST] = [later(DAY), later(2 * DAY), '9999-12-31T23:59:59.999Z']
const [G, C] = ['GOVERNANCE', 'COMPLIANCE']

await createLockBucket(server, 'locked')
await createBucket(server, 'plain')
await createBucket(server, 'versioned')
await setVersioning(server, 'versioned', 'enabled')

let keys = 0

/** A new object under a lock. */
async function locked(lock: WireLock): Promise<string> {
  keys += 1
  const target = `locked/k-${keys}`
  await put(server, target, 'bytes', lockLines(lock))
  return target
}

async function hasLock(t: Test, target: string, lock: WireLock, name: string): Promise<void> {
  t.same(lockOf(await raw('HEAD', `/${target}`)), lock, `${name}: HEAD`)
  t.same(await lockDocuments(server, target), lock, `${name}: documents`)
}

test('W4, Object Lock rule 6: what each mode lets be done to it, without and with the bypass', async (t) => {
  type Outcome = 'done' | 'needs bypass' | 'never'
  const rows: readonly [from: WireLock, to: WireLock, outcome: Outcome][] = [
    [{}, { mode: G, until: SOON }, 'done'],
    [{}, { mode: C, until: SOON }, 'done'],
    [{}, {}, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: SOON }, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: LATER }, 'done'],
    [{ mode: G, until: SOON }, { mode: G, until: LATEST }, 'done'],
    [{ mode: G, until: SOON }, { mode: C, until: SOON }, 'done'],
    [{ mode: G, until: SOON }, { mode: C, until: LATER }, 'done'],
    [{ mode: G, until: LATER }, { mode: G, until: SOON }, 'needs bypass'],
    [{ mode: G, until: LATER }, { mode: C, until: SOON }, 'needs bypass'],
    [{ mode: G, until: LATER }, {}, 'needs bypass'],
    [{ mode: C, until: SOON }, { mode: C, until: SOON }, 'done'],
    [{ mode: C, until: SOON }, { mode: C, until: LATER }, 'done'],
    [{ mode: C, until: SOON }, { mode: C, until: LATEST }, 'done'],
    [{ mode: C, until: LATER }, { mode: C, until: SOON }, 'never'],
    [{ mode: C, until: SOON }, { mode: G, until: SOON }, 'never'],
    [{ mode: C, until: SOON }, { mode: G, until: LATEST }, 'never'],
    [{ mode: C, until: SOON }, {}, 'never'],
  ]
  for (const [from, to, outcome] of rows) {
    for (const hold of [undefined, 'ON']) {
      const held = hold === undefined ? {} : { hold }
      const target = await locked({ ...from, ...held })
      const name = `${JSON.stringify({ ...from, ...held })} to ${JSON.stringify(to)}`
      const plain = await setRetention(server, target, to)
      if (outcome === 'done') isDone(t, plain, 200, name)
      else isError(t, plain, 'AccessDenied', name)
      await hasLock(t, target, { ...(outcome === 'done' ? to : from), ...held }, name)
      if (outcome === 'done') continue
      t.match(
        firstElement(plain.text, 'Message'),
        outcome === 'never' ? /compliance retention/ : /governance retention/,
      )
      const bypassed = await setRetention(server, target, to, { headers: [BYPASS] })
      if (outcome === 'never') isError(t, bypassed, 'AccessDenied', `${name} with the bypass`)
      else isDone(t, bypassed, 200, `${name} with the bypass`)
      await hasLock(t, target, { ...(outcome === 'never' ? from : to), ...held }, `${name} with the bypass`)
    }
  }
})

test('one millisecond less is less', async (t) => {
  const until = '2140-01-01T00:00:00.500Z'
  for (const mode of [G, C]) {
    const target = await locked({ mode, until })
    for (const earlier of ['2140-01-01T00:00:00.499Z', '2140-01-01T00:00:00Z', '2140-01-01T00:00:00.499999999Z']) {
      const answer = await setRetention(server, target, { mode, until: earlier })
      if (earlier.endsWith('999999Z')) isDone(t, answer, 200, 'a fraction finer than milliseconds is rounded up')
      else isError(t, answer, 'AccessDenied', earlier)
    }
    isDone(t, await setRetention(server, target, { mode, until: '2140-01-01T00:00:00.501Z' }), 200, 'more')
    await hasLock(t, target, { mode, until: '2140-01-01T00:00:00.501Z' }, mode)
    isError(t, await setRetention(server, target, { mode, until }), 'AccessDenied', 'back again')
    const zone = '2140-01-01T02:00:00.501+02:00'
    isDone(t, await setRetention(server, target, { mode, until: zone }), 200, 'the same moment in another zone')
  }
})

test('the bypass is `true` in any case, and nothing else', async (t) => {
  const target = await locked({ mode: G, until: LATER })
  for (const value of ['false', '', '1', 'yes', 'true,true', 'truely']) {
    const answer = await setRetention(server, target, { mode: G, until: SOON }, { headers: [[BYPASS[0], value]] })
    t.ok([403, 400].includes(answer.status), `${value}: ${answer.status}`)
  }
  await hasLock(t, target, { mode: G, until: LATER }, 'still')
  const upper = { headers: [[BYPASS[0], 'TRUE']] } as const
  isDone(t, await setRetention(server, target, { mode: G, until: SOON }, upper), 200, 'TRUE')
})

test('a retention of a certain version, and of the current one', async (t) => {
  const one = await put(server, 'locked/versions', 'one')
  const two = await put(server, 'locked/versions', 'two')
  isDone(
    t,
    await setRetention(server, 'locked/versions', { mode: G, until: SOON }, { versionId: one }),
    200,
    'the older',
  )
  isDone(t, await setRetention(server, 'locked/versions', { mode: C, until: LATER }), 200, 'the current one')
  t.same(await lockDocuments(server, 'locked/versions', one), { mode: G, until: SOON })
  t.same(await lockDocuments(server, 'locked/versions', two), { mode: C, until: LATER })
  t.same(lockOf(await raw('HEAD', `/locked/versions?versionId=${one}`)), { mode: G, until: SOON })
  t.same(await historyOf(server, 'locked', 'versions'), [`${two}*`, one], 'a lock makes no version')
})

test('s3-wire 6: what has no retention to tell of or to set', async (t) => {
  const bare = await put(server, 'locked/bare', 'bytes')
  const marker = await remove(server, 'locked/marked')
  const rows: [target: string, versionId: string | undefined, code: S3ErrorCode][] = [
    ['plain/k', undefined, 'InvalidRequest'],
    ['versioned/k', 'null', 'InvalidRequest'],
    ['no-such-bucket/k', undefined, 'NoSuchBucket'],
    ['locked/never', undefined, 'NoSuchKey'],
    ['locked/marked', undefined, 'NoSuchKey'],
    ['locked/marked', marker, 'MethodNotAllowed'],
    ['locked/bare', 'A'.repeat(22), 'NoSuchVersion'],
    ['locked/bare', 'null', 'NoSuchVersion'],
    ['locked/bare', 'no%20id', 'InvalidArgument'],
    ['locked/never', bare, 'NoSuchVersion'],
  ]
  for (const [target, versionId, code] of rows) {
    const query = versionId === undefined ? '' : `&versionId=${versionId}`
    for (const operation of ['retention', 'legal-hold']) {
      const got = await raw('GET', `/${target}?${operation}${query}`)
      isError(t, got, code, `GET ${operation} of ${target} ${versionId}`)
      if (code === 'MethodNotAllowed') t.equal(got.headers.allow, 'DELETE')
    }
    const lock = { mode: G, until: SOON }
    isError(t, await setRetention(server, target, lock, { versionId }), code, `PUT retention of ${target} ${versionId}`)
    isError(t, await setLegalHold(server, target, 'ON', { versionId }), code, `PUT hold of ${target} ${versionId}`)
  }
  for (const operation of ['retention', 'legal-hold']) {
    isError(t, await raw('GET', `/locked/bare?${operation}`), 'NoSuchObjectLockConfiguration', operation)
    isError(t, await raw('DELETE', `/locked/bare?${operation}`), 'MethodNotAllowed', `DELETE ${operation}`)
  }
})

test('documents and dates that are refused', async (t) => {
  const target = await locked({ mode: G, until: SOON })
  const rows: [inner: string, code: S3ErrorCode][] = [
    [`<Mode>${G}</Mode>`, 'MalformedXML'],
    [`<RetainUntilDate>${LATER}</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>governance</Mode><RetainUntilDate>${LATER}</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><Mode>${G}</Mode><RetainUntilDate>${LATER}</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate></RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>soon</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>2140-01-01</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>2140-13-01T00:00:00Z</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>10000-01-01T00:00:00Z</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>-000001-01-01T00:00:00Z</RetainUntilDate>`, 'MalformedXML'],
    [`<Mode>${G}</Mode><RetainUntilDate>${later(-1000)}</RetainUntilDate>`, 'InvalidArgument'],
    [`<Mode>${G}</Mode><RetainUntilDate>2001-01-01T00:00:00Z</RetainUntilDate>`, 'InvalidArgument'],
    ['<Days>1</Days>', 'MalformedXML'],
  ]
  for (const [inner, code] of rows) {
    const answer = await raw('PUT', `/${target}?retention`, {
      body: `<Retention>${inner}</Retention>`,
      headers: [BYPASS],
    })
    isError(t, answer, code, inner)
  }
  for (const body of ['', 'x', '<Retention>', '<LegalHold><Status>ON</Status></LegalHold>']) {
    isError(t, await raw('PUT', `/${target}?retention`, { body, headers: [BYPASS] }), 'MalformedXML', body)
  }
  const body = `<Retention><Mode>${G}</Mode><RetainUntilDate>${LATER}</RetainUntilDate></Retention>`
  const sums: [name: string, value: string][] = [
    ['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA=='],
    ['x-amz-checksum-crc32', 'AAAAAA=='],
  ]
  for (const sum of sums) {
    isError(t, await raw('PUT', `/${target}?retention`, { body, headers: [sum] }), 'BadDigest', `W5: ${sum[0]}`)
    isError(t, await raw('PUT', `/${target}?legal-hold`, { body, headers: [sum] }), 'BadDigest', `W5: ${sum[0]}`)
  }
  await hasLock(t, target, { mode: G, until: SOON }, 'nothing of all this changed anything')
})

test('Object Lock rule 10: a hold and a retention know nothing of each other', async (t) => {
  const target = await locked({ mode: G, until: SOON })
  for (const hold of ['ON', 'ON', 'OFF', 'OFF', 'ON']) {
    isDone(t, await setLegalHold(server, target, hold), 200, hold)
    await hasLock(t, target, { mode: G, until: SOON, hold }, hold)
  }
  isDone(t, await setRetention(server, target, { mode: C, until: LATER }), 200, 'a retention under a hold')
  await hasLock(t, target, { mode: C, until: LATER, hold: 'ON' }, 'the hold stays')
  isDone(t, await setLegalHold(server, target, 'OFF'), 200, 'a hold is lifted under compliance')
  await hasLock(t, target, { mode: C, until: LATER, hold: 'OFF' }, 'the retention stays')
  const bare = await locked({})
  isDone(t, await setLegalHold(server, bare, 'OFF'), 200, 'OFF where there never was one')
  t.same(lockOf(await raw('HEAD', `/${bare}`)), {}, 'specification: an unlocked version reports none of the headers')
  for (const status of ['on', '', 'TRUE', 'Off', 'ON ON']) {
    isError(t, await setLegalHold(server, target, status), 'MalformedXML', status)
  }
  const bypass = await setLegalHold(server, target, 'OFF', { headers: [BYPASS] })
  isError(t, bypass, 'NotImplemented', 'a hold has nothing to bypass')
})

test('the SDK sets and reads a retention', async (t) => {
  const target = await locked({ mode: G, until: LATER })
  const Key = target.slice('locked/'.length)
  const of = { Bucket: 'locked', Key }
  const shorter = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(SOON) } as const
  t.equal(await errorName(s3.send(new PutObjectRetentionCommand({ ...of, Retention: shorter }))), 'AccessDenied')
  const BypassGovernanceRetention = true
  await s3.send(new PutObjectRetentionCommand({ ...of, Retention: shorter, BypassGovernanceRetention }))
  t.same((await s3.send(new GetObjectRetentionCommand(of))).Retention, shorter)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
