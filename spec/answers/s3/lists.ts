/**
 * The list of objects, page by page, with good and forged tokens.
 * Proves: DO-CAP-02.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { eachQuery, makeBucket, ODD_NUMBERS } from './helpers.ts'

const KEYS: readonly string[] = [
  'a',
  'a/1',
  'a/2',
  'a/b/3',
  'a/b/4',
  'a//5',
  'b',
  'b%20c',
  'b+c',
  'c%01d',
  'd%C3%A4',
  'e&f',
  'e%3Cf%3E',
  'f%0D%0A',
  'photos/2026/01/a.jpg',
  'photos/2026/02/b.jpg',
  'photos/2027/c.jpg',
  'z/',
  'z/z',
  '%F0%9F%98%80',
]

const QUERIES: readonly string[] = [
  '',
  'prefix=a',
  'prefix=a/',
  'prefix=none',
  'prefix=',
  'prefix=%FF',
  'prefix=%zz',
  'prefix=a&prefix=b',
  `prefix=${'p'.repeat(1100)}`,
  'delimiter=/',
  'delimiter=',
  'delimiter=a',
  'delimiter=//',
  'delimiter=%C3%A4',
  'delimiter=/&prefix=a/',
  'delimiter=/&prefix=photos/2026',
  'delimiter=/&prefix=photos/2026/',
  'delimiter=/&max-keys=2',
  'start-after=b',
  'start-after=a/',
  'start-after=a/&delimiter=/',
  'start-after=zzzz',
  'start-after=',
  'start-after=a/b&prefix=a/&delimiter=/',
  'fetch-owner=true',
  'fetch-owner=TRUE',
  'fetch-owner=false',
  'fetch-owner=x',
  'encoding-type=url',
  'encoding-type=URL',
  'encoding-type=base64',
  'encoding-type=',
  'encoding-type=url&delimiter=%20',
  'encoding-type=url&prefix=b&start-after=b%20',
  'marker=a',
  'unknown=1',
  'continuation-token=',
  'continuation-token=x',
  'continuation-token=AAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'continuation-token=%00',
  `continuation-token=${'A'.repeat(1400)}`,
  'continuation-token=x&start-after=b',
]

/** Follows the pages, and forges the token of each. */
async function pages(talk: Talk, query: string): Promise<void> {
  let token = ''
  for (let count = 0; count < 25; count += 1) {
    const next = token === '' ? '' : `&continuation-token=${token}`
    const page = await talk.s3('GET', `/${talk.bucket}?list-type=2&${query}${next}`)
    if (page.element('IsTruncated') !== 'true') return
    token = page.element('NextContinuationToken')
    if (count > 2) continue
    const forged = `${token.slice(0, -2)}${token.endsWith('A') ? 'BB' : 'AA'}`
    for (const text of [forged, token.slice(2), `${token}=`, `${token}.`]) {
      talk.names.name('forged', text)
      await talk.s3('GET', `/${talk.bucket}?list-type=2&${query}&continuation-token=${text}`)
    }
    await talk.s3('GET', `/${talk.bucket}-other?list-type=2&${query}&continuation-token=${token}`)
  }
}

async function lists(talk: Talk): Promise<void> {
  await makeBucket(talk)
  await makeBucket(talk, `${talk.bucket}-other`)
  await talk.s3('GET', `/${talk.bucket}?list-type=2`)
  for (const key of KEYS) await talk.s3('PUT', `/${talk.bucket}/${key}`, { body: key })
  for (const query of QUERIES) await talk.s3('GET', `/${talk.bucket}?list-type=2&${query}`)
  await eachQuery(
    talk,
    'GET',
    `/${talk.bucket}`,
    ODD_NUMBERS.map((number) => `list-type=2&max-keys=${number}`),
  )
  await eachQuery(talk, 'GET', `/${talk.bucket}`, [
    'list-type=1',
    'list-type=',
    'list-type=2&list-type=1',
    'list-type=3',
  ])
  await eachQuery(talk, 'HEAD', `/${talk.bucket}`, ['list-type=2', 'max-keys=1'])
  for (const query of ['max-keys=3', 'max-keys=2&delimiter=/', 'max-keys=1&prefix=a', 'max-keys=4&encoding-type=url']) {
    await pages(talk, query)
  }
  for (let index = 0; index < 60; index += 1) {
    const some = [1, 2, 3].map(() => talk.random.pick(QUERIES)).join('&')
    await talk.s3('GET', `/${talk.bucket}?list-type=2&${some}&max-keys=${talk.random.below(8)}`)
  }
}

export const LIST_BLOCKS: readonly Block[] = [{ name: 's3-lists', run: lists }]
