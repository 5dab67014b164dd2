/**
 * Buckets: their creation and deletion, their names, their versioning, and the list of them.
 * Proves: DO-CAP-05, RES-BUC-02, RES-BUC-03, STA-VRS-01, STA-VRS-03, STA-VRS-05, S3-LCK-01, ERR-S3X-02, VER-ANY-07.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachBody, eachHeader, eachQuery, makeBucket, ODD_NUMBERS, spoiledDocuments, versioning } from './helpers.ts'

const NAMES: readonly string[] = [
  'ab',
  'abc-of-names',
  'Upper-case',
  'under_score',
  'dots.in.names',
  'two..dots',
  'dot-.hyphen',
  '-hyphen-first',
  'hyphen-last-',
  '192.168.5.4',
  'xn--name',
  'sthree-name',
  'amzn-s3-demo-name',
  'name-s3alias',
  'name--ol-s3',
  'name.mrap',
  'name--x-s3',
  'a'.repeat(63),
  'a'.repeat(64),
  'with%20blank',
  'with%2Fslash',
  'with%00null',
  '%C3%A4%C3%B6%C3%BC',
  '%FF%FE',
  '%zz',
  '%',
  'name%2dencoded',
  '.',
  '..',
  '%2e%2e',
  'a%2Eb%2Ec',
  '~tilde',
  'plus+name',
  'comma,name',
]

async function names(talk: Talk): Promise<void> {
  for (const name of NAMES) {
    await talk.s3('PUT', `/${name}`)
    await talk.s3('HEAD', `/${name}`)
    await talk.s3('GET', `/${name}?list-type=2&max-keys=1`)
    await talk.s3('GET', `/${name}/key`)
    await talk.s3('DELETE', `/${name}`)
  }
}

const LOCATION =
  '<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>'

async function creation(talk: Talk): Promise<void> {
  const bodies = [
    LOCATION,
    LOCATION.replace('eu-west-1', ''),
    LOCATION.replace('eu-west-1', 'us-east-1'),
    LOCATION.replace('eu-west-1', 'EU'),
    LOCATION.replace('eu-west-1', 'a'.repeat(300)),
    LOCATION.replace('eu-west-1', 'with blank'),
    LOCATION.replace('eu-west-1', '&lt;'),
    '<CreateBucketConfiguration><Bucket><Type>Directory</Type></Bucket></CreateBucketConfiguration>',
    ...spoiledDocuments(LOCATION),
  ]
  for (const [index, body] of bodies.entries()) {
    const name = `${talk.bucket}-${index}`
    await talk.s3('PUT', `/${name}`, { body })
    await talk.s3('GET', `/${name}?location`)
    if (index < 8) await talk.s3('PUT', `/${name}`, { body })
  }
  const locked = ['x-amz-bucket-object-lock-enabled: true']
  for (const headers of [[], locked, locked, []]) await talk.s3('PUT', `/${talk.bucket}-lock`, { headers })
  await talk.s3('PUT', `/${talk.bucket}-lock`, { headers: locked, body: LOCATION })
  const headers = [
    'x-amz-bucket-object-lock-enabled: true',
    'x-amz-bucket-object-lock-enabled: TRUE',
    'x-amz-bucket-object-lock-enabled: false',
    'x-amz-bucket-object-lock-enabled: maybe',
    'x-amz-bucket-object-lock-enabled:',
    'x-amz-acl: private',
    'x-amz-acl: public-read',
    'x-amz-grant-read: id=1',
    'x-amz-object-ownership: BucketOwnerEnforced',
    'x-amz-object-ownership: ObjectWriter',
    'x-amz-bucket-namespace: n',
    'content-md5: x',
    'content-type: text/html',
  ]
  for (const [index, header] of headers.entries()) {
    await talk.s3('PUT', `/${talk.bucket}-h${index}`, { headers: [header] })
    await talk.s3('GET', `/${talk.bucket}-h${index}?object-lock`)
    await talk.s3('DELETE', `/${talk.bucket}-h${index}`)
  }
}

async function deletion(talk: Talk): Promise<void> {
  const path = `/${talk.bucket}`
  await talk.s3('DELETE', path)
  await makeBucket(talk)
  await makeBucket(talk)
  await talk.s3('HEAD', path)
  await talk.s3('PUT', `${path}/key`, { body: 'x' })
  await talk.s3('DELETE', path)
  await talk.s3('DELETE', `${path}/key`)
  await talk.s3('POST', `${path}/key?uploads`)
  await talk.s3('DELETE', path)
  await talk.s3('DELETE', path)
  await makeBucket(talk)
  await talk.s3('GET', `${path}?uploads`)
  await talk.s3('PUT', `${path}?versioning`, { body: versioning('Enabled') })
  await talk.s3('DELETE', `${path}/never-there`)
  await talk.s3('DELETE', path)
  const listed = await talk.s3('GET', `${path}?versions`)
  await talk.s3('DELETE', `${path}/never-there?versionId=${listed.element('VersionId')}`)
  await talk.s3('DELETE', path)
  await talk.s3('GET', `${path}?location`)
}

async function versioningDocuments(talk: Talk): Promise<void> {
  const target = `/${talk.bucket}?versioning`
  await makeBucket(talk)
  await talk.s3('GET', target)
  const good = versioning('Enabled')
  const bodies = ['Enabled', 'Suspended', 'enabled', 'Off', '', ' Enabled ', 'Enabled Suspended'].map(versioning)
  const more = [
    '<VersioningConfiguration><Status>Enabled</Status><Status>Suspended</Status></VersioningConfiguration>',
    '<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>',
    '<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>',
    '<VersioningConfiguration><Status><a/></Status></VersioningConfiguration>',
    `<VersioningConfiguration>${' '.repeat(100_000)}</VersioningConfiguration>`,
  ]
  for (const body of [...bodies, ...more, ...spoiledDocuments(good)]) {
    await talk.s3('PUT', target, { body })
    await talk.s3('GET', target)
  }
  await eachHeader(talk, 'PUT', target, ['x-amz-mfa: 1 2', 'content-md5: AAAA', 'content-md5:'], { body: good })
  await makeBucket(talk, `${talk.bucket}-lock`, true)
  await eachBody(talk, 'PUT', `/${talk.bucket}-lock?versioning`, [versioning('Suspended'), good])
  await talk.s3('GET', `/${talk.bucket}-lock?versioning`)
}

async function listBuckets(talk: Talk): Promise<void> {
  await talk.s3('GET', '/')
  for (let index = 0; index < 12; index += 1) await makeBucket(talk, `${talk.bucket}-${index}`)
  await talk.s3('GET', '/')
  await talk.s3('GET', '//')
  const first = await talk.s3('GET', '/?max-buckets=5')
  const token = first.element('ContinuationToken')
  const forged = [token.slice(1), `${token}A`]
  for (const text of forged) talk.names.name('forged', text)
  await eachQuery(talk, 'GET', '/', [
    `max-buckets=5&continuation-token=${token}`,
    `max-buckets=5&continuation-token=${token}&prefix=${talk.bucket}-1`,
    ...forged.map((text) => `continuation-token=${text}`),
    `continuation-token=${'A'.repeat(2000)}`,
    'continuation-token=',
    'continuation-token=no%20token',
    `prefix=${talk.bucket}-1`,
    'prefix=none',
    'prefix=%FF',
    'bucket-region=us-east-1',
    'bucket-region=eu-west-1',
    'max-buckets=3&max-buckets=4',
    ...ODD_NUMBERS.map((number) => `max-buckets=${number}`),
  ])
  await talk.s3('GET', '/', { as: null })
  await talk.s3('HEAD', '/')
}

export const BUCKET_BLOCKS: readonly Block[] = [
  { name: 's3-bucket-names', run: names },
  { name: 's3-creation', run: creation },
  { name: 's3-deletion', run: deletion },
  { name: 's3-versioning', run: versioningDocuments },
  { name: 's3-list-buckets', alone: true, run: listBuckets },
]
