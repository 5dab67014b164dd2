/**
 * Object Lock: configuration, retention, legal hold, the headers of writes, and what a lock keeps from happening.
 * Proves: RES-BUC-03, RES-LCK-03, STA-VRS-03, STA-VRS-05, S3-LCK-02, S3-LCK-04, S3-LCK-05, S3-LCK-06, S3-LCK-07,
 * S3-LCK-08, S3-LCK-09, S3-LCK-11, S3-LCK-19, ERR-S3X-02, ERR-S3X-03, ERR-S3X-04, ERR-S3X-05, LIM-VAL-20.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachBody, eachHeader, makeBucket, setVersioning, spoiledDocuments } from './helpers.ts'

const FAR = '2095-01-01T00:00:00Z'
const FARTHER = '2096-06-01T12:30:00.123Z'

const rule = (inner: string) =>
  `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>${inner}</DefaultRetention></Rule></ObjectLockConfiguration>`
const mode = (name: string, inner: string) => rule(`<Mode>${name}</Mode>${inner}`)

const CONFIGURATIONS: readonly string[] = [
  ...['1', '30', '36500', '36501', '0', '-1', '+5', '1.5', 'x', '', ' 7 ', '99999999999999999999'].map((value) =>
    mode('GOVERNANCE', `<Days>${value}</Days>`),
  ),
  ...['1', '100', '101', '0'].map((value) => mode('COMPLIANCE', `<Years>${value}</Years>`)),
  mode('GOVERNANCE', '<Days>1</Days><Years>1</Years>'),
  mode('GOVERNANCE', ''),
  mode('governance', '<Days>1</Days>'),
  mode('', '<Days>1</Days>'),
  rule('<Days>1</Days>'),
  rule(''),
  '<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>',
  '<ObjectLockConfiguration><Rule/></ObjectLockConfiguration>',
  '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule/></ObjectLockConfiguration>',
  '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
]

async function configuration(talk: Talk): Promise<void> {
  await makeBucket(talk)
  await makeBucket(talk, `${talk.bucket}-l`, true)
  await talk.s3('GET', `/${talk.bucket}?object-lock`)
  await eachBody(talk, 'PUT', `/${talk.bucket}?object-lock`, CONFIGURATIONS.slice(0, 4))
  const target = `/${talk.bucket}-l?object-lock`
  await talk.s3('GET', target)
  const good = mode('GOVERNANCE', '<Days>2</Days>')
  for (const body of [...CONFIGURATIONS, ...spoiledDocuments(good)]) {
    const answer = await talk.s3('PUT', target, { body })
    if (answer.status === 200) await talk.s3('GET', target)
  }
  await talk.s3('PUT', target, { body: mode('GOVERNANCE', '<Days>30</Days>') })
  await talk.s3('PUT', `/${talk.bucket}-l/of-default`, { body: 'b' })
  await talk.s3('HEAD', `/${talk.bucket}-l/of-default`)
  await talk.s3('PUT', `/${talk.bucket}-l/hold`, { body: 'b', headers: ['x-amz-object-lock-legal-hold: ON'] })
  await talk.s3('HEAD', `/${talk.bucket}-l/hold`)
  await talk.s3('PUT', `/${talk.bucket}-l/copy`, { headers: [`x-amz-copy-source: ${talk.bucket}-l/hold`] })
  await talk.s3('HEAD', `/${talk.bucket}-l/copy`)
  await eachHeader(talk, 'PUT', target, ['x-amz-bucket-object-lock-token: t', 'content-md5: AAAA'], { body: good })
}

const retention = (name: string, until: string) =>
  `<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>${name}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`

const DATES: readonly string[] = [
  FAR,
  FARTHER,
  '2095-01-01T00:00:00+01:00',
  '2095-01-01T00:00:00.123456789Z',
  '2095-01-01T00:00:00',
  '2095-01-01',
  '2095-02-30T00:00:00Z',
  '2095-01-01T24:00:00Z',
  '2095-13-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '2000-01-01T00:00:00Z',
  '1969-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  'Sat, 01 Jan 2095 00:00:00 GMT',
  '3944678400',
  'never',
  '',
  ' 2095-01-01T00:00:00Z ',
]

async function retentions(talk: Talk): Promise<void> {
  await makeBucket(talk, talk.bucket, true)
  const key = `/${talk.bucket}/key`
  const target = `${key}?retention`
  await talk.s3('GET', target)
  await talk.s3('PUT', target, { body: retention('GOVERNANCE', FAR) })
  await talk.s3('PUT', key, { body: 'b' })
  await talk.s3('GET', target)
  const bodies = [
    ...DATES.map((date) => retention('GOVERNANCE', date)),
    ...['governance', 'LOCK', ''].map((name) => retention(name, FAR)),
    '<Retention/>',
    '<Retention><Mode>GOVERNANCE</Mode></Retention>',
    `<Retention><RetainUntilDate>${FAR}</RetainUntilDate></Retention>`,
    ...spoiledDocuments(retention('GOVERNANCE', FAR)),
  ]
  const bypass = ['x-amz-bypass-governance-retention: true']
  for (const body of bodies) {
    const answer = await talk.s3('PUT', target, { body })
    if (answer.status === 200) await talk.s3('GET', target)
    if (talk.random.once(3)) await talk.s3('PUT', target, { body, headers: bypass })
  }
  const values = ['true', 'TRUE', 'false', 'yes', '', '1']
  const shorter = retention('GOVERNANCE', '2094-01-01T00:00:00Z')
  const headers = values.map((value) => `x-amz-bypass-governance-retention: ${value}`)
  await eachHeader(talk, 'PUT', target, headers, { body: shorter })
  await talk.s3('PUT', `${target}&x-amz-bypass-governance-retention=true`, { presign: '60', body: '<Retention/>' })
  await talk.s3('GET', target)
  await talk.s3('GET', `/${talk.bucket}/none?retention`)
  for (const sum of ['content-md5: AAAAAAAAAAAAAAAAAAAAAA==', 'x-amz-checksum-crc32: AAAAAA==']) {
    await talk.s3('PUT', target, { headers: [...bypass, sum], body: shorter })
    await talk.s3('PUT', `${key}?legal-hold`, { headers: [sum], body: hold('ON') })
  }
  const marker = await talk.s3('DELETE', key)
  for (const name of ['retention', 'legal-hold'])
    await talk.s3('GET', `${key}?${name}&versionId=${marker.header('x-amz-version-id')}`)
  await talk.s3('GET', `${target}&versionId=null`)
  await talk.s3('GET', `${target}&versionId=${'A'.repeat(22)}`)
}

const hold = (status: string) => `<LegalHold><Status>${status}</Status></LegalHold>`

async function holds(talk: Talk): Promise<void> {
  await makeBucket(talk, talk.bucket, true)
  const target = `/${talk.bucket}/key?legal-hold`
  await talk.s3('GET', target)
  await talk.s3('PUT', `/${talk.bucket}/key`, { body: 'b' })
  await talk.s3('GET', target)
  for (const body of [...['ON', 'OFF', 'on', '', 'ON OFF'].map(hold), ...spoiledDocuments(hold('ON'))]) {
    const answer = await talk.s3('PUT', target, { body })
    if (answer.status === 200) await talk.s3('HEAD', `/${talk.bucket}/key`)
  }
  await talk.s3('PUT', target, { body: hold('ON') })
  await talk.s3('GET', target)
  await makeBucket(talk, `${talk.bucket}-off`)
  await talk.s3('PUT', `/${talk.bucket}-off/key`, { body: 'b' })
  for (const name of ['legal-hold', 'retention']) {
    await talk.s3('GET', `/${talk.bucket}-off/key?${name}`)
    await talk.s3('PUT', `/${talk.bucket}-off/key?${name}`, { body: hold('ON') })
    await talk.s3('PUT', `/${talk.bucket}-off/key?${name}`, { body: retention('GOVERNANCE', FAR) })
    await talk.s3('GET', `/${talk.bucket}-none/key?${name}`)
  }
}

const MODE = 'x-amz-object-lock-mode:'
const UNTIL = 'x-amz-object-lock-retain-until-date:'
const HOLD = 'x-amz-object-lock-legal-hold:'

async function writes(talk: Talk): Promise<void> {
  await makeBucket(talk, talk.bucket, true)
  await makeBucket(talk, `${talk.bucket}-off`)
  const lines = [
    `${MODE} GOVERNANCE\n${UNTIL} ${FAR}`,
    `${MODE} GOVERNANCE\n${UNTIL} ${FAR}\n${HOLD} ON`,
    `${MODE} GOVERNANCE\n${UNTIL} ${FAR}\n${HOLD} OFF`,
    `${MODE} COMPLIANCE`,
    `${UNTIL} ${FAR}`,
    `${MODE} OTHER\n${UNTIL} ${FAR}`,
    `${MODE} governance\n${UNTIL} ${FAR}`,
    `${MODE}\n${UNTIL} ${FAR}`,
    ...DATES.map((date) => `${MODE} GOVERNANCE\n${UNTIL} ${date}`),
    ...['ON', 'OFF', 'on', '', 'x'].map((value) => `${HOLD} ${value}`),
  ]
  const copy = `x-amz-copy-source: ${talk.bucket}/source`
  await talk.s3('PUT', `/${talk.bucket}/source`, { body: 'source' })
  for (const [index, line] of lines.entries()) {
    const headers = line.split('\n')
    const key = `/${talk.bucket}/key-${index}`
    const answer = await talk.s3('PUT', key, { body: 'b', headers })
    if (answer.status === 200) await talk.s3('HEAD', key)
    await talk.s3('PUT', `${key}-copy`, { headers: [copy, ...headers] })
    await talk.s3('POST', `${key}?uploads`, { headers })
    if (index < 6) await talk.s3('PUT', `/${talk.bucket}-off/key`, { body: 'b', headers })
  }
  const query = `x-amz-object-lock-mode=GOVERNANCE&x-amz-object-lock-retain-until-date=${FAR}`
  await talk.s3('PUT', `/${talk.bucket}/query?${query}`, { presign: '60', body: 'b' })
  await talk.s3('HEAD', `/${talk.bucket}/query`)
}

async function guards(talk: Talk): Promise<void> {
  await makeBucket(talk, talk.bucket, true)
  const locks = {
    governance: [`${MODE} GOVERNANCE`, `${UNTIL} ${FAR}`],
    compliance: [`${MODE} COMPLIANCE`, `${UNTIL} ${FAR}`],
    hold: [`${HOLD} ON`],
    both: [`${MODE} GOVERNANCE`, `${UNTIL} ${FAR}`, `${HOLD} ON`],
    none: [],
  }
  const bypass = ['x-amz-bypass-governance-retention: true']
  for (const [name, headers] of Object.entries(locks)) {
    const key = `/${talk.bucket}/${name}`
    const written = await talk.s3('PUT', key, { body: 'b', headers })
    const version = `${key}?versionId=${written.header('x-amz-version-id')}`
    await talk.s3('DELETE', version)
    await talk.s3('DELETE', key, { headers: bypass })
    await talk.s3('DELETE', key)
    const document = `${key}?retention&versionId=${written.header('x-amz-version-id')}`
    await talk.s3('PUT', document, { body: retention('GOVERNANCE', '2094-01-01T00:00:00Z') })
    await talk.s3('PUT', document, { body: '<Retention/>' })
    await talk.s3('PUT', document, { body: retention('COMPLIANCE', FARTHER) })
    await talk.s3('GET', document)
    await talk.s3('PUT', document, { body: retention('COMPLIANCE', FAR), headers: bypass })
    await talk.s3('PUT', document, { body: '<Retention/>', headers: bypass })
    await talk.s3('DELETE', version, { headers: bypass })
    await talk.s3('PUT', `${key}?legal-hold&versionId=${written.header('x-amz-version-id')}`, { body: hold('OFF') })
    await talk.s3('DELETE', version, { headers: ['x-amz-bypass-governance-retention: no'] })
    await talk.s3('DELETE', version, { headers: bypass })
    await talk.s3('HEAD', version)
    await talk.s3('GET', `${key}?retention`)
    await talk.s3('PUT', `${key}?retention`, { body: retention('GOVERNANCE', FAR) })
  }
  await talk.s3('DELETE', `/${talk.bucket}`)
  await setVersioning(talk, 'Suspended')
  await talk.s3('GET', `/${talk.bucket}?versions`)
}

export const LOCK_BLOCKS: readonly Block[] = [
  { name: 's3-lock-configuration', run: configuration },
  { name: 's3-retentions', run: retentions },
  { name: 's3-holds', run: holds },
  { name: 's3-locked-writes', run: writes },
  { name: 's3-lock-guards', run: guards },
]
