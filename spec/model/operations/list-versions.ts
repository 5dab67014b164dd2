/** ListObjectVersions, a page at a time. */
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { groupByKey, type ListEntry, listEntries, type ListFilter, pageOf } from '../naive-listing.ts'
import { type Operation, refusals, targetOf } from '../expectation.ts'
import { type ModelBucket, type ModelState, type ModelVersion, wireId } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { versionNamed } from './by-rules.ts'
import { decodedElement, isAfterMarker, listedPrefixes } from './list-entries.ts'

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
      if (versionIdMarker === 'null' && nullVersion(world, bucket, keyMarker) === undefined) {
        return refusals(world, ['InvalidArgument'])
      }
      const page = pageOf(entriesOf(world, bucket, list), maxKeys)
      const check = (answer: WireAnswer) => sameText(listedOf(answer, page), expectedOf(world, bucket, page))
      const next = (answer: WireAnswer | undefined) => (answer === undefined ? world : withIds(world, name, answer))
      return [{ pattern: { status: 200, check }, next }]
    }),
  }
}

/** The version that `null` names, which must be there to be a marker: its id does not tell its place. */
function nullVersion(world: ModelState, bucket: ModelBucket, key: string | undefined): ModelVersion | undefined {
  return versionNamed(world, bucket, key ?? '', 'null')
}

/** The whole listing, which tells the ids of versions whose writes were never answered. */
export function listAllVersions(bucket: string): Operation {
  return listVersions({ bucket, prefix: '', delimiter: '', maxKeys: 1000 })
}

/** With a version a marker is after that version, newest first. */
function entriesOf(world: ModelState, bucket: ModelBucket, list: ListVersionsRequest): ListEntry<ModelVersion>[] {
  const { keyMarker, versionIdMarker } = list
  const marked = versionIdMarker && versionNamed(world, bucket, keyMarker ?? '', versionIdMarker)?.sequence
  // Another world may have numbered the version differently; one that is gone tells no place.
  const place = versionIdMarker === 'null' ? nullVersion(world, bucket, keyMarker)?.sequence : marked || list.serial
  const keys = new Map<string, ModelVersion[]>()
  for (const [key, versions] of bucket.keys) {
    const isAfter = ({ sequence }: ModelVersion) => (place === undefined ? undefined : sequence < place)
    const rest = versions.filter((version) => isAfterMarker(list, key, isAfter(version)))
    if (rest.length > 0) keys.set(key, rest)
  }
  return listEntries(keys, list)
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
    const isUnknown = items[index] !== undefined && wireId(items[index].item) === undefined && id !== 'null'
    return [kind, key, isUnknown ? undefined : id, ...rest]
  })
  const { text } = answer
  const marker = firstElement(text, 'NextVersionIdMarker')
  const markers = [decodedElement(text, 'NextKeyMarker'), isFreelyNamed(last) ? marker !== undefined : marker]
  return [versions, listedPrefixes(text), firstElement(text, 'IsTruncated'), ...markers]
}

type Page = ReturnType<typeof pageOf<ModelVersion>>

/** The place behind a `null` version may be told by another id, which is good also when that version is replaced. */
function isFreelyNamed(last: Page['last']): boolean {
  return last !== undefined && 'item' in last && (last.item.id === undefined || last.item.isNull)
}

function expectedOf(world: ModelState, bucket: ModelBucket, { items, prefixes, last, isTruncated }: Page): unknown {
  const versions = items.map(({ key, item }) => {
    const time = new Date(item.modified).toISOString()
    const isLatest = String(world.versions(bucket, key)[0] === item)
    const rest = item.isMarker ? [undefined, undefined] : [`"${item.etag}"`, String(item.size)]
    return [item.isMarker ? 'DeleteMarker' : 'Version', key, wireId(item), isLatest, time, ...rest]
  })
  const next = isTruncated ? markersAfter(last) : {}
  const marker = isFreelyNamed(last) ? isTruncated : next.versionIdMarker
  return [versions, prefixes, String(isTruncated), next.keyMarker, marker]
}

function markersAfter(last: ListEntry<ModelVersion> | undefined): VersionMarkers {
  if (last === undefined) return {}
  if ('prefix' in last) return { keyMarker: last.prefix }
  return { keyMarker: last.key, versionIdMarker: wireId(last.item), serial: last.item.sequence }
}

/** The page that follows one, by the markers of its answer; undefined after the last. */
export function nextVersions(
  world: ModelState,
  bucket: ModelBucket,
  list: ListVersionsRequest,
  answer: WireAnswer,
): ListVersionsRequest | undefined {
  const { last, isTruncated } = pageOf(entriesOf(world, bucket, list), list.maxKeys)
  if (!isTruncated) return undefined
  const { bucket: name, prefix, delimiter, maxKeys } = list
  const versionIdMarker = firstElement(answer.text, 'NextVersionIdMarker')
  return { bucket: name, prefix, delimiter, maxKeys, ...markersAfter(last), versionIdMarker }
}

/** The world with the ids that a page shows. The page was compared before: it has the versions of the model, in order. */
function withIds(world: ModelState, name: string, answer: WireAnswer): ModelState {
  if (world.everyVersion.every(({ version }) => wireId(version) !== undefined)) return world
  const named = world.copy()
  const listed = groupByKey(versionsIn(answer))
  for (const [key, versions] of named.buckets.get(name)?.keys ?? []) {
    const ids = listed.get(key)
    // A page may show a part of the versions; only a whole key tells which is which.
    if (ids?.length !== versions.length) continue
    for (const [index, version] of versions.entries()) named.learn(version, ids[index]?.id)
  }
  return named
}
