/** The extension bucket-reads: what S3 answers for a bucket without settings, and requests that ask for what is so. */
import {
  GetBucketAclCommand,
  GetBucketEncryptionCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketRequestPaymentCommand,
  GetObjectAclCommand,
  ListBucketsCommand,
  PutBucketAclCommand,
  PutObjectAclCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startInThread({ extensions: ['bucket-reads'] })
const sealed = await startInThread({ extensions: ['bucket-reads'], encryptionEnabled: true })
tap.teardown(async () => {
  await server.stop()
  await sealed.stop()
})
const { raw, s3 } = server
const Bucket = 'settings'
const Key = 'key'
for (const { raw: at } of [server, sealed]) {
  await at('PUT', `/${Bucket}`)
  await at('PUT', `/${Bucket}/${Key}`, { body: 'bytes' })
}
const ID = (await s3.send(new ListBucketsCommand({}))).Owner?.ID ?? ''

test('the ACL is that of the owner, as the SDK reads it, and what was read can be written', async (t) => {
  const grants = [
    { Grantee: { Type: 'CanonicalUser' as const, ID, DisplayName: 'root' }, Permission: 'FULL_CONTROL' as const },
  ]
  const Owner = { ID, DisplayName: 'root' }
  const read = await s3.send(new GetBucketAclCommand({ Bucket }))
  t.match(read, { Owner, Grants: grants })
  t.match(await s3.send(new GetObjectAclCommand({ Bucket, Key })), { Owner, Grants: grants })
  const same = { Owner: read.Owner, Grants: read.Grants }
  await s3.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: same }))
  await s3.send(new PutObjectAclCommand({ Bucket, Key, AccessControlPolicy: same }))
  await s3.send(new PutObjectAclCommand({ Bucket, Key, GrantFullControl: `id=${ID}` }))
  isError(t, await raw('GET', `/${Bucket}/none?acl`), 'NoSuchKey', 'no object')
  isError(t, await raw('GET', '/none?acl'), 'NoSuchBucket', 'no bucket')
  isError(t, await raw('PUT', `/${Bucket}/none?acl`, { headers: [['x-amz-acl', 'private']] }), 'NoSuchKey', 'no object')
})

function policy(grants: string): string {
  return `<AccessControlPolicy><Owner><ID>${ID}</ID></Owner><AccessControlList>${grants}</AccessControlList></AccessControlPolicy>`
}

function grant(id: string, permission: string): string {
  return `<Grant><Grantee><ID>${id}</ID></Grantee><Permission>${permission}</Permission></Grant>`
}

test('an ACL that gives anything else, to anybody else, is refused by name', async (t) => {
  const everybody =
    '<Grant><Grantee><URI>http://acs.amazonaws.com/groups/global/AllUsers</URI></Grantee><Permission>READ</Permission></Grant>'
  for (const target of [`/${Bucket}?acl`, `/${Bucket}/${Key}?acl`]) {
    const send = (body: string, headers: readonly HeaderLine[] = []) => raw('PUT', target, { body, headers })
    isDone(t, await send(policy(grant(ID, 'FULL_CONTROL'))), 200, 'the owner')
    for (const body of [
      grant('other', 'FULL_CONTROL'),
      grant(ID, 'READ'),
      everybody,
      grant(ID, 'FULL_CONTROL') + everybody,
      '',
    ])
      isError(t, await send(policy(body)), 'NotImplemented', body)
    for (const header of [
      ['x-amz-acl', 'public-read'],
      ['x-amz-grant-full-control', 'id=other'],
      ['x-amz-grant-full-control', `id=${ID}, id=other`],
      ['x-amz-grant-full-control', `id=${' '.repeat(8000)}`],
      ['x-amz-grant-full-control', `id="${ID}`],
      ['x-amz-grant-full-control', 'uri=http://acs.amazonaws.com/groups/global/AllUsers'],
      ['x-amz-grant-read', `id=${ID}`],
    ] as const)
      isError(t, await send('', [header]), 'NotImplemented', header.join())
    for (const owner of [`id=${ID}`, ` id="${ID}" `])
      isDone(t, await send('', [['x-amz-grant-full-control', owner]]), 200, owner)
    isError(t, await send(''), 'InvalidRequest', 'no ACL')
    isError(t, await send('<AccessControlPolicy></AccessControlPolicy>'), 'MalformedXML', 'no list')
    isError(t, await send('{}'), 'MalformedXML', 'no XML')
  }
})

test('settings that say what is so', async (t) => {
  t.match(await s3.send(new GetBucketOwnershipControlsCommand({ Bucket })), {
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
  })
  t.equal((await s3.send(new GetBucketRequestPaymentCommand({ Bucket }))).Payer, 'BucketOwner')
  isError(
    t,
    await raw('GET', `/${Bucket}?encryption`),
    'ServerSideEncryptionConfigurationNotFoundError',
    'a store that does not encrypt',
  )
  const { ServerSideEncryptionConfiguration: rules } = await sealed.s3.send(new GetBucketEncryptionCommand({ Bucket }))
  t.equal(rules?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm, 'AES256')
})

test('AES256 is let pass where the store encrypts, and only there', async (t) => {
  const aes256: HeaderLine = ['x-amz-server-side-encryption', 'AES256']
  const target = `/${Bucket}/encrypted`
  isError(t, await raw('PUT', target, { body: 'x', headers: [aes256] }), 'NotImplemented', 'not encrypted')
  isDone(t, await sealed.raw('PUT', target, { body: 'x', headers: [aes256] }), 200, 'encrypted')
  await sealed.s3.send(
    new PutObjectCommand({
      Bucket,
      Key: 'sdk',
      Body: 'x',
      ServerSideEncryption: 'AES256',
      ACL: 'private',
      StorageClass: 'STANDARD',
    }),
  )
  for (const header of [
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-server-side-encryption-aws-kms-key-id', 'AES256'],
    ['x-amz-server-side-encryption-customer-algorithm', 'AES256'],
    ['x-amz-copy-source-server-side-encryption-customer-algorithm', 'AES256'],
  ] as const)
    isError(t, await sealed.raw('PUT', target, { body: 'x', headers: [header] }), 'NotImplemented', header.join())
})

test('the expected owner is the owner of ListBuckets; any other is denied, and nothing is written', async (t) => {
  const names = ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner']
  for (const name of names) {
    isDone(t, await raw('PUT', `/${Bucket}/owned`, { body: 'x', headers: [[name, ID]] }), 200, name)
    for (const value of ['111122223333', ID.toUpperCase(), `${ID},${ID}`, 'x']) {
      isError(t, await raw('PUT', `/${Bucket}/denied`, { body: 'x', headers: [[name, value]] }), 'AccessDenied', value)
    }
  }
  isError(t, await raw('GET', `/${Bucket}/denied`), 'NoSuchKey', 'nothing was written')
  const strict = await startInThread()
  t.teardown(() => strict.stop())
  isError(
    t,
    await strict.raw('GET', '/', { headers: [['x-amz-expected-bucket-owner', ID]] }),
    'NotImplemented',
    'strict',
  )
})

test('an account reads these settings by their action or by managing the bucket, and no other', async (t) => {
  const managed = await startManaged({ extensions: ['bucket-reads'] })
  t.teardown(() => managed.stop())
  await managed.raw('PUT', `/${Bucket}`)
  const code = async (actions: readonly string[]) => {
    const { signing, s3: client } = await newIdentity(managed, [allow(actions, `bucket:${Bucket}`)])
    client.destroy()
    return (await managed.raw('GET', `/${Bucket}?policy`, signing)).status
  }
  t.equal(await code(['s3:GetBucketPolicy']), 404)
  t.equal(await code(['s3:ManageBucket']), 404)
  t.equal(await code(['s3:GetObject', 's3:ListBucket', 's3:GetBucketAcl']), 403)
})
