/** S9: who may not ask learns nothing of what is there, whatever else the request says. */
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { allow, newIdentity } from '../../support/identities.ts'
import { startManaged } from '../../support/management-server.ts'
import type { RawRequest, WireAnswer } from '../../support/wire-client.ts'
import { createLockBucket, DAY, later, lockLines, setDefaultRetention } from '../../support/wire-locks.ts'
import { createBucket, put, remove } from '../../support/wire-versions.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { raw } = server
await createBucket(server, 'plain-bucket')
await createLockBucket(server, 'locks-bucket')
await setDefaultRetention(server, 'locks-bucket', '<Mode>GOVERNANCE</Mode><Days>1</Days>')

/** Keys of one length that differ in what is behind them; the last has nothing. */
const KEYS = ['small', 'large', 'empty', 'gone1', 'parts', 'absen'] as const
for (const bucket of ['plain-bucket', 'locks-bucket']) {
  await put(server, `${bucket}/small`, 'x')
  await put(server, `${bucket}/large`, Buffer.alloc(100_000, 'x'))
  await put(server, `${bucket}/empty`, '')
  await put(server, `${bucket}/gone1`, 'x')
  await remove(server, `${bucket}/gone1`)
  await raw('POST', `/${bucket}/parts?uploads`)
}
const BUCKETS = ['plain-bucket', 'locks-bucket', 'no-such-buck'] as const
const nobody = await newIdentity(server)
const elsewhere = await newIdentity(server, [allow(['s3:*'], 'bucket:elsewhere', 'bucket:elsewhere/*')])
const id = await put(server, 'locks-bucket/small', 'y')

/** What of an answer may differ between two requests for different names. */
function shape(answer: WireAnswer, names: readonly string[]): string {
  const { date: _date, 'x-amz-request-id': requestId, ...headers } = answer.headers
  const known = [String(requestId), ...names]
  const text = known.reduce((rest, name) => rest.replaceAll(name, '#'), answer.text)
  return JSON.stringify([answer.status, headers, text])
}

const ETAG = '"9dd4e461268c8034f5c8564e155c67a6"'
const PAST = 'Thu, 01 Jan 2015 00:00:00 GMT'
const RETAIN = lockLines({ mode: 'GOVERNANCE', until: later(DAY) })

/** Requests for a key: method, query, headers, body. */
const OF_KEYS: readonly (readonly [method: string, query: string, headers: readonly HeaderLine[], body?: string])[] = [
  ['GET', '', []],
  ['GET', '', [['range', 'bytes=0-0']]],
  ['GET', '', [['range', 'bytes=999999-']]],
  ['GET', '', [['if-match', ETAG]]],
  ['GET', '', [['if-match', '*']]],
  ['GET', '', [['if-none-match', '*']]],
  ['GET', '', [['if-modified-since', PAST]]],
  ['GET', '', [['if-unmodified-since', PAST]]],
  ['GET', '?versionId=null', []],
  ['GET', `?versionId=${id}`, []],
  ['GET', '?versionId=never-given-out', []],
  ['GET', '?partNumber=1', []],
  ['GET', '?response-content-type=text/html', []],
  ['GET', '?retention', []],
  ['GET', '?legal-hold', []],
  ['GET', '?uploadId=none', []],
  ['HEAD', '', []],
  ['HEAD', '', [['if-none-match', ETAG]]],
  ['HEAD', '?versionId=null', []],
  ['PUT', '', [], 'x'],
  ['PUT', '', [['if-none-match', '*']], 'x'],
  ['PUT', '', [['if-match', ETAG]], 'x'],
  ['PUT', '', RETAIN, 'x'],
  ['PUT', '', [['x-amz-copy-source', 'plain-bucket/small']]],
  ['PUT', '', [['x-amz-copy-source', 'plain-bucket/absen']]],
  ['PUT', '?retention', [], '<Retention/>'],
  ['PUT', '?legal-hold', [], '<LegalHold><Status>ON</Status></LegalHold>'],
  ['PUT', '?partNumber=1&uploadId=none', [], 'x'],
  ['POST', '?uploads', []],
  ['POST', '?uploadId=none', [], '<CompleteMultipartUpload/>'],
  ['DELETE', '', []],
  ['DELETE', '?versionId=null', []],
  ['DELETE', `?versionId=${id}`, [['x-amz-bypass-governance-retention', 'true']]],
  ['DELETE', '?uploadId=none', []],
]

const OF_BUCKETS: readonly (readonly [method: string, query: string, body?: string])[] = [
  ['GET', '?list-type=2'],
  ['GET', '?list-type=2&prefix=small'],
  ['GET', '?versions'],
  ['GET', '?uploads'],
  ['GET', '?location'],
  ['GET', '?versioning'],
  ['GET', '?cors'],
  ['GET', '?object-lock'],
  ['HEAD', ''],
  ['PUT', ''],
  ['PUT', '?versioning', '<VersioningConfiguration/>'],
  ['PUT', '?cors', '<CORSConfiguration/>'],
  ['PUT', '?object-lock', '<ObjectLockConfiguration/>'],
  ['DELETE', ''],
  ['DELETE', '?cors'],
]

function shapeOf(answer: WireAnswer, bucket: string, key: string): string {
  return shape(answer, [`/${bucket}/${key}`, `/${bucket}`, bucket, key])
}

for (const [name, { signing }] of [
  ['an account without a policy', nobody],
  ['an account with a policy for another bucket', elsewhere],
] as const) {
  test(`${name}: keys`, async (t) => {
    for (const [method, query, headers, body] of OF_KEYS) {
      const shapes = new Map<string, string>()
      for (const bucket of BUCKETS) {
        for (const key of KEYS) {
          const request: RawRequest = { ...signing, headers, ...(body === undefined ? {} : { body }) }
          const answer = await raw(method, `/${bucket}/${key}${query}`, request)
          if (answer.status !== 403) t.fail(`${method} ${query} of ${bucket}/${key}: ${answer.status}`)
          shapes.set(shapeOf(answer, bucket, key), `${bucket}/${key}`)
        }
      }
      t.equal(shapes.size, 1, `${method} ${query} ${JSON.stringify(headers)}: ${[...shapes.keys()].join('\n')}`)
    }
  })

  test(`${name}: buckets`, async (t) => {
    for (const [method, query, body] of OF_BUCKETS) {
      const shapes = new Set<string>()
      for (const bucket of BUCKETS) {
        const answer = await raw(method, `/${bucket}${query}`, { ...signing, ...(body === undefined ? {} : { body }) })
        if (answer.status !== 403) t.fail(`${method} ${query} of ${bucket}: ${answer.status}`)
        shapes.add(shapeOf(answer, bucket, '-'))
      }
      t.equal(shapes.size, 1, `${method} ${query}: ${[...shapes].join('\n')}`)
    }
  })
}

test('all is as it was, and nothing was a fault of the server', async (t) => {
  for (const bucket of ['plain-bucket', 'locks-bucket']) {
    for (const [key, status] of [
      ['small', 200],
      ['large', 200],
      ['empty', 200],
      ['gone1', 404],
      ['absen', 404],
    ] as const) {
      t.equal((await raw('HEAD', `/${bucket}/${key}`)).status, status, `${bucket}/${key}`)
    }
  }
  t.same(server.failures, [])
})
