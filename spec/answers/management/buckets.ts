/**
 * Buckets and objects on the management plane.
 * Proves: DO-CAP-16, RES-BUC-01, RES-BUC-02, RES-BUC-04, RES-OBJ-01, RES-QUO-01, RES-QUO-02, STA-VRS-01, STA-VRS-04,
 * STA-VRS-06, STA-OBJ-04, API-BUC-01, API-BUC-02, API-BUC-03, API-BUC-04, API-BUC-05, API-OBJ-01, API-OBJ-02,
 * API-OBJ-04, API-OBJ-05, API-OBJ-06, API-OBJ-07, API-OBJ-08, API-OBJ-09, API-OBJ-10, API-OBJ-11.
 */
import type { Block } from '../block.ts'
import { makeBucket, setVersioning } from '../s3/helpers.ts'
import type { Talk } from '../talk.ts'
import { spoiledObjects } from './variations.ts'

const NUMBERS: readonly string[] = [
  '',
  '0',
  '1',
  '2',
  '1000',
  '1001',
  '-1',
  '1.5',
  'x',
  '01',
  '%20',
  '99999999999999999',
  '1&limit=2',
]

async function buckets(talk: Talk): Promise<void> {
  const { bucket } = talk
  await talk.api('GET', '/buckets')
  for (const body of spoiledObjects({ name: `${bucket}-s`, object_lock: true })) {
    await talk.api('POST', '/buckets', { body: JSON.stringify(body) })
  }
  const names = [
    'ab',
    'Upper',
    'a_b',
    'a..b',
    '1.2.3.4',
    'xn--a',
    'a'.repeat(63),
    'a'.repeat(64),
    'a/b',
    'a b',
    '-a-',
    'ü',
  ]
  for (const name of names) await talk.api('POST', '/buckets', { body: JSON.stringify({ name }) })
  await talk.api('POST', '/buckets', { body: JSON.stringify({ name: bucket }) })
  await talk.api('POST', '/buckets', { body: JSON.stringify({ name: bucket }) })
  const path = `/buckets/${bucket}`
  for (const body of spoiledObjects({ status: 'Enabled' })) {
    await talk.api('PUT', `${path}/versioning`, { body: JSON.stringify(body) })
  }
  for (const status of ['enabled', 'SUSPENDED', 'Suspended', 'Off', 'Enabled']) {
    await talk.api('PUT', `${path}/versioning`, { body: JSON.stringify({ status }) })
    await talk.api('GET', `${path}/versioning`)
  }
  await talk.api('PUT', `/buckets/${bucket}-s/versioning`, { body: '{"status":"Suspended"}' })
  await talk.api('PUT', `${path}/object/key`, { body: 'b' })
  await talk.api('DELETE', path)
  for (const each of ['/buckets', path, `/buckets/${bucket}-s`]) await talk.api('GET', each)
  await talk.api('DELETE', `/buckets/${bucket}-s`)
  await talk.api('DELETE', `/buckets/${bucket}-s`)
  for (const name of ['%00', '%FF', 'a%2Fb', 'Upper', 'none-there']) {
    for (const method of ['GET', 'DELETE']) await talk.api(method, `/buckets/${name}`)
    await talk.api('PUT', `/buckets/${name}/versioning`, { body: '{"status":"Enabled"}' })
  }
}

async function quotas(talk: Talk): Promise<void> {
  const { bucket } = talk
  const path = `/buckets/${bucket}`
  await makeBucket(talk)
  await talk.api('GET', `${path}/quota`)
  const limit = { bytes: { mode: 'limit', bytes: 100 }, objects: { mode: 'limit', objects: 3 } }
  const set = (body: unknown) => talk.api('PUT', `${path}/quota`, { body: JSON.stringify(body) })
  for (const body of spoiledObjects({ quota: limit })) await set(body)
  await set({ quota: { ...limit, bytes: { mode: 'unlimited', bytes: 1 } } })
  await set({ quota: { ...limit, bytes: { mode: 'limit', bytes: 9_007_199_254_740_991 } } })
  await set({ quota: limit })
  await talk.s3('PUT', `/${bucket}/one`, { body: 'x'.repeat(50) })
  await talk.s3('PUT', `/${bucket}/two`, { body: 'x'.repeat(51) })
  await talk.api('PUT', `${path}/object/two`, { body: 'x'.repeat(51) })
  await talk.s3('PUT', `/${bucket}/two`, { body: 'x' })
  await talk.s3('PUT', `/${bucket}/three`, { body: 'x' })
  await talk.s3('PUT', `/${bucket}/four`, { body: '' })
  await talk.s3('PUT', `/${bucket}/four`, { headers: [`x-amz-copy-source: ${bucket}/one`] })
  await talk.api('POST', `${path}/object-copy/four`, {
    body: JSON.stringify({ source_bucket: bucket, source_key: 'one' }),
  })
  const begun = await talk.s3('POST', `/${bucket}/four?uploads`)
  const upload = `/${bucket}/four?uploadId=${begun.element('UploadId')}`
  const part = await talk.s3('PUT', `${upload}&partNumber=1`, { body: 'x'.repeat(60) })
  const list = `<Part><PartNumber>1</PartNumber><ETag>${part.header('etag')}</ETag></Part>`
  await talk.s3('POST', upload, { body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>` })
  await talk.api('GET', `${path}/quota`)
  await set({ quota: { bytes: { mode: 'limit', bytes: 0 }, objects: { mode: 'limit', objects: 0 } } })
  await talk.s3('PUT', `/${bucket}/one`, { body: 'x' })
  await talk.s3('PUT', `/${bucket}/one`, { body: 'x'.repeat(5) })
  await talk.s3('DELETE', `/${bucket}/one`)
  await set({ quota: { bytes: { mode: 'unlimited' }, objects: { mode: 'unlimited' } } })
  await talk.s3('PUT', `/${bucket}/four`, { body: 'x' })
  await talk.api('GET', path)
}

async function retention(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  await talk.api('POST', '/buckets', { body: JSON.stringify({ name: `${bucket}-l`, object_lock: true }) })
  const good = { default_retention: { mode: 'GOVERNANCE', period: { unit: 'days', value: 30 } } }
  for (const name of [bucket, `${bucket}-l`]) {
    const path = `/buckets/${name}/default-retention`
    await talk.api('GET', path)
    const bodies = name === bucket ? [good] : spoiledObjects(good)
    for (const body of bodies) await talk.api('PUT', path, { body: JSON.stringify(body) })
    for (const [unit, value] of [
      ['days', 36_500],
      ['days', 36_501],
      ['years', 100],
      ['years', 101],
      ['days', 0],
      ['weeks', 1],
    ]) {
      const body = JSON.stringify({ default_retention: { mode: 'COMPLIANCE', period: { unit, value } } })
      await talk.api('PUT', path, { body })
      await talk.api('GET', path)
    }
    await talk.api('PUT', path, { body: JSON.stringify(good) })
  }
  const lock = ['x-amz-object-lock-mode: COMPLIANCE', 'x-amz-object-lock-retain-until-date: 2095-01-01T00:00:00Z']
  await talk.s3('PUT', `/${bucket}-l/key`, { body: 'b' })
  await talk.s3('PUT', `/${bucket}-l/key`, { body: 'c', headers: lock })
  await talk.s3('PUT', `/${bucket}-l/held`, { body: 'c', headers: ['x-amz-object-lock-legal-hold: ON'] })
  const object = await talk.api('GET', `/buckets/${bucket}-l/object/key`)
  await talk.api('DELETE', `/buckets/${bucket}-l/object-versions/key?version_id=${object.member('version_id')}`)
  await talk.api('DELETE', `/buckets/${bucket}-l/object/key`)
  await talk.api('POST', `/restore/${bucket}-l/key`, {
    body: JSON.stringify({ version_id: object.member('version_id') }),
  })
  await talk.api('GET', `/buckets/${bucket}-l/object-versions`)
  const report = '/reports/retention'
  for (const query of [
    `bucket=${bucket}`,
    `bucket=${bucket}-l`,
    `bucket=${bucket}-none`,
    `bucket=${bucket}-l&limit=2`,
  ]) {
    await talk.api('GET', `${report}?${query}`)
  }
  for (const number of NUMBERS) await talk.api('GET', `${report}?bucket=${bucket}-l&limit=${number}`)
}

const KEYS: readonly string[] = [
  'plain',
  'a/b',
  'a//b',
  '%2F',
  '..',
  '%00',
  '%0A',
  '%FF',
  '%zz',
  '%C3%A4',
  'a%20b',
  'a+b',
  'k'.repeat(1024),
  'k'.repeat(1025),
  "it's%22",
  'dir/',
]

async function objects(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  const path = `/buckets/${bucket}`
  for (const key of KEYS) {
    await talk.api('PUT', `${path}/object/${key}`, { body: key.slice(0, 30) })
    await talk.api('GET', `${path}/object/${key}`)
    await talk.api('GET', `${path}/object-content/${key}`)
    await talk.api('HEAD', `${path}/object-content/${key}`)
    await talk.api('POST', `/verify/objects/${bucket}/${key}`)
  }
  const target = `${path}/object/written`
  const headers = [
    'content-type: text/html',
    'content-type:',
    'content-type: ä',
    'if-none-match: *',
    'if-none-match: "x"',
    'if-match: "x"',
    'x-amz-meta-a: 1',
    'content-encoding: gzip',
    'content-md5: AAAA',
    'expect: 100-continue',
  ]
  for (const header of headers) {
    await talk.api('PUT', target, { body: 'bytes', headers: [header] })
    await talk.api('GET', target, { headers: [header] })
  }
  await talk.api('PUT', target, { body: 'bytes', chunked: true })
  await talk.api('PUT', target, { body: 'bytes', length: 'none', fresh: true })
  await talk.api('PUT', target, { body: 'bytes', length: '5368709121', fresh: true })
  await talk.api('PUT', `${path}/object/large`, { body: Buffer.alloc(200_000, 'large') })
  await talk.api('GET', `${path}/object-content/large`)
  for (const [index, bytes] of PREVIEWS.entries()) {
    await talk.api('PUT', `${path}/object/preview-${index}`, { body: bytes })
    await talk.api('GET', `${path}/object-preview/preview-${index}`)
    await talk.api('HEAD', `${path}/object-preview/preview-${index}`)
  }
  for (const query of [
    'version_id=null',
    'version_id=',
    'version_id=x',
    `version_id=${'A'.repeat(22)}`,
    'other=1',
    'version_id=null&version_id=null',
  ]) {
    for (const route of ['object', 'object-content', 'object-preview', 'object-proof']) {
      await talk.api('GET', `${path}/${route}/written?${query}`)
    }
    await talk.api('POST', `/verify/objects/${bucket}/written?${query}`)
    await talk.api('DELETE', `${path}/object/written?${query}`)
  }
  await talk.api('GET', target, { headers: ['range: bytes=0-1'] })
  await talk.api('GET', `${path}/object-content/written`, { headers: ['range: bytes=0-1', 'if-none-match: *'] })
}

const PREVIEWS: readonly Buffer[] = [
  Buffer.from('89504e470d0a1a0a00', 'hex'),
  Buffer.from('ffd8ff00', 'hex'),
  Buffer.from('GIF89a'),
  Buffer.from('RIFF0000WEBP'),
  Buffer.from('text ä'),
  Buffer.from('null\u0000'),
  Buffer.from([0xff]),
  Buffer.from('<script>'),
  Buffer.alloc(0),
  Buffer.alloc(1024 ** 2 + 1, 'x'),
]

async function versions(talk: Talk): Promise<void> {
  const { bucket } = talk
  const path = `/buckets/${bucket}`
  await makeBucket(talk)
  await talk.api('PUT', `${path}/object/key`, { body: 'of no versioning' })
  await setVersioning(talk, 'Enabled')
  const first = await talk.api('PUT', `${path}/object/key`, { body: 'first' })
  const id = first.member('version_id')
  await talk.api('PUT', `${path}/object/key`, { body: 'second' })
  await talk.api('DELETE', `${path}/object/key`)
  await talk.api('DELETE', `${path}/object/key`)
  await talk.api('GET', `${path}/object/key`)
  const listed = await talk.api('GET', `${path}/object-versions`)
  const marker = listed.member('version_id')
  const ids = [id, marker, 'null', 'x', 'A'.repeat(22), '']
  for (const each of ids) {
    for (const route of ['object', 'object-content', 'object-preview', 'object-proof']) {
      await talk.api('GET', `${path}/${route}/key?version_id=${each}`)
    }
    await talk.api('POST', `/verify/objects/${bucket}/key?version_id=${each}`)
    await talk.api('POST', `/restore/${bucket}/key`, { body: JSON.stringify({ version_id: each }) })
    const source = { source_bucket: bucket, source_key: 'key', source_version_id: each }
    await talk.api('POST', `${path}/object-copy/copy`, { body: JSON.stringify(source) })
    await talk.api('GET', `${path}/object-versions?after=key&after_version_id=${each}`)
  }
  for (const body of spoiledObjects({ source_bucket: bucket, source_key: 'key', source_version_id: id })) {
    await talk.api('POST', `${path}/object-copy/copy`, { body: JSON.stringify(body) })
  }
  for (const body of spoiledObjects({ version_id: id })) {
    await talk.api('POST', `/restore/${bucket}/key`, { body: JSON.stringify(body) })
  }
  for (const each of ids) await talk.api('DELETE', `${path}/object-versions/key?version_id=${each}`)
  await talk.api('DELETE', `${path}/object-versions/key`)
  await talk.api('DELETE', `${path}/object-versions/none?version_id=${id}`)
  await talk.api('GET', `${path}/object-versions`)
}

const LISTS: readonly string[] = [
  '',
  'prefix=a',
  'prefix=a/&delimiter=/',
  'delimiter=/',
  'delimiter=',
  'after=a/1',
  'after=a/&delimiter=/',
  'after=',
  'after=zzz',
  'prefix=%FF',
  'after_version_id=null',
  'after=a/1&after_version_id=null',
  'unknown=1',
  'limit=2&delimiter=/',
  'limit=3&prefix=a',
]

async function lists(talk: Talk): Promise<void> {
  const { bucket } = talk
  const path = `/buckets/${bucket}`
  await makeBucket(talk)
  await setVersioning(talk, 'Enabled')
  for (const key of ['a/1', 'a/2', 'a/b/3', 'b', '%C3%A4', 'c%01', 'a/1', 'b']) {
    await talk.api('PUT', `${path}/object/${key}`, { body: key })
  }
  await talk.api('DELETE', `${path}/object/b`)
  for (const route of ['objects', 'object-versions']) {
    for (const query of LISTS) await talk.api('GET', `${path}/${route}?${query}`)
    for (const number of NUMBERS) await talk.api('GET', `${path}/${route}?limit=${number}`)
  }
  let after = ''
  for (let pages = 0; pages < 12; pages += 1) {
    const page = await talk.api('GET', `${path}/object-versions?limit=2${after}`)
    if (page.member('next_after').startsWith('no-')) break
    const id = page.member('next_after_version_id')
    after = `&after=${encodeURIComponent(JSON.parse(`"${page.member('next_after')}"`) as string)}`
    if (!id.startsWith('no-')) after += `&after_version_id=${id}`
  }
  for (const number of NUMBERS) await talk.api('POST', `/verify/buckets/${bucket}?maximum_entries=${number}`)
  for (const query of ['after=a/1', 'after=', 'after=zzz', 'unknown=1']) {
    await talk.api('POST', `/verify/buckets/${bucket}?${query}`)
  }
}

export const API_BUCKET_BLOCKS: readonly Block[] = [
  { name: 'api-buckets', alone: true, run: buckets },
  { name: 'api-quotas', run: quotas },
  { name: 'api-retention', run: retention },
  { name: 'api-objects', run: objects },
  { name: 'api-versions', run: versions },
  { name: 'api-lists', run: lists },
]
