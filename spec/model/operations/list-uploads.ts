/** ListMultipartUploads and ListParts, a page at a time. */
import { blocks, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { groupByKey, type ListEntry, listEntries, type ListFilter, pageOf } from '../naive-listing.ts'
import { type Operation, reading, refusals, targetOf } from '../expectation.ts'
import type { ModelBucket, ModelState, ModelUpload } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { decodedElement, isAfterMarker, listedPrefixes } from './list-entries.ts'
import { uploadOf, type UploadName } from './multipart.ts'

export interface UploadMarkers {
  readonly keyMarker?: string | undefined
  readonly uploadIdMarker?: string | undefined
  /** Place of the upload that the marker names. */
  readonly serial?: number | undefined
}

export interface ListUploadsRequest extends ListFilter, UploadMarkers {
  readonly bucket: string
  readonly maxUploads: number
}

export function listUploads(list: ListUploadsRequest): Operation {
  const { bucket: name, prefix, delimiter, maxUploads, keyMarker, uploadIdMarker } = list
  const query = {
    'encoding-type': 'url',
    prefix,
    delimiter: delimiter === '' ? undefined : delimiter,
    'max-uploads': maxUploads,
    'key-marker': keyMarker,
    'upload-id-marker': uploadIdMarker,
  }
  return {
    request: { method: 'GET', target: targetOf(name, undefined, query).replace('?', '?uploads&') },
    outcomes: onBucket(name, (world, bucket) => {
      const page = pageOf(entriesOf(world, bucket, list), maxUploads)
      const check = (answer: WireAnswer) => sameText(listedOf(answer, page.items), expectedOf(page))
      const next = (answer: WireAnswer | undefined) => (answer === undefined ? world : withIds(world, name, answer))
      return [{ pattern: { status: 200, check }, next }]
    }),
  }
}

/** The whole listing, which tells the ids of uploads whose creation was never answered. */
export function listAllUploads(bucket: string): Operation {
  return listUploads({ bucket, prefix: '', delimiter: '', maxUploads: 1000 })
}

/** With an upload a marker is after that upload, oldest first. */
function entriesOf(world: ModelState, bucket: ModelBucket, list: ListUploadsRequest): ListEntry<ModelUpload>[] {
  const marked = world.uploadsOf(bucket.id).find(({ id }) => id !== undefined && id === list.uploadIdMarker)
  // Another world may have numbered the upload differently.
  const serial = marked?.upload ?? list.serial
  const isAfter = (upload: number) => (serial === undefined ? undefined : upload > serial)
  const rest = world.uploadsOf(bucket.id).filter(({ key, upload }) => isAfterMarker(list, key, isAfter(upload)))
  return listEntries(groupByKey(rest), list)
}

interface ListedUpload {
  readonly key: string
  readonly id: string | undefined
  readonly initiated: string | undefined
}

function uploadsIn({ text }: WireAnswer): ListedUpload[] {
  return blocks(text, 'Upload').map((block) => ({
    key: decodedElement(block, 'Key') ?? '',
    id: firstElement(block, 'UploadId'),
    initiated: firstElement(block, 'Initiated'),
  }))
}

function listedOf(answer: WireAnswer, expected: readonly { readonly item: ModelUpload }[]): unknown {
  const uploads = uploadsIn(answer).map(({ key, id, initiated }, index) => {
    const isUnknown = expected[index] !== undefined && expected[index].item.id === undefined
    return [key, isUnknown ? undefined : id, initiated]
  })
  return [uploads, listedPrefixes(answer.text), firstElement(answer.text, 'IsTruncated')]
}

function expectedOf({ items, prefixes, isTruncated }: ReturnType<typeof pageOf<ModelUpload>>): unknown {
  const uploads = items.map(({ key, item }) => [key, item.id, new Date(item.created).toISOString()])
  return [uploads, prefixes, String(isTruncated)]
}

/** The page that follows one, in a world whose ids are known; undefined after the last. */
export function nextUploads(
  world: ModelState,
  bucket: ModelBucket,
  list: ListUploadsRequest,
): ListUploadsRequest | undefined {
  const { last, isTruncated } = pageOf(entriesOf(world, bucket, list), list.maxUploads)
  const { bucket: name, prefix, delimiter, maxUploads } = list
  if (!isTruncated || last === undefined) return undefined
  const same = { bucket: name, prefix, delimiter, maxUploads }
  if ('prefix' in last) return { ...same, keyMarker: last.prefix }
  return { ...same, keyMarker: last.key, uploadIdMarker: last.item.id, serial: last.item.upload }
}

/** The world with the ids that a whole listing shows, uploads of a key in the order of their creation. */
function withIds(world: ModelState, name: string, answer: WireAnswer): ModelState {
  const named = world.copy()
  const all = named.uploadsOf(named.buckets.get(name)?.id ?? 0)
  const listed = uploadsIn(answer)
  if (all.every(({ id }) => id !== undefined) || listed.length !== all.length) return world
  const ids = groupByKey(listed)
  for (const upload of all) upload.id = ids.get(upload.key)?.shift()?.id
  return named
}

export interface ListPartsRequest extends UploadName {
  readonly maxParts: number
  readonly marker: number
}

export function listParts(list: ListPartsRequest): Operation {
  const { bucket: name, key, uploadId, maxParts, marker } = list
  const query = { uploadId, 'max-parts': maxParts, 'part-number-marker': marker === 0 ? undefined : marker }
  return {
    request: { method: 'GET', target: targetOf(name, key, query) },
    outcomes: onBucket(name, (world, bucket) => {
      const upload = uploadOf(world, bucket, list)
      if (upload === undefined) return refusals(world, ['NoSuchUpload'])
      const parts = [...upload.parts].filter(([number]) => number > marker).sort(([left], [right]) => left - right)
      const shown = parts.slice(0, maxParts)
      const isTruncated = maxParts > 0 && parts.length > maxParts
      const expected = [
        shown.map(([number, { etag, size, modified }]) => [
          String(number),
          `"${etag}"`,
          String(size),
          new Date(modified).toISOString(),
        ]),
        String(isTruncated),
        isTruncated ? String(shown.at(-1)?.[0]) : undefined,
      ]
      return reading(world, { status: 200, check: (answer) => sameText(partsIn(answer, isTruncated), expected) })
    }),
  }
}

/** Servers may name a next part also where there is none. */
function partsIn({ text }: WireAnswer, isTruncated: boolean): unknown {
  const parts = blocks(text, 'Part').map((block) =>
    ['PartNumber', 'ETag', 'Size', 'LastModified'].map((name) => firstElement(block, name)),
  )
  const next = isTruncated ? firstElement(text, 'NextPartNumberMarker') : undefined
  return [parts, firstElement(text, 'IsTruncated'), next]
}
