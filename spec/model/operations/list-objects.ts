/** ListObjectsV2, a page at a time. */
import { blocks, elements, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { byUtf8, type ListEntry, listEntries, type ListFilter, pageOf } from '../naive-listing.ts'
import { type Operation, reading, targetOf } from '../expectation.ts'
import type { ModelBucket, ModelState, ModelVersion } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { decodedElement, listedPrefixes } from './list-entries.ts'

/** Where a page begins: after a key, or after every key that a common prefix stands for. */
export type ListPosition = { readonly afterKey: string } | { readonly afterPrefix: string }

export interface ListObjectsRequest extends ListFilter {
  readonly bucket: string
  readonly maxKeys: number
  /** Taken for start-after, unless a token comes with it: then it is what the token stands for. */
  readonly position: ListPosition | undefined
  readonly token?: string | undefined
}

const PAGE_MAXIMUM = 1000

export function listObjects(list: ListObjectsRequest): Operation {
  const { bucket: name, prefix, delimiter, maxKeys, position, token } = list
  const startAfter =
    position !== undefined && 'afterKey' in position && token === undefined ? position.afterKey : undefined
  const query = {
    'list-type': 2,
    'encoding-type': 'url',
    prefix,
    delimiter: delimiter === '' ? undefined : delimiter,
    'max-keys': maxKeys,
    'start-after': startAfter,
    'continuation-token': token,
  }
  return {
    request: { method: 'GET', target: targetOf(name, undefined, query) },
    outcomes: onBucket(name, (world, bucket) => {
      const page = pageOf(entriesOf(world, bucket, list), Math.min(maxKeys, PAGE_MAXIMUM))
      const expected = [
        page.items.map(({ key, item }) => [key, `"${item.etag}"`, item.size, new Date(item.modified).toISOString()]),
        page.prefixes,
        page.items.length + page.prefixes.length,
        page.isTruncated,
      ]
      return reading(world, { status: 200, check: (answer) => sameText(contentsOf(answer), expected) })
    }),
  }
}

function entriesOf(world: ModelState, bucket: ModelBucket, list: ListObjectsRequest): ListEntry<ModelVersion>[] {
  const { position } = list
  const keys = new Map<string, ModelVersion[]>()
  for (const key of bucket.keys.keys()) {
    const current = world.current(bucket, key)
    if (current !== undefined && isAfter(key, position)) keys.set(key, [current])
  }
  return listEntries(keys, list)
}

function isAfter(key: string, position: ListPosition | undefined): boolean {
  if (position === undefined) return true
  if ('afterKey' in position) return byUtf8(key, position.afterKey) > 0
  return byUtf8(key, position.afterPrefix) > 0 && !key.startsWith(position.afterPrefix)
}

function contentsOf({ text }: WireAnswer): unknown {
  const contents = blocks(text, 'Contents').map((block) => [
    decodedElement(block, 'Key'),
    firstElement(block, 'ETag'),
    Number(firstElement(block, 'Size')),
    firstElement(block, 'LastModified'),
  ])
  const next = elements(text, 'NextContinuationToken')
  const isTruncated = firstElement(text, 'IsTruncated') === 'true'
  const tokens = isTruncated === (next.length === 1) ? isTruncated : 'truncation and token contradict each other'
  return [contents, listedPrefixes(text), Number(firstElement(text, 'KeyCount')), tokens]
}

/** What the next page needs to know of an answer; undefined on the last page. */
export function nextObjects(
  answer: WireAnswer,
): { readonly token: string; readonly position: ListPosition } | undefined {
  const token = firstElement(answer.text, 'NextContinuationToken')
  if (token === undefined) return undefined
  const key = blocks(answer.text, 'Contents')
    .map((block) => decodedElement(block, 'Key') ?? '')
    .at(-1)
  const prefix = listedPrefixes(answer.text).at(-1)
  if (prefix !== undefined && (key === undefined || byUtf8(prefix, key) > 0)) {
    return { token, position: { afterPrefix: prefix } }
  }
  return { token, position: { afterKey: key ?? '' } }
}
