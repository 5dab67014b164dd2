import {
  CreateBucketCommand,
  GetObjectLockConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { S3ErrorCode } from '../../../planes/s3/errors.ts'
import { startInThread } from '../../support/test-server.ts'
import { errorName, isDone, isError } from '../../support/wire-assertions.ts'
import { firstElement } from '../../support/wire-client.ts'
import { createLockBucket, DAY, lockOf, setDefaultRetention } from '../../support/wire-locks.ts'
import { createBucket, put, setVersioning } from '../../support/wire-versions.ts'

const now = { milliseconds: Date.UTC(2027, 0, 31, 12, 0, 0, 250) }
const server = await startInThread({ clock: () => now.milliseconds })
tap.teardown(() => server.stop())
const { s3, raw } = server

await createLockBucket(server, 'locked')
await createBucket(server, 'plain')

async function configurationOf(bucket: string): Promise<string> {
  return (await raw('GET', `/${bucket}?object-lock`)).text.replace(/^.*\n/, '')
}

function configuration(inner: string): string {
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
  return `<ObjectLockConfiguration ${namespace}><ObjectLockEnabled>Enabled</ObjectLockEnabled>${inner}</ObjectLockConfiguration>`
}

function rule(inner: string): string {
  return `<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`
}

test('specification "Bucket": Object Lock is chosen at creation and brings versioning with it', async (t) => {
  t.equal(await configurationOf('locked'), configuration(''))
  t.match((await raw('GET', '/locked?versioning')).text, '<Status>Enabled</Status>')
  for (const [value, locked] of [
    ['TRUE', true],
    ['True', true],
    ['false', false],
    ['FALSE', false],
  ] as const) {
    const bucket = `chosen-${value.toLowerCase()}-${value.charCodeAt(1)}`
    await createBucket(server, bucket, [['x-amz-bucket-object-lock-enabled', value]])
    const answer = await raw('GET', `/${bucket}?object-lock`)
    if (locked) isDone(t, answer, 200, value)
    else isError(t, answer, 'ObjectLockConfigurationNotFoundError', value)
  }
  for (const value of ['yes', '1', 'true,true']) {
    const answer = await raw('PUT', '/chosen-wrong', { headers: [['x-amz-bucket-object-lock-enabled', value]] })
    isError(t, answer, 'InvalidArgument', value)
  }
  isError(t, await raw('GET', '/chosen-wrong?versioning'), 'NoSuchBucket', 'nothing was created')
  await s3.send(new CreateBucketCommand({ Bucket: 'sdk-lock', ObjectLockEnabledForBucket: true }))
  const got = await s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'sdk-lock' }))
  t.same(got.ObjectLockConfiguration, { ObjectLockEnabled: 'Enabled' })
})

test('W5, s3-wire 5: versioning of a bucket with Object Lock cannot be suspended', async (t) => {
  const VersioningConfiguration = { Status: 'Suspended' } as const
  const call = s3.send(new PutBucketVersioningCommand({ Bucket: 'locked', VersioningConfiguration }))
  t.equal(await errorName(call), 'InvalidBucketState')
  const body = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>'
  const refused = await raw('PUT', '/locked?versioning', { body })
  isError(t, refused, 'InvalidBucketState', 'Suspended')
  t.equal(refused.status, 409)
  await setVersioning(server, 'locked', 'enabled')
  t.match((await raw('GET', '/locked?versioning')).text, '<Status>Enabled</Status>')
})

test('specification "S3 errors": a bucket that never had Object Lock', async (t) => {
  isError(t, await raw('GET', '/plain?object-lock'), 'ObjectLockConfigurationNotFoundError', 'GET')
  const refused = await setDefaultRetention(server, 'plain', '<Mode>GOVERNANCE</Mode><Days>1</Days>')
  isError(t, refused, 'InvalidRequest', 'PUT')
  t.match(firstElement(refused.text, 'Message'), /Object Lock is not enabled on this bucket/)
  isError(t, await setDefaultRetention(server, 'plain', undefined), 'InvalidRequest', 'it cannot be turned on later')
  await setVersioning(server, 'plain', 'enabled')
  isError(t, await setDefaultRetention(server, 'plain', undefined), 'InvalidRequest', 'nor with versioning')
  isError(t, await raw('GET', '/no-such-bucket?object-lock'), 'NoSuchBucket', 'GET')
  isError(t, await setDefaultRetention(server, 'no-such-bucket', undefined), 'NoSuchBucket', 'PUT')
})

test('Object Lock rule 2: a default names a mode and exactly one of Days and Years', async (t) => {
  const accepted = ['<Days>1</Days>', '<Years>1</Years>', '<Days>36500</Days>', '<Years>100</Years>']
  for (const mode of ['GOVERNANCE', 'COMPLIANCE']) {
    for (const period of accepted) {
      const inner = `<Mode>${mode}</Mode>${period}`
      isDone(t, await setDefaultRetention(server, 'locked', inner), 200, inner)
      t.equal(await configurationOf('locked'), configuration(rule(inner)))
    }
  }
  const kept = await configurationOf('locked')
  const refused: [inner: string, code: S3ErrorCode][] = [
    ['<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>1</Days><Days>2</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode>', 'MalformedXML'],
    ['<Days>1</Days>', 'MalformedXML'],
    ['', 'MalformedXML'],
    ['<Mode>governance</Mode><Days>1</Days>', 'MalformedXML'],
    ['<Mode></Mode><Days>1</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days></Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>1.5</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>1e3</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>0</Days>', 'InvalidRetentionPeriod'],
    ['<Mode>GOVERNANCE</Mode><Years>-1</Years>', 'InvalidRetentionPeriod'],
    ['<Mode>GOVERNANCE</Mode><Days>36501</Days>', 'InvalidRetentionPeriod'],
    ['<Mode>GOVERNANCE</Mode><Years>101</Years>', 'InvalidRetentionPeriod'],
    [`<Mode>GOVERNANCE</Mode><Days>${'9'.repeat(400)}</Days>`, 'InvalidRetentionPeriod'],
  ]
  for (const [inner, code] of refused) {
    const answer = await setDefaultRetention(server, 'locked', inner)
    isError(t, answer, code, inner.slice(0, 60))
    t.equal(answer.status, 400)
  }
  const documents = [
    '',
    '<ObjectLockConfiguration/>',
    '<ObjectLockConfiguration><ObjectLockEnabled>enabled</ObjectLockEnabled></ObjectLockConfiguration>',
    '<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>',
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule/></ObjectLockConfiguration>',
    '<LegalHold><Status>ON</Status></LegalHold>',
  ]
  for (const body of documents) isError(t, await raw('PUT', '/locked?object-lock', { body }), 'MalformedXML', body)
  t.equal(await configurationOf('locked'), kept, 'nothing of all this changed anything')
})

test('Object Lock rules 2, 3: the default is copied onto each version when it is written', async (t) => {
  await createLockBucket(server, 'defaults')
  const written: [inner: string | undefined, mode: string | undefined, days: number][] = [
    [undefined, undefined, 0],
    ['<Mode>GOVERNANCE</Mode><Days>1</Days>', 'GOVERNANCE', 1],
    ['<Mode>COMPLIANCE</Mode><Years>1</Years>', 'COMPLIANCE', 365],
    ['<Mode>GOVERNANCE</Mode><Years>100</Years>', 'GOVERNANCE', 36_500],
    [undefined, undefined, 0],
  ]
  const expected: [id: string, lock: object][] = []
  for (const [inner, mode, days] of written) {
    isDone(t, await setDefaultRetention(server, 'defaults', inner), 200, 'set')
    const id = String(await put(server, 'defaults/k', 'bytes'))
    const until = new Date(now.milliseconds + days * DAY).toISOString()
    expected.push([id, mode === undefined ? {} : { mode, until }])
    now.milliseconds += 1000
  }
  for (const [id, lock] of expected) {
    const target = `/defaults/k?versionId=${id}`
    t.same(lockOf(await raw('HEAD', target)), lock, 'neither a later default nor its removal alters a version')
    t.same(lockOf(await raw('GET', target)), lock)
  }
  t.equal(await configurationOf('defaults'), configuration(''))
})

test('the SDK sets a default and reads it back', async (t) => {
  const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 7 } } as const
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const
  await s3.send(new PutObjectLockConfigurationCommand({ Bucket: 'sdk-lock', ObjectLockConfiguration }))
  const got = await s3.send(new GetObjectLockConfigurationCommand({ Bucket: 'sdk-lock' }))
  t.same(got.ObjectLockConfiguration, ObjectLockConfiguration)
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
