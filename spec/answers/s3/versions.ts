/**
 * Versions and delete markers, by their ids and without, in every state of versioning.
 * Proves: DO-CAP-04, RES-OBJ-04, STA-VRS-02, STA-OBJ-01, STA-OBJ-03, VER-ANY-08.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachQuery, makeBucket, setVersioning } from './helpers.ts'

const FORGED: readonly string[] = [
  '',
  'null',
  'NULL',
  'none',
  'A'.repeat(22),
  'A'.repeat(21),
  'A'.repeat(23),
  '-'.repeat(22),
  'a%20b',
  'a%00b',
  '%FF',
  'a/b',
  'a%2Bb',
  'x'.repeat(1024),
  'x'.repeat(1025),
]

/** What a key answers in every way of asking. */
async function look(talk: Talk, target: string): Promise<void> {
  await talk.s3('GET', target)
  await talk.s3('HEAD', target)
  await talk.s3('GET', target, { headers: ['if-none-match: *'] })
}

/** Parts and conditions of versions, and ids where no version is asked for. */
async function ofVersions(talk: Talk, older: string, newer: string): Promise<void> {
  const target = `/${talk.bucket}/key`
  for (const number of [1, 2]) await talk.s3('GET', `${target}?versionId=${newer}&partNumber=${number}`)
  await talk.s3('GET', `${target}?versionId=${newer}`, { headers: ['range: bytes=0-1'] })
  const current = await talk.s3('HEAD', `${target}?versionId=${newer}`)
  const headers = [`if-match: ${current.header('etag')}`]
  await talk.s3('DELETE', `${target}?versionId=${older}`, { headers })
  await talk.s3('GET', `${target}?versionId`)
  await talk.s3('POST', `${target}?uploads&versionId=${newer}`)
  await talk.s3('GET', `/${talk.bucket}?list-type=2&versionId=${newer}`)
  await talk.s3('GET', `/${talk.bucket}?versions&versionId=${newer}`)
  for (const method of ['DELETE', 'HEAD']) await talk.s3(method, `/${talk.bucket}?versionId=${newer}`)
}

async function versions(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const target = `/${talk.bucket}/key`
  const ids: string[] = []
  for (const status of ['', 'Enabled', 'Suspended', 'Enabled']) {
    if (status !== '') await setVersioning(talk, status)
    for (const body of [`one ${status}`, `two ${status}`]) {
      const written = await talk.s3('PUT', target, { body })
      ids.push(written.header('x-amz-version-id') || 'null')
      await look(talk, target)
    }
    const marker = await talk.s3('DELETE', target)
    ids.push(marker.header('x-amz-version-id') || 'null')
    await look(talk, target)
    const again = await talk.s3('DELETE', target)
    ids.push(again.header('x-amz-version-id') || 'null')
  }
  await talk.s3('GET', `/${talk.bucket}?versions`)
  for (const id of new Set(ids)) {
    await look(talk, `${target}?versionId=${id}`)
    await talk.s3('GET', `/${talk.bucket}/other?versionId=${id}`)
    await talk.s3('PUT', `${target}?versionId=${id}`, { body: 'x' })
    const copy = [`x-amz-copy-source: ${talk.bucket}/key?versionId=${id}`]
    await talk.s3('PUT', `/${talk.bucket}/copied`, { headers: copy })
  }
  await ofVersions(talk, ids[0] ?? '', ids.at(-3) ?? '')
  await eachQuery(
    talk,
    'GET',
    target,
    FORGED.map((id) => `versionId=${id}`),
  )
  await eachQuery(
    talk,
    'HEAD',
    target,
    FORGED.slice(0, 6).map((id) => `versionId=${id}`),
  )
  for (const id of new Set(ids)) {
    await talk.s3('DELETE', `${target}?versionId=${id}`, { headers: ['if-match: "x"'] })
    await talk.s3('DELETE', `${target}?versionId=${id}`)
    await look(talk, target)
    await talk.s3('DELETE', `${target}?versionId=${id}`)
  }
  await eachQuery(
    talk,
    'DELETE',
    target,
    FORGED.map((id) => `versionId=${id}`),
  )
  await talk.s3('GET', `${target}?versionId=null&versionId=other`)
  await talk.s3('GET', `/${talk.bucket}?versions`)
}

const LIST_QUERIES: readonly string[] = [
  '',
  'max-keys=2',
  'prefix=a',
  'prefix=a/&delimiter=/',
  'delimiter=/',
  'delimiter=/&max-keys=1',
  'delimiter=a',
  'delimiter=//',
  'encoding-type=url',
  'encoding-type=URL',
  'encoding-type=',
  'key-marker=a/1',
  'key-marker=a/&delimiter=/',
  'key-marker=zzz',
  'key-marker=%FF',
  'version-id-marker=null',
  'key-marker=a/1&version-id-marker=null',
  'key-marker=a/1&version-id-marker=AAAAAAAAAAAAAAAAAAAAAA',
  'key-marker=a/1&version-id-marker=a%20b',
  'key-marker=a/1&version-id-marker=',
  'key-marker=&version-id-marker=x',
  'max-keys=0',
  'max-keys=-1',
  'max-keys=x',
  'max-keys=99999',
  'prefix=none',
  'prefix=b%C3%A4&encoding-type=url',
]

async function listVersions(talk: Talk): Promise<void> {
  await makeBucket(talk)
  const names = ['a/1', 'a/2', 'a/b/3', 'a//4', 'b%C3%A4', 'c%01', 'd&amp;', 'e']
  await talk.s3('PUT', `/${talk.bucket}/a/1`, { body: 'of no versioning' })
  await setVersioning(talk, 'Enabled')
  for (const round of [1, 2, 3]) {
    for (const name of names) {
      if (talk.random.once(4)) await talk.s3('DELETE', `/${talk.bucket}/${name}`)
      else await talk.s3('PUT', `/${talk.bucket}/${name}`, { body: `${name} ${round}` })
    }
  }
  for (const query of LIST_QUERIES) await talk.s3('GET', `/${talk.bucket}?versions&${query}`)
  for (const size of [1, 3, 7]) {
    let next = ''
    for (let pages = 0; pages < 30; pages += 1) {
      const page = await talk.s3('GET', `/${talk.bucket}?versions&max-keys=${size}${next}`)
      if (page.element('IsTruncated') !== 'true') break
      const id = page.element('NextVersionIdMarker')
      const key = encodeURIComponent(
        page.element('NextKeyMarker').replaceAll('&amp;', '&').replaceAll('&#x1;', '\u0001'),
      )
      next = `&key-marker=${key}${id.startsWith('no-') ? '' : `&version-id-marker=${id}`}`
      if (size === 1 && pages > 8) break
    }
  }
}

export const VERSION_BLOCKS: readonly Block[] = [
  { name: 's3-versions', run: versions },
  { name: 's3-list-versions', run: listVersions },
]
