/** ListObjectVersions, a page at a time. */
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { byUtf8 } from '../../support/list-model.ts'
import { type Operation, refusals, targetOf } from '../expectation.ts'
import { type Bucket, type Version, versionsOf, withBucket, withVersions, type World } from '../model-state.ts'
import { onBucket, sameText } from './buckets.ts'
import {
  decodedElement,
  groupByKey,
  type ListEntry,
  listEntries,
  type ListFilter,
  listedPrefixes,
  pageOf,
} from './list-entries.ts'

export interface VersionMarkers {
  readonly keyMarker?: string | undefined
  readonly versionIdMarker?: string | undefined
  /** Place of the version that the marker names, which may be gone by now. */
  readonly serial?: number | undefined
}

export interface ListVersionsRequest extends ListFilter, VersionMarkers {
  readonly bucket: string
  readonly maxKeys: number
}

export function listVersions(list: ListVersionsRequest): Operation {
  const { bucket: name, prefix, delimiter, maxKeys, keyMarker, versionIdMarker } = list
  const query = {
    'encoding-type': 'url',
    prefix,
    delimiter: delimiter === '' ? undefined : delimiter,
    'max-keys': maxKeys,
    'key-marker': keyMarker,
    'version-id-marker': versionIdMarker,
  }
  return {
    request: { method: 'GET', target: `${targetOf(name, undefined, query).replace('?', '?versions&')}` },
    outcomes: onBucket(name, (world, bucket) => {
      if (versionIdMarker !== undefined && keyMarker === undefined) return refusals(world, ['InvalidArgument'])
      if (versionIdMarker === 'null' && nullVersion(bucket, keyMarker) === undefined) {
        return refusals(world, ['InvalidArgument'])
      }
      const page = pageOf(entriesOf(bucket, list), maxKeys)
      const check = (answer: WireAnswer) => sameText(listedOf(answer, page), expectedOf(bucket, page))
      const next = (answer: WireAnswer | undefined) => (answer === undefined ? world : withIds(world, name, answer))
      return [{ pattern: { status: 200, check }, next }]
    }),
  }
}

/** The version that `null` names, which must be there to be a marker: its id does not tell its place. */
function nullVersion(bucket: Bucket, key: string | undefined): Version | undefined {
  return versionsOf(bucket, key ?? '').find(({ id }) => id === 'null')
}

/** The whole listing, which tells the ids of versions whose writes were never answered. */
export function listAllVersions(bucket: string): Operation {
  return listVersions({ bucket, prefix: '', delimiter: '', maxKeys: 1000 })
}

function entriesOf(bucket: Bucket, list: ListVersionsRequest): ListEntry<Version>[] {
  const { keyMarker, versionIdMarker } = list
  const place = versionIdMarker === 'null' ? nullVersion(bucket, keyMarker)?.serial : list.serial
  const keys = new Map<string, Version[]>()
  for (const [key, versions] of bucket.keys) {
    const rest = versions.filter(({ serial }) => isBehind(key, serial, list, place))
    if (rest.length > 0) keys.set(key, rest)
  }
  return listEntries(keys, list)
}

/**
 * A key marker alone stands behind all versions of the key, and where it is a common prefix behind all keys of that; with
 * a version it stands behind that version, newest first.
 */
function isBehind(key: string, serial: number, list: ListVersionsRequest, place: number | undefined): boolean {
  const { keyMarker, prefix, delimiter } = list
  if (keyMarker === undefined) return true
  if (key === keyMarker && place !== undefined) return serial < place
  const at = delimiter === '' ? -1 : keyMarker.indexOf(delimiter, prefix.length)
  const isPrefix = keyMarker.startsWith(prefix) && at !== -1 && at + delimiter.length === keyMarker.length
  return byUtf8(key, keyMarker) > 0 && !(isPrefix && place === undefined && key.startsWith(keyMarker))
}

interface ListedVersion {
  readonly kind: string
  readonly key: string
  readonly id: string | undefined
  readonly rest: readonly unknown[]
}

function versionsIn({ text }: WireAnswer): ListedVersion[] {
  return [...text.matchAll(/<(Version|DeleteMarker)>([^]*?)<\/\1>/g)].map(([, kind = '', block = '']) => ({
    kind,
    key: decodedElement(block, 'Key') ?? '',
    id: firstElement(block, 'VersionId'),
    rest: ['IsLatest', 'LastModified', 'ETag', 'Size'].map((name) => firstElement(block, name)),
  }))
}

/** What an answer shows; ids that the model does not know are left out. */
function listedOf(answer: WireAnswer, { items, last }: Page): unknown {
  const versions = versionsIn(answer).map(({ kind, key, id, rest }, index) => {
    const isUnknown = items[index] !== undefined && items[index].item.id === undefined && id !== 'null'
    return [kind, key, isUnknown ? undefined : id, ...rest]
  })
  const { text } = answer
  const marker = firstElement(text, 'NextVersionIdMarker')
  const markers = [decodedElement(text, 'NextKeyMarker'), isFreelyNamed(last) ? marker !== undefined : marker]
  return [versions, listedPrefixes(text), firstElement(text, 'IsTruncated'), ...markers]
}

type Page = ReturnType<typeof pageOf<Version>>

/** The place behind a `null` version may be told by another id, which is good also when that version is replaced. */
function isFreelyNamed(last: Page['last']): boolean {
  return last !== undefined && 'item' in last && (last.item.id === undefined || last.item.id === 'null')
}

function expectedOf(bucket: Bucket, { items, prefixes, last, isTruncated }: Page): unknown {
  const versions = items.map(({ key, item }) => {
    const time = new Date(item.modified).toISOString()
    const isLatest = String(versionsOf(bucket, key)[0]?.serial === item.serial)
    const rest = item.isMarker ? [undefined, undefined] : [`"${item.etag}"`, String(item.bytes.length)]
    return [item.isMarker ? 'DeleteMarker' : 'Version', key, item.id, isLatest, time, ...rest]
  })
  const next = isTruncated ? markersAfter(last) : {}
  const marker = isFreelyNamed(last) ? isTruncated : next.versionIdMarker
  return [versions, prefixes, String(isTruncated), next.keyMarker, marker]
}

function markersAfter(last: ListEntry<Version> | undefined): VersionMarkers {
  if (last === undefined) return {}
  if ('prefix' in last) return { keyMarker: last.prefix }
  return { keyMarker: last.key, versionIdMarker: last.item.id, serial: last.item.serial }
}

/** The page that follows one, by the markers of its answer; undefined after the last. */
export function nextVersions(
  bucket: Bucket,
  list: ListVersionsRequest,
  answer: WireAnswer,
): ListVersionsRequest | undefined {
  const { last, isTruncated } = pageOf(entriesOf(bucket, list), list.maxKeys)
  if (!isTruncated) return undefined
  const { bucket: name, prefix, delimiter, maxKeys } = list
  const versionIdMarker = firstElement(answer.text, 'NextVersionIdMarker')
  return { bucket: name, prefix, delimiter, maxKeys, ...markersAfter(last), versionIdMarker }
}

/** The world with the ids that a page shows. The page was compared before: it has the versions of the model, in order. */
function withIds(world: World, name: string, answer: WireAnswer): World {
  let bucket = world.buckets.get(name)
  if (bucket === undefined) return world
  if (![...bucket.keys.values()].flat().some(({ id }) => id === undefined)) return world
  const listed = groupByKey(versionsIn(answer))
  for (const [key, versions] of bucket.keys) {
    const ids = listed.get(key)
    // A page may show a part of the versions; only a whole key tells which is which.
    if (ids?.length !== versions.length) continue
    bucket = withVersions(
      bucket,
      key,
      versions.map((version, index) => ({ ...version, id: version.id ?? ids[index]?.id })),
    )
  }
  return withBucket(world, name, bucket)
}
