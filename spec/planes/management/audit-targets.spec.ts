/**
 * What records are about: refused requests too, and on both planes the same objects.
 * Proves: RES-AUD-06, RES-AUD-08.
 */
import { createHash } from 'node:crypto'
import tap, { test } from 'tap'
import { bearer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
const stranger = api.as(undefined)
const auditor = api.as(
  bearer((await api.get<{ token: string }>('POST', '/management-tokens', { name: 'a', role: 'auditor' })).token),
)

interface Event {
  readonly event_id: string
  readonly operation: string
  readonly resource: string
  readonly result: string
  readonly request_id: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

async function eventsOf(query: Readonly<Record<string, string>>): Promise<readonly Event[]> {
  await server.journal()
  return (await api.get<{ events: Event[] }>('GET', `/audit/events?${new URLSearchParams(query)}`)).events
}

async function found(query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const events = await eventsOf({ ...query, result: 'success' })
  return events.map(({ operation }) => operation.replace('/api/v1', ''))
}

test('a refused request says what it was about', async (t) => {
  await api.get('POST', '/buckets', { name: 'taken' })
  const key = 'a/b c.txt'
  const path = '/buckets/photos/object/a/b%20c.txt'
  const id = `sa-${'x'.repeat(20)}`
  const long = 'k'.repeat(1500)
  const digest = createHash('sha256').update(long).digest('hex')
  const cases: [status: number, answer: ReturnType<typeof api.call>, metadata: Record<string, unknown>][] = [
    [401, stranger.call('DELETE', path), { bucket: 'photos', key, status: 401 }],
    [401, stranger.call('GET', `${path}?version_id=abc`), { bucket: 'photos', key, version_id: 'abc' }],
    [403, auditor.call('DELETE', path), { bucket: 'photos', key, status: 403 }],
    [403, auditor.call('PUT', `/service-accounts/${id}/status`, { enabled: false }), { id, status: 403 }],
    [404, api.call('GET', '/buckets/photos/object-shares/k'), { bucket: 'photos', key: 'k', status: 404 }],
    [400, api.call('GET', `${path}?unknown=1&version_id=a%20b`), { bucket: 'photos', key, version_id: 'a b' }],
    [400, api.call('DELETE', '/buckets/photos/object/%ff%zz'), { bucket: 'photos', key: '%ff%zz', status: 400 }],
    [
      401,
      stranger.call('DELETE', `/buckets/photos/object/${long}`),
      { bucket: 'photos', key: `${'k'.repeat(256)}... sha256:${digest}` },
    ],
    [409, api.call('POST', '/buckets', { name: 'taken' }), { bucket: 'taken', status: 409 }],
    [
      404,
      api.call('POST', '/buckets/taken/object-copy/to', { source_bucket: 'taken', source_key: 'from' }),
      { bucket: 'taken', key: 'to', source: 'taken/from' },
    ],
    [404, api.call('GET', '/reports/retention?bucket=nobody'), { bucket: 'nobody', status: 404 }],
  ]
  for (const [status, asked, metadata] of cases) {
    const answer = await asked
    t.equal(answer.status, status, JSON.stringify(metadata))
    const [event, ...others] = (await eventsOf({ request_id: answer.requestId })).filter(
      ({ result }) => result !== 'attempted',
    )
    t.same(others, [])
    t.match(event, { metadata })
  }
})

test('a bucket and a key are found on both planes', async (t) => {
  await api.get('POST', '/buckets', { name: 'evidence' })
  await server.raw('PUT', '/evidence/docs/one.txt', { body: 'one' })
  await server.raw('PUT', '/evidence/docs/one.txt.bak', { body: 'two' })
  await server.raw('PUT', '/taken/docs/one.txt', { body: 'elsewhere' })
  await api.get('DELETE', '/buckets/evidence/object/docs/one.txt')
  await api.get('POST', '/buckets/taken/object-copy/copied', {
    source_bucket: 'evidence',
    source_key: 'docs/one.txt.bak',
  })
  await server.raw('PUT', '/taken/again', { headers: [['x-amz-copy-source', '/evidence/docs/one.txt.bak']] })
  const removal = 'DELETE /buckets/{bucket}/object/{key}'
  const copy = 'POST /buckets/{bucket}/object-copy/{key}'
  const all = ['POST /buckets', 's3:PUT', 's3:PUT', removal, copy, 's3:PUT']
  t.same(await found({ bucket: 'evidence' }), all)
  t.same(await found({ bucket: 'evidence', key: 'docs/one.txt' }), ['s3:PUT', removal])
  t.same(await found({ bucket: 'evidence', key_prefix: 'docs/one.txt' }), all.slice(1))
  t.same(await found({ key: 'docs/one.txt' }), ['s3:PUT', 's3:PUT', removal])
  t.same(await found({ bucket: 'evidence', key_prefix: 'x' }), [])
  t.same(await found({ bucket: 'evidenc' }), [], 'a bucket is named as a whole')
  t.same(await found({ bucket: 'evidence', key: 'again' }), [], 'bucket and key are those of one object')
})

test('the record of a read names the version that was asked for', async (t) => {
  await api.get('POST', '/buckets', { name: 'versioned', object_lock: true })
  const version = (await server.raw('PUT', '/versioned/k', { body: 'one' })).headers['x-amz-version-id'] as string
  const before = (await eventsOf({ bucket: 'versioned' })).length
  await server.raw('GET', `/versioned/k?versionId=${version}`)
  await server.raw('GET', '/versioned/k')
  await server.raw('HEAD', '/versioned/k?versionId=strange')
  await api.call('GET', `/buckets/versioned/object/k?version_id=${version}`)
  await server.raw('DELETE', `/versioned/k?versionId=${version}`)
  const events = (await eventsOf({ bucket: 'versioned' })).slice(before)
  t.same(
    events.map(({ operation, result, metadata }) => [operation, result, metadata['version_id']]),
    [
      ['s3:GET', 'success', version],
      ['s3:GET', 'success', undefined],
      ['s3:HEAD', 'failure', 'strange'],
      ['GET /api/v1/buckets/{bucket}/object/{key}', 'success', version],
      ['s3:DELETE', 'attempted', version],
      ['s3:DELETE', 'success', version],
    ],
  )
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
