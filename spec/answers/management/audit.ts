/**
 * The audit log: queries, pages, the chain, exports, reports; and reports on the storage.
 * Proves: DO-LIS-02, RES-AUD-01, RES-AUD-02, RES-STO-01, RES-INF-01, RES-INF-02, RES-INF-03, RES-REP-05, API-SYS-01,
 * API-AUD-03, API-AUD-04, API-AUD-05, API-AUD-08, AUT-MET-02, AUT-S3P-03, ERR-MGT-03, LIM-VAL-06, LIM-VAL-07.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { makeScene } from './scene.ts'

const QUERIES: readonly string[] = [
  '',
  'limit=5',
  'operation=s3:GET',
  'operation=s3:PUT&limit=2',
  'operation=none',
  'principal=system:root',
  'principal=management:auditor',
  'principal=',
  'result=denied',
  'result=failure',
  'result=attempted',
  'result=success&limit=3',
  'result=none',
  'result=',
  'resource=bucket:api-audit-bucket',
  'resource=bucket:none',
  'resource=/api/v1',
  'source_ip=127.0.0.1&limit=2',
  'source_ip=::1',
  'request_id=of-a-client',
  'request_id=none',
  'since=2000-01-01T00:00:00Z&limit=3',
  'since=2095-01-01T00:00:00Z',
  'until=2000-01-01T00:00:00Z',
  'until=2095-01-01T00:00:00%2B01:00&limit=3',
  'since=yesterday',
  'since=2000-02-30T00:00:00Z',
  'since=2000-01-01',
  'since=',
  'until=x',
  'after_time=2000-01-01T00:00:00Z',
  'after_id=0000000000000002',
  'after_time=2000-01-01T00:00:00Z&after_id=0000000000000002&limit=2',
  'after_time=2095-01-01T00:00:00Z&after_id=0000000000000002',
  'after_time=x&after_id=0000000000000002',
  'after_time=2000-01-01T00:00:00Z&after_id=2',
  'after_time=2000-01-01T00:00:00Z&after_id=9999999999999999',
  'limit=0',
  'limit=1000',
  'limit=1001',
  'limit=x',
  'limit=1&limit=2',
  'unknown=1',
  'operation=s3:GET&result=failure&principal=system:root&resource=bucket:api-audit-bucket',
]

async function queries(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  const { bucket } = talk
  await talk.s3('GET', `/${bucket}/key`)
  await talk.s3('GET', `/${bucket}/none`)
  await talk.s3('GET', `/${bucket}/key`, { as: null })
  await talk.s3('PUT', `/${bucket}/put`, { body: 'b', headers: ['if-none-match: *'] })
  await talk.s3('PUT', `/${bucket}/put`, { body: 'b', headers: ['if-none-match: *'] })
  await talk.s3('PUT', `/${bucket}/copy`, { headers: [`x-amz-copy-source: ${bucket}/key`] })
  await talk.api('GET', '/auth/session', { headers: ['x-request-id: of-a-client'] })
  await talk.api('GET', '/service-accounts', { as: scene.callers.at(-2) ?? null })
  for (const query of QUERIES) {
    await talk.api('GET', `/audit/events?${query.replace('api-audit-bucket', bucket)}`)
  }
  let after = ''
  for (let pages = 0; pages < 8; pages += 1) {
    const page = await talk.api('GET', `/audit/events?limit=7${after}`)
    const time = page.member('next_time')
    if (time.startsWith('no-')) break
    after = `&after_time=${time}&after_id=${page.member('next_id')}`
  }
}

const RANGE = 'from=2000-01-01T00:00:00Z&to=2095-01-01T00:00:00Z'

async function exports(talk: Talk): Promise<void> {
  await makeScene(talk)
  await talk.s3('GET', `/${talk.bucket}/key`)
  for (const query of [
    '',
    RANGE,
    'format=csv',
    'format=json',
    'format=xml',
    'format=',
    'from=x',
    'to=2000-01-01T00:00:00Z',
    'from=2095-01-01T00:00:00Z',
    'unknown=1',
    `${RANGE}&format=csv`,
  ]) {
    const answer = await talk.api('GET', `/audit/export?${query}`)
    const id = answer.header('x-object-store-export-id')
    await talk.api('GET', `/audit/export/manifest?${query}`)
    if (id === '') continue
    await talk.api('GET', `/audit/export/manifest?export_id=${id}`)
    await talk.api('GET', `/audit/export/manifest?export_id=${id}&format=csv`)
    await talk.api('GET', `/audit/export/manifest?export_id=${id}&from=2001-01-01T00:00:00Z`)
  }
  await talk.api('HEAD', '/audit/export')
  for (const id of ['x', '', '0000000000000001-0000000000000000', '9999999999999999-ffffffffffffffff']) {
    await talk.api('GET', `/audit/export/manifest?export_id=${id}`)
  }
}

async function chain(talk: Talk): Promise<void> {
  await makeScene(talk)
  for (const query of [
    'limit=5',
    'from=2&limit=5',
    'from=0&limit=1',
    'from=99999',
    'from=x',
    'from=-1',
    'limit=0',
    'limit=10001',
    'limit=x',
    'unknown=1',
    'from=',
    'from=1.5',
  ]) {
    await talk.api('GET', `/audit/chain?${query}`)
  }
  await talk.api('GET', '/audit/chain', { anyNumbers: true })
}

async function reports(talk: Talk): Promise<void> {
  await talk.api('GET', '/reports/retention')
  await talk.api('GET', '/storage/usage')
  await makeScene(talk)
  await talk.s3('PUT', `/${talk.bucket}-l`, { headers: ['x-amz-bucket-object-lock-enabled: true'] })
  await talk.s3('PUT', `/${talk.bucket}-l/held`, { body: 'b', headers: ['x-amz-object-lock-legal-hold: ON'] })
  const lock = ['x-amz-object-lock-mode: GOVERNANCE', 'x-amz-object-lock-retain-until-date: 2095-01-01T00:00:00Z']
  for (const key of ['one', 'two', 'three'])
    await talk.s3('PUT', `/${talk.bucket}-l/${key}`, { body: 'b', headers: lock })
  await talk.s3('POST', `/${talk.bucket}/upload?uploads`)
  for (const path of [
    '/reports/retention',
    '/reports/retention?limit=2',
    '/storage/usage',
    '/storage/inspect',
    '/buckets',
  ]) {
    await talk.api('GET', path)
  }
  await talk.api('GET', '/storage/status', { anyNumbers: true })
  for (const number of ['', '0', '1', '3', '10000000', '10000001', 'x', '-1']) {
    await talk.api('GET', `/storage/inspect?maximum_entries=${number}`)
  }
  for (const body of [
    '',
    '{}',
    '{"dry_run":true}',
    '{"dry_run":false}',
    '{"dry_run":1}',
    '{"maximum_entries":1}',
    '{"maximum_entries":0}',
    '{"maximum_entries":"1"}',
    '{"maximum_entries":10000001}',
    '{"x":1}',
  ]) {
    await talk.api('POST', '/storage/repair', { body })
  }
  await talk.api('GET', '/system/info')
  await talk.api('GET', '/system/metrics', { anyNumbers: true })
  await talk.api('GET', '/system/metrics/history', { anyNumbers: true })
  await talk.api('GET', '/openapi.json')
}

async function closedMetrics(talk: Talk): Promise<void> {
  await talk.api('GET', '/metrics')
  await talk.api('GET', '/metrics', { as: null })
  await talk.api('GET', '/auth/session', { as: null })
  await talk.s3('GET', '/')
  await talk.s3('PUT', `/${talk.bucket}`)
}

export const AUDIT_BLOCKS: readonly Block[] = [
  { name: 'api-audit', alone: true, steady: true, run: queries },
  { name: 'api-exports', alone: true, steady: true, run: exports },
  { name: 'api-chain', alone: true, steady: true, run: chain },
  { name: 'api-reports', alone: true, run: reports },
  {
    name: 'closed',
    alone: true,
    settings: { OBJECT_STORE_METRICS_SCRAPE_TOKEN: '', OBJECT_STORE_ROOT_S3_ENABLED: 'false' },
    run: closedMetrics,
  },
]
