/**
 * Copies, with every directive and condition.
 * Proves: DO-CAP-07, DO-NOT-19.
 */
import { createHash } from 'node:crypto'
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachHeader, makeBucket, setVersioning } from './helpers.ts'

const ETAG = createHash('md5').update('source').digest('hex')
const PAST = 'Sat, 01 Jan 2000 00:00:00 GMT'
const FUTURE = 'Sat, 01 Jan 2095 00:00:00 GMT'

async function sources(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  for (const key of ['source', 'a%20b', 'a+b', 'percent%25', 'question%3FversionId=null', '%C3%A4']) {
    await talk.s3('PUT', `/${bucket}/${key}`, { body: 'source' })
  }
  const texts = [
    `${bucket}/source`,
    `/${bucket}/source`,
    `//${bucket}/source`,
    `${bucket}%2Fsource`,
    `%2F${bucket}%2Fsource`,
    `${bucket}/a%20b`,
    `${bucket}/a b`,
    `${bucket}/a+b`,
    `${bucket}/a%2Bb`,
    `${bucket}/percent%25`,
    `${bucket}/percent%2525`,
    `${bucket}/percent%`,
    `${bucket}/question%3FversionId=null`,
    `${bucket}/%C3%A4`,
    `${bucket}/ä`,
    `${bucket}/%FF`,
    `${bucket}/none`,
    `${bucket}-none/source`,
    `${bucket}`,
    `${bucket}/`,
    '/',
    '',
    'source',
    `${bucket}/source?versionId=null`,
    `${bucket}/source?versionId=`,
    `${bucket}/source?versionId=${'A'.repeat(22)}`,
    `${bucket}/source?versionId=a%20b`,
    `${bucket}/source?other=1`,
    `http://${bucket}/source`,
    `arn:aws:s3:::${bucket}/source`,
    `${bucket}/${'k'.repeat(1025)}`,
    `Upper/source`,
  ]
  for (const text of texts) await talk.s3('PUT', `/${bucket}/target`, { headers: [`x-amz-copy-source: ${text}`] })
  await talk.s3('PUT', `/${bucket}-none/target`, { headers: [`x-amz-copy-source: ${bucket}/source`] })
  await talk.s3('PUT', `/${bucket}/target?x-amz-copy-source=${bucket}/source`, { presign: '60' })
  await talk.s3('GET', `/${bucket}/target`)
  const twice = [`x-amz-copy-source: ${bucket}/source`, `x-amz-copy-source: ${bucket}/source`]
  await talk.s3('PUT', `/${bucket}/target`, { headers: twice })
  await talk.s3('PUT', `/${bucket}/target`, { headers: twice.slice(1), body: 'a body' })
  await talk.s3('PUT', `/${bucket}`, { headers: twice.slice(1) })
}

async function directives(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  const stored = ['content-type: text/plain', 'x-amz-meta-a: 1', 'cache-control: no-cache']
  await talk.s3('PUT', `/${bucket}/source`, { body: 'source', headers: stored })
  const source = `x-amz-copy-source: ${bucket}/source`
  const lines = [
    'x-amz-metadata-directive: COPY',
    'x-amz-metadata-directive: REPLACE',
    'x-amz-metadata-directive: replace',
    'x-amz-metadata-directive: OTHER',
    'x-amz-metadata-directive:',
    'x-amz-metadata-directive: COPY\nx-amz-meta-b: 2',
    'x-amz-metadata-directive: REPLACE\nx-amz-meta-b: 2\ncontent-type: text/html',
    'x-amz-meta-b: 2',
    'content-type: text/html',
    'x-amz-tagging-directive: COPY',
    'x-amz-tagging-directive: REPLACE\nx-amz-tagging: a=b',
    'x-amz-storage-class: STANDARD',
    'x-amz-storage-class: GLACIER',
    'x-amz-checksum-algorithm: SHA256',
    'x-amz-checksum-sha256: x',
    'content-md5: AAAA',
    'x-amz-copy-source-range: bytes=0-1',
    'x-amz-acl: private',
  ]
  for (const line of lines) {
    await talk.s3('PUT', `/${bucket}/target`, { headers: [source, ...line.split('\n')] })
    await talk.s3('HEAD', `/${bucket}/target`)
    await talk.s3('PUT', `/${bucket}/source`, { headers: [source, ...line.split('\n')] })
    await talk.s3('HEAD', `/${bucket}/source`)
  }
  await talk.s3('PUT', `/${bucket}/source`, { headers: [source] })
  await setVersioning(talk, 'Enabled')
  await talk.s3('PUT', `/${bucket}/source`, { headers: [source] })
  await talk.s3('PUT', `/${bucket}/source`, { headers: [`${source}?versionId=null`] })
  await talk.s3('PUT', `/${bucket}/target`, { headers: [source] })
  await talk.s3('DELETE', `/${bucket}/source`)
  await talk.s3('PUT', `/${bucket}/target`, { headers: [source] })
}

async function conditions(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  await talk.s3('PUT', `/${bucket}/source`, { body: 'source' })
  const headers = [`x-amz-copy-source: ${bucket}/source`]
  const name = 'x-amz-copy-source-if-'
  const etags = [`"${ETAG}"`, ETAG, '*', '"other"', '', `W/"${ETAG}"`, `"other", "${ETAG}"`]
  const dates = [PAST, FUTURE, 'yesterday', '']
  const lines = [
    ...etags.flatMap((etag) => [`${name}match: ${etag}`, `${name}none-match: ${etag}`]),
    ...dates.flatMap((date) => [`${name}modified-since: ${date}`, `${name}unmodified-since: ${date}`]),
    `${name}match: "${ETAG}"\n${name}unmodified-since: ${PAST}`,
    `${name}none-match: "${ETAG}"\n${name}modified-since: ${PAST}`,
    `${name}match: "other"\nif-none-match: *`,
    'if-none-match: *',
    'if-match: *',
  ]
  await eachHeader(talk, 'PUT', `/${bucket}/target`, lines, { headers })
  await eachHeader(talk, 'PUT', `/${bucket}/not-there`, lines.slice(-3), { headers })
  await talk.s3('PUT', `/${bucket}/target?${name}match=other`, { headers, presign: '60' })
}

export const COPY_BLOCKS: readonly Block[] = [
  { name: 's3-copy-sources', run: sources },
  { name: 's3-copy-directives', run: directives },
  { name: 's3-copy-conditions', run: conditions },
]
