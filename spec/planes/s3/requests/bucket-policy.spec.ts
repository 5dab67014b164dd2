/** The extension bucket-policy: documents that are kept, and what they allow and deny accounts. */
import { rmSync } from 'node:fs'
import {
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  ListBucketsCommand,
  PutBucketPolicyCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { policyOf, putPolicy, statement } from '../../../support/bucket-policies.ts'
import { allow, deny, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { rebuiltTables } from '../../../support/rebuilt-tables.ts'
import { startInThread, temporaryDirectory } from '../../../support/test-server.ts'
import { dumpStore } from '../../../support/test-store.ts'
import { errorName, isDone, isError } from '../../../support/wire-assertions.ts'
import { firstElement, type RawRequest } from '../../../support/wire-client.ts'
import { createBucket, put } from '../../../support/wire-versions.ts'

const dataDirectory = temporaryDirectory()
const extensions = ['bucket-policy', 'tagging', 'delete-objects'] as const
const server = await startManaged({ extensions, dataDirectory })
let isStopped = false
tap.teardown(async () => {
  if (!isStopped) await server.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})
const { raw, s3, api } = server
const Bucket = 'shared'
await createBucket(server, Bucket)
await createBucket(server, 'other')
await put(server, `${Bucket}/key`, 'bytes')
await put(server, `${Bucket}/pre/key`, 'below')
await put(server, 'other/key', 'elsewhere')
const alice = await newIdentity(server)
const bob = await newIdentity(server, [allow(['s3:*'], 'bucket:*')])
const NAME = alice.account.name

async function status(method: string, target: string, signing: Pick<RawRequest, 'sign'>, body?: string) {
  return (await raw(method, target, { ...signing, ...(body !== undefined && { body }) })).status
}

async function withPolicy(document: string, during: () => Promise<unknown>): Promise<void> {
  const answer = await putPolicy(server, Bucket, document)
  if (answer.status !== 204) throw new Error(answer.text)
  await during()
  await raw('DELETE', `/${Bucket}?policy`)
}

test('a policy is given back as it was put, replaced, and removed', async (t) => {
  isError(t, await raw('GET', `/${Bucket}?policy`), 'NoSuchBucketPolicy', 'none')
  isError(t, await raw('GET', `/${Bucket}?policyStatus`), 'NoSuchBucketPolicy', 'none')
  const Policy = `{ "Version":"2012-10-17",\n "Statement": [${JSON.stringify(statement('Allow', { AWS: NAME }, 's3:GetObject', `${Bucket}/ü*`))} ] }`
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  t.equal((await s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy, Policy)
  const read = await raw('GET', `/${Bucket}?policy`)
  t.match(read, { status: 200, headers: { 'content-type': 'application/json' }, text: Policy })
  t.equal((await s3.send(new GetBucketPolicyStatusCommand({ Bucket }))).PolicyStatus?.IsPublic, false)
  const [attempt, outcome] = (await server.journal())
    .filter(({ details }) => details.get('api') === 'PutBucketPolicy')
    .slice(-2)
  t.match(attempt, { result: 'attempted' })
  t.match(outcome, { result: 'success' })
  t.match(Object.fromEntries(outcome?.details ?? []), { bucket_policy: Policy, bucket_policy_before: 'none' })
  const next = policyOf(statement('Deny', '*', 's3:GetObject', `${Bucket}/none`))
  isDone(t, await putPolicy(server, Bucket, next), 204, 'replaced')
  t.equal((await s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy, next)
  await s3.send(new DeleteBucketPolicyCommand({ Bucket }))
  t.equal(await errorName(s3.send(new GetBucketPolicyCommand({ Bucket }))), 'NoSuchBucketPolicy')
  isDone(t, await raw('DELETE', `/${Bucket}?policy`), 204, 'again')
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    isError(t, await raw(method, '/none?policy', method === 'PUT' ? { body: next } : {}), 'NoSuchBucket', method)
  }
})

test('an allow gives an account the right on this bucket alone, from its next request to its last', async (t) => {
  t.equal(await status('GET', `/${Bucket}/key`, alice.signing), 403)
  const arn = `arn:aws:iam::123456789012:user/${NAME}`
  for (const principal of [NAME, alice.account.id, arn, [arn]]) {
    const document = policyOf(
      statement('Allow', { AWS: principal }, ['s3:GetObject', 's3:PutObject'], `${Bucket}/*`),
      statement('Allow', { AWS: principal }, ['s3:ListBucket', 's3:ListAllMyBuckets'], Bucket),
    )
    await withPolicy(document, async () => {
      t.equal(await status('GET', `/${Bucket}/key`, alice.signing), 200)
      t.equal(await status('PUT', `/${Bucket}/new`, alice.signing, 'x'), 200)
      t.equal(await status('GET', `/${Bucket}?list-type=2`, alice.signing), 200)
      t.equal(await status('DELETE', `/${Bucket}/key`, alice.signing), 403, 'not allowed')
      t.equal(await status('GET', '/other/key', alice.signing), 403, 'another bucket')
      t.equal(await status('PUT', `/${Bucket}?policy`, alice.signing, document), 403, 'the policy itself')
      t.same(
        (await alice.s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name),
        [Bucket],
      )
      const copy = { ...alice.signing, headers: [['x-amz-copy-source', 'other/key'] as const] }
      t.equal(
        (await raw('PUT', `/${Bucket}/copy`, copy)).status,
        403,
        'the source of a copy is judged by its own bucket',
      )
    })
    t.equal(await status('GET', `/${Bucket}/key`, alice.signing), 403, 'removed')
  }
})

test('a denial wins over what an account may do, and not over root', async (t) => {
  const document = policyOf(
    statement('Deny', { AWS: bob.account.id }, 's3:DeleteObject', `${Bucket}/*`),
    statement('Deny', '*', 's3:*', `${Bucket}/pre/*`),
    statement('Allow', { AWS: bob.account.id }, 's3:DeleteObject', `${Bucket}/*`),
  )
  await withPolicy(document, async () => {
    t.equal(await status('GET', `/${Bucket}/key`, bob.signing), 200)
    t.equal(await status('DELETE', `/${Bucket}/key`, bob.signing), 403)
    t.equal(await status('GET', `/${Bucket}/pre/key`, bob.signing), 403)
    const batch = '<Delete><Object><Key>key</Key></Object></Delete>'
    const md5 = [
      'content-md5',
      Buffer.from((await import('node:crypto')).hash('md5', batch, 'buffer')).toString('base64'),
    ] as const
    const deleted = await raw('POST', `/${Bucket}?delete`, { ...bob.signing, body: batch, headers: [md5] })
    t.equal(firstElement(deleted.text, 'Code'), 'AccessDenied', 'a key of a batch')
    const source = { ...bob.signing, headers: [['x-amz-copy-source', `${Bucket}/pre/key`] as const] }
    t.equal((await raw('PUT', '/other/copy', source)).status, 403, 'the source of a copy')
    t.equal(await status('GET', `/${Bucket}/pre/key`, {}), 200, 'root')
  })
  await withPolicy(policyOf(statement('Deny', '*', '*', Bucket, `${Bucket}/*`)), async () => {
    t.equal(await status('DELETE', `/${Bucket}?policy`, bob.signing), 403, 'an account that locked itself out')
    t.equal(await status('GET', `/${Bucket}?policy`, {}), 200, 'root')
  })
  t.equal(await status('GET', `/${Bucket}/key`, bob.signing), 200)
})

test('an identity that is denied stays denied, whatever the bucket allows', async (t) => {
  const denied = await newIdentity(server, [deny(['s3:GetObject'], `bucket:${Bucket}/*`)])
  await withPolicy(
    policyOf(statement('Allow', { AWS: denied.account.id }, 's3:*', Bucket, `${Bucket}/*`)),
    async () => {
      t.equal(await status('GET', `/${Bucket}/key`, denied.signing), 403)
      t.equal(await status('PUT', `/${Bucket}/denied`, denied.signing, 'x'), 200)
    },
  )
  denied.s3.destroy()
})

test('an account of the same name as a deleted one is another account', async (t) => {
  const gone = await newIdentity(server)
  const { name, id } = gone.account
  const document = policyOf(statement('Allow', { AWS: name }, 's3:GetObject', `${Bucket}/*`))
  isDone(t, await putPolicy(server, Bucket, document), 204, 'by its name')
  t.equal(await status('GET', `/${Bucket}/key`, gone.signing), 200)
  await api.get('DELETE', `/service-accounts/${id}`)
  const again = await api.get<{ credential: { access_key: string; secret_key: string } }>('POST', '/service-accounts', {
    name,
  })
  const sign = { accessKey: again.credential.access_key, secretKey: again.credential.secret_key }
  t.equal(await status('GET', `/${Bucket}/key`, { sign }), 403)
  t.equal((await raw('GET', `/${Bucket}?policy`)).text, document)
  isDone(t, await putPolicy(server, Bucket, document), 204, 'put again, it is of the account of now')
  t.equal(await status('GET', `/${Bucket}/key`, { sign }), 200)
  await raw('DELETE', `/${Bucket}?policy`)
})

test('what cannot be translated, is too long, or opens the bucket to everyone is refused and changes nothing', async (t) => {
  const whole = `${Bucket}/*`
  for (const [body, message] of [
    ['', /not JSON/],
    ['{', /not JSON/],
    ['{"Statement":{"Effect":"Deny","Effect":"Allow"}}', /a member occurs twice/],
    [
      policyOf(statement('Allow', { AWS: NAME }, 's3:GetObject', 'other/*')),
      /Statement\[0\]\.Resource\[0\]: .* is not in this bucket/,
    ],
    [
      policyOf(statement('Allow', { AWS: 'nobody-of-here' }, 's3:GetObject', whole)),
      /Statement\[0\]\.Principal\.AWS: /,
    ],
    [
      policyOf({ ...statement('Deny', '*', 's3:*', whole), Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      /Statement\[0\]\.Condition\.Bool: /,
    ],
    [
      policyOf({ ...statement('Allow', { AWS: NAME }, 's3:GetObject', whole), NotAction: 's3:*' }),
      /Statement\[0\]\.NotAction: /,
    ],
  ] as const) {
    const answer = await putPolicy(server, Bucket, body)
    isError(t, answer, 'MalformedPolicy', body)
    t.match(firstElement(answer.text, 'Message'), message)
  }
  for (const opened of [
    statement('Allow', '*', 's3:GetObject', whole),
    statement('Allow', { AWS: '*' }, 's3:GetObject', whole),
    statement('Allow', { AWS: [NAME, '*'] }, ['s3:GetObject', 's3:ListBucket'], Bucket, whole),
  ]) {
    const answer = await putPolicy(server, Bucket, policyOf(opened))
    isError(t, answer, 'AccessDenied', JSON.stringify(opened))
    t.match(firstElement(answer.text, 'Message'), /Statement\[0\] .*s3\.public_read_prefixes/)
  }
  const long = (bytes: number) => {
    const document = policyOf(statement('Deny', '*', 's3:GetObject', `${Bucket}/none`))
    return document + ' '.repeat(bytes - document.length)
  }
  isDone(t, await putPolicy(server, Bucket, long(20 * 1024)), 204, 'as long as it may be')
  isError(t, await putPolicy(server, Bucket, long(20 * 1024 + 1)), 'MaxMessageLengthExceeded', 'longer')
  t.equal((await raw('GET', `/${Bucket}?policy`)).text, long(20 * 1024))
  isDone(t, await raw('DELETE', `/${Bucket}?policy`), 204, 'removed')
  t.same(server.failures, [])
})

test('strict refuses each operation by name, and says so in its record', async (t) => {
  const strict = await startInThread()
  t.teardown(() => strict.stop())
  await createBucket(strict, Bucket)
  for (const [method, subresource, name] of [
    ['GET', 'policy', 'GetBucketPolicy'],
    ['PUT', 'policy', 'PutBucketPolicy'],
    ['DELETE', 'policy', 'DeleteBucketPolicy'],
    ['GET', 'policyStatus', 'GetBucketPolicyStatus'],
  ] as const) {
    const answer = await strict.raw(method, `/${Bucket}?${subresource}`, method === 'PUT' ? { body: '{}' } : {})
    isError(t, answer, 'NotImplemented', name)
    t.match(firstElement(answer.text, 'Message'), new RegExp(`^${name} .*bucket-policy in s3\\.extensions`))
    const last = (await strict.journal()).at(-1)
    t.match(Object.fromEntries(last?.details ?? []), { api: name, refused: `?${subresource}` })
  }
})

test('a policy outlives a restart and a replay, not its bucket; with the extension off it denies and does not allow', async (t) => {
  await createBucket(server, 'brief')
  isDone(t, await putPolicy(server, 'brief', policyOf(statement('Deny', '*', 's3:*', 'brief'))), 204, 'a policy')
  isDone(t, await raw('DELETE', '/brief'), 204, 'the bucket')
  await createBucket(server, 'brief')
  isError(t, await raw('GET', '/brief?policy'), 'NoSuchBucketPolicy', 'another bucket of the same name')
  t.equal(await status('GET', '/brief?list-type=2', bob.signing), 200, 'another bucket of the same name')
  const document = policyOf(
    statement('Allow', { AWS: NAME }, 's3:GetObject', `${Bucket}/*`),
    statement('Deny', { AWS: [bob.account.name, NAME] }, 's3:PutObject', `${Bucket}/*`),
  )
  isDone(t, await putPolicy(server, Bucket, document), 204, 'kept')
  isStopped = true
  await server.stop()
  t.same(await dumpStore(server.paths), await rebuiltTables(server.paths))
  rmSync(server.paths.projections, { recursive: true })
  const again = await startInThread({ extensions, dataDirectory })
  t.equal((await again.raw('GET', `/${Bucket}?policy`)).text, document)
  t.equal((await again.raw('GET', `/${Bucket}/key`, alice.signing)).status, 200)
  t.equal((await again.raw('PUT', `/${Bucket}/key`, { ...bob.signing, body: 'x' })).status, 403)
  await again.stop()
  const off = await startInThread({ extensions: ['bucket-reads'], dataDirectory })
  t.teardown(() => off.stop())
  t.equal((await off.raw('GET', `/${Bucket}?policy`)).text, document, 'read by bucket-reads')
  t.equal((await off.raw('GET', `/${Bucket}/key`, alice.signing)).status, 403, 'an allow')
  t.equal((await off.raw('PUT', `/${Bucket}/key`, { ...bob.signing, body: 'x' })).status, 403, 'a denial')
  for (const { s3: client } of [alice, bob]) client.destroy()
})
