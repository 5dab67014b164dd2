/** Pages of ListObjectsV2 over the wire, and what all of them together must show. */
import { byUtf8, listEntries } from '../../model/naive-listing.ts'
import type { TestServer } from '../test-server.ts'
import { blocks, elements, firstElement } from '../wire-client.ts'

export interface ListQuery {
  readonly prefix?: string
  readonly delimiter?: string
  readonly startAfter?: string
}

/** All entries of a listing: keys as they are, common prefixes with a mark that no key can hold here. */
export function modelEntries(keys: readonly string[], query: ListQuery): string[] {
  const { prefix = '', delimiter = '', startAfter = '' } = query
  const after = keys.filter((key) => byUtf8(key, startAfter) > 0)
  const entries = listEntries(new Map(after.map((key) => [key, [key]])), { prefix, delimiter })
  return entries.map((entry) => ('prefix' in entry ? `${entry.prefix}${PREFIX_MARK}` : entry.key))
}

export const PREFIX_MARK = '\u0000(common prefix)'

export interface ListedPage {
  /** In the order of the keys, common prefixes marked. */
  readonly entries: readonly string[]
  readonly keyCount: number
  readonly maxKeys: number
  readonly truncated: boolean
  readonly next: string | undefined
}

/** One page over the wire, with `encoding-type=url`, so that any key can be read back. */
export async function listPage(
  server: TestServer,
  bucket: string,
  query: ListQuery & { readonly maxKeys?: number; readonly token?: string | undefined },
): Promise<ListedPage> {
  const parameters: [name: string, value: string | number | undefined][] = [
    ['list-type', 2],
    ['encoding-type', 'url'],
    ['prefix', query.prefix],
    ['delimiter', query.delimiter],
    ['start-after', query.startAfter],
    ['max-keys', query.maxKeys],
    ['continuation-token', query.token],
  ]
  const given = parameters.filter(([, value]) => value !== undefined)
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
  const answer = await server.raw('GET', `/${bucket}?${text}`)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const keys = elements(answer.text, 'Key').map(decodeURIComponent)
  const prefixes = blocks(answer.text, 'CommonPrefixes').map((block) =>
    decodeURIComponent(firstElement(block, 'Prefix') ?? ''),
  )
  return {
    entries: [...keys, ...prefixes.map((prefix) => `${prefix}${PREFIX_MARK}`)].toSorted(byEntry),
    keyCount: Number(firstElement(answer.text, 'KeyCount')),
    maxKeys: Number(firstElement(answer.text, 'MaxKeys')),
    truncated: firstElement(answer.text, 'IsTruncated') === 'true',
    next: firstElement(answer.text, 'NextContinuationToken'),
  }
}

function byEntry(left: string, right: string): number {
  return byUtf8(left.replace(PREFIX_MARK, ''), right.replace(PREFIX_MARK, ''))
}

/** Every page of a listing. A page that is not what its own numbers say is an error. */
export async function listPages(
  server: TestServer,
  bucket: string,
  query: ListQuery,
  maxKeys: number,
): Promise<ListedPage[]> {
  const pages: ListedPage[] = []
  let token: string | undefined
  do {
    const page = await listPage(server, bucket, { ...query, maxKeys, token })
    if (page.keyCount !== page.entries.length || page.truncated !== (page.next !== undefined)) {
      throw new Error(`a page contradicts itself: ${JSON.stringify(page)}`)
    }
    if (page.truncated && page.keyCount !== page.maxKeys) throw new Error('a page is cut off before it is full')
    pages.push(page)
    token = page.next
  } while (token !== undefined)
  return pages
}
