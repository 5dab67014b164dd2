import * as fc from 'fast-check'
import { test } from 'tap'
import {
  decodeContinuationToken,
  encodeContinuationToken,
  type ListPosition,
  SERVICE_SCOPE,
} from '../../../planes/s3/continuation-token.ts'
import {
  type ListBucketsParameters,
  listBucketsParameters,
  type ListObjectsV2Parameters,
  listObjectsV2Parameters,
} from '../../../planes/s3/list-parameters.ts'
import { parseQuery } from '../../../planes/s3/query-parameters.ts'
import { detail, refusal, refusalCode } from './wire-request.ts'

function list(raw: string): ListObjectsV2Parameters {
  return listObjectsV2Parameters(parseQuery(raw))
}

function buckets(raw: string): ListBucketsParameters {
  return listBucketsParameters(parseQuery(raw))
}

test('list parameters', async (t) => {
  t.same(list('list-type=2'), {
    prefix: '',
    delimiter: undefined,
    maxKeys: 1000,
    continuationToken: undefined,
    startAfter: undefined,
    fetchOwner: false,
    encodingType: undefined,
  })
  t.match(
    list('prefix=p%2F&delimiter=ab&max-keys=7&continuation-token=t&start-after=s&fetch-owner=TRUE&encoding-type=url'),
    {
      prefix: 'p/',
      delimiter: 'ab',
      maxKeys: 7,
      continuationToken: 't',
      startAfter: 's',
      fetchOwner: true,
      encodingType: 'url',
    },
  )
  t.match(list('delimiter=&max-keys=&start-after=&continuation-token='), { maxKeys: 1000, continuationToken: '' })
  t.equal(list('delimiter=').delimiter, undefined)
  for (const [text, size] of [
    ['0', 0],
    ['1000', 1000],
    ['1001', 1000],
    ['9'.repeat(400), 1000],
  ] as const) {
    t.equal(list(`max-keys=${text}`).maxKeys, size)
  }
  for (const text of ['-1', 'x', '1.5', '1e3', '+5', '%205', '0x1']) {
    const error = refusal(() => list(`max-keys=${text}`))
    t.equal(error.code, 'InvalidArgument', text)
    t.equal(detail(error, 'ArgumentName'), 'max-keys')
  }
  for (const text of ['', 'URL', 'base64'])
    t.equal(
      refusalCode(() => list(`encoding-type=${text}`)),
      'InvalidArgument',
    )
  t.same(buckets(''), { prefix: '', maxBuckets: 10_000, continuationToken: undefined })
  t.match(buckets('prefix=p&max-buckets=2&continuation-token=t'), {
    prefix: 'p',
    maxBuckets: 2,
    continuationToken: 't',
  })
  t.equal(
    refusalCode(() => buckets('max-buckets=0')),
    'InvalidArgument',
  )
})

test('continuation tokens', async (t) => {
  const key = Buffer.alloc(32, 7)
  const position: ListPosition = { kind: 'after-key', bytes: Buffer.from('a/ü\u0000') }
  const token = encodeContinuationToken(key, 12, position)
  t.match(token, /^[A-Za-z0-9_-]+$/)
  t.same(decodeContinuationToken(key, 12, token), position)
  const prefix: ListPosition = { kind: 'after-prefix', bytes: Buffer.from('a/') }
  t.same(decodeContinuationToken(key, SERVICE_SCOPE, encodeContinuationToken(key, SERVICE_SCOPE, prefix)), prefix)
  const longest: ListPosition = { kind: 'after-key', bytes: Buffer.alloc(1024, 0xff) }
  t.same(decodeContinuationToken(key, 1, encodeContinuationToken(key, 1, longest)), longest)

  const refused = (bucketId: number, text: string, by = key) =>
    refusalCode(() => decodeContinuationToken(by, bucketId, text))
  t.equal(refused(12, token), undefined)
  t.equal(refused(1, token), 'InvalidArgument', 'another bucket')
  t.equal(refused(12, token, Buffer.alloc(32, 8)), 'InvalidArgument', 'another deployment')
  const bytes = Buffer.from(token, 'base64url')
  for (let index = 0; index < bytes.length; index += 1) {
    const bent = Buffer.from(bytes)
    bent[index] = (bent[index] ?? 0) ^ 1
    t.equal(refused(12, bent.toString('base64url')), 'InvalidArgument', `byte ${index}`)
  }
  const others = [
    '',
    'x',
    'a/b',
    `${token}=`,
    `${token}A`,
    ` ${token}`,
    token.slice(0, -1),
    bytes.toString('hex'),
    'A'.repeat(5000),
  ]
  for (const text of others) t.equal(refused(12, text), 'InvalidArgument', text.slice(0, 40))
  fc.assert(fc.property(fc.string(), (text) => refused(12, text) === 'InvalidArgument'))
})
