/**
 * The profiles of S3: what strict refuses, counted, and that the same requests are served in compatible.
 */
import { createHash } from 'node:crypto'
import { test } from 'tap'
import { S3_PROFILES } from '../../../../cli/config/s3-profiles.ts'
import { EXTENSIONS, type Extension, type Profile } from '../../../../planes/objects/s3-extensions.ts'
import { CHUNK_FORMS } from '../../../support/chunked-requests.ts'
import { putChunked } from '../../../support/chunked-sends.ts'
import { createUpload } from '../../../support/multipart.ts'
import { encodedForm, FORM_HEAD, signedFields } from '../../../support/post-forms.ts'
import { type InThreadServer, startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import type { S3ErrorCode } from '../../../../planes/s3/errors/s3-errors.ts'
import type { WireAnswer } from '../../../support/wire-client.ts'

const OBJECT = '/profiles/key'
const payload = Buffer.alloc(20_000, 'x')

const BATCH = '<Delete><Object><Key>gone</Key></Object></Delete>'

function md5(text: string): string {
  return createHash('md5').update(text).digest('base64')
}

interface Case {
  readonly name: string
  readonly send: (server: InThreadServer) => Promise<WireAnswer>
  /** In compatible: a success, or the code of an error. */
  readonly answer: 200 | 204 | S3ErrorCode
}

const CASES: readonly Case[] = [
  ...CHUNK_FORMS.map((form) => ({
    name: form,
    send: (server: InThreadServer) => putChunked(server, OBJECT, { form, payload }),
    answer: 200 as const,
  })),
  { name: 'V1', send: ({ raw }) => raw('GET', '/profiles'), answer: 200 },
  {
    name: 'batch',
    send: ({ raw }) => raw('POST', '/profiles?delete', { body: BATCH, headers: [['content-md5', md5(BATCH)]] }),
    answer: 200,
  },
  {
    name: 'part copy',
    send: async (server) => {
      const upload = await createUpload(server, '/profiles/parts')
      const target = `/profiles/parts?partNumber=1&uploadId=${upload}`
      return server.raw('PUT', target, { headers: [['x-amz-copy-source', OBJECT]] })
    },
    answer: 200,
  },
  { name: 'tags of an object', send: ({ raw }) => raw('GET', `${OBJECT}?tagging`), answer: 200 },
  {
    name: 'attributes',
    send: ({ raw }) => raw('GET', `${OBJECT}?attributes`, { headers: [['x-amz-object-attributes', 'ETag']] }),
    answer: 200,
  },
  {
    name: 'append',
    send: ({ raw }) => raw('PUT', '/profiles/log', { body: 'line', headers: [['x-amz-write-offset-bytes', '0']] }),
    answer: 200,
  },
  {
    name: 'rename',
    send: ({ raw }) =>
      raw('PUT', '/profiles/renamed?renameObject', { headers: [['x-amz-rename-source', '/profiles/log']] }),
    answer: 200,
  },
  ...['objectstore:9000', 'minio', 'store.proxy.example'].map((host) => ({
    name: `the Host ${host}`,
    send: ({ raw }: InThreadServer) => raw('GET', OBJECT, { sign: { host } }),
    answer: 200 as const,
  })),
  ...['accelerate', 'acl', 'logging', 'notification', 'ownershipControls', 'requestPayment'].map((name) => ({
    name,
    send: ({ raw }: InThreadServer) => raw('GET', `/profiles?${name}`),
    answer: 200 as const,
  })),
  ...Object.entries({
    encryption: 'ServerSideEncryptionConfigurationNotFoundError',
    policy: 'NoSuchBucketPolicy',
    policyStatus: 'NoSuchBucketPolicy',
    publicAccessBlock: 'NoSuchPublicAccessBlockConfiguration',
    replication: 'ReplicationConfigurationNotFoundError',
    tagging: 'NoSuchTagSet',
    website: 'NoSuchWebsiteConfiguration',
    lifecycle: 'NoSuchLifecycleConfiguration',
  } as const).map(([name, answer]) => ({
    name,
    send: ({ raw }: InThreadServer) => raw('GET', `/profiles?${name}`),
    answer,
  })),
  { name: 'the ACL of an object', send: ({ raw }) => raw('GET', `${OBJECT}?acl`), answer: 200 },
  ...['/profiles?acl', `${OBJECT}?acl`].map((target) => ({
    name: `a private ACL for ${target}`,
    send: ({ raw }: InThreadServer) => raw('PUT', target, { headers: [['x-amz-acl', 'private']] }),
    answer: 200 as const,
  })),
  {
    name: 'a condition on another owner',
    send: ({ raw }) => raw('GET', OBJECT, { headers: [['x-amz-expected-bucket-owner', '111122223333']] }),
    answer: 'AccessDenied',
  },
  {
    name: 'tags',
    send: ({ raw }) => raw('PUT', '/profiles/tagged', { headers: [['x-amz-tagging', 'a=b']] }),
    answer: 200,
  },
  ...(
    [
      ['/profiles/tagged?tagging', 200],
      ['/profiles?tagging', 204],
    ] as const
  ).map(([target, answer]) => ({
    name: `tags of ${target}`,
    send: ({ raw }: InThreadServer) => raw('PUT', target, { body: '<Tagging><TagSet/></Tagging>' }),
    answer,
  })),
  ...['/profiles/tagged?tagging', '/profiles?tagging'].map((target) => ({
    name: `tags removed from ${target}`,
    send: ({ raw }: InThreadServer) => raw('DELETE', target),
    answer: 204 as const,
  })),
  {
    name: 'a form of a browser',
    send: ({ raw }) => {
      const body = encodedForm(signedFields({ bucket: 'profiles', fields: [['key', 'form']] }), 'x')
      return raw('POST', '/profiles', { sign: false, headers: FORM_HEAD, body })
    },
    answer: 204,
  },
  // Refused in both.
  {
    name: 'a bucket in Host',
    send: ({ raw }) => raw('GET', OBJECT, { sign: { host: 'photos.localhost' } }),
    answer: 'NotImplemented',
  },
  {
    name: 'a public ACL',
    send: ({ raw }) => raw('PUT', `${OBJECT}?acl`, { headers: [['x-amz-acl', 'public-read']] }),
    answer: 'NotImplemented',
  },
]

/** Refusals in strict. */
const REFUSED = 39

async function startWith(profile: Profile): Promise<InThreadServer> {
  const values = S3_PROFILES[profile]
  return startInThread({
    extensions: values['s3.extensions'] as readonly Extension[],
    unsignedChunksOverHttp: profile === 'strict' ? 'false' : 'private',
    ...(profile === 'strict' ? {} : { hostnames: ['*'] }),
  })
}

test('strict refuses each of these, as not implemented', async (t) => {
  const server = await startWith('strict')
  t.teardown(() => server.stop())
  await server.raw('PUT', '/profiles')
  await server.raw('PUT', OBJECT, { body: payload })
  let refused = 0
  for (const { name, send } of CASES) {
    const answer = await send(server)
    isError(t, answer, 'NotImplemented', name)
    if (answer.status === 501) refused += 1
  }
  t.equal(refused, REFUSED)
})

test('compatible serves them', async (t) => {
  const server = await startWith('compatible')
  t.teardown(() => server.stop())
  await server.raw('PUT', '/profiles')
  await server.raw('PUT', OBJECT, { body: payload })
  for (const { name, send, answer } of CASES) {
    const got = await send(server)
    if (typeof answer === 'number') isDone(t, got, answer, name)
    else isError(t, got, answer, name)
  }
})

test('the list of compatible is fixed, and each extension of this version is in it', (t) => {
  t.strictSame(S3_PROFILES.compatible, {
    's3.extensions': [
      'append',
      'aws-chunked',
      'bucket-policy',
      'bucket-reads',
      'checksums',
      'delete-objects',
      'lifecycle-api',
      'list-objects-v1',
      'listen',
      'post-object',
      'presign-v2',
      'rename-object',
      'tagging',
      'upload-part-copy',
    ],
    's3.unsigned_chunks_over_http': 'private',
    's3.hostnames': ['*'],
  })
  t.strictSame(S3_PROFILES.compatible['s3.extensions'], EXTENSIONS)
  t.strictSame(S3_PROFILES.strict['s3.extensions'], [])
  t.end()
})
