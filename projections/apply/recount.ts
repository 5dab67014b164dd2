import { uploadIdOf } from '../../engine/brands.ts'
import type { PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import { numberKey, readNumber } from '../keys.ts'
import type { Table } from '../lmdb-environment.ts'
import { decodeObject } from '../tables/objects.ts'
import { decodePayload, isPlaced } from '../tables/payloads.ts'
import type { CountRows, CountsOf } from '../tables/row-codecs.ts'
import type { Tables } from '../tables/table-list.ts'
import type { Counts } from '../tables/tally.ts'
import { partsOf, sizeOfPart } from '../tables/uploads.ts'
import { orderOf } from '../tables/version-keys.ts'
import { bucketUsage, fileUsage, uploadUsage, volumeUsage } from '../tables/usage.ts'

/** It is in no row, but is at least what there is. */
const RECEIVED = 'receivedBytes'

/** Counters that could not be right, with the right numbers from the rows. */
export interface Recounted {
  /** Such as `bucket 17`, which is the id of the bucket. */
  readonly counters: string
  readonly found: Readonly<Counts<string>>
  readonly counted: Readonly<Counts<string>>
}

/**
 * Counts again every row of counters with one below 0. A fault left it, of a version or of the disk: it is reported, and is no
 * reason to stop. In a write transaction. Reads the few rows of counters, and where one is wrong all rows that it counts.
 */
export function recountWrong(tables: Tables): Recounted[] {
  return [
    ...corrected(
      tables.bucketUsage,
      bucketUsage,
      (key) => `bucket ${readNumber(key, 0)}`,
      (key) => ofBucket(tables, key),
    ),
    ...corrected(
      tables.volumeUsage,
      volumeUsage,
      (key) => `volume ${readNumber(key, 0)}`,
      (key) => ofVolume(tables, key),
    ),
    ...corrected(tables.fileUsage, fileUsage, String, () => ofFiles(tables)),
    ...corrected(tables.uploadUsage, uploadUsage, String, () => ofUploads(tables)),
  ]
}

function corrected<F extends string, Id extends unknown[]>(
  table: Table,
  rows: CountRows<F, Id>,
  nameOf: (key: Buffer) => string,
  count: (key: Buffer) => Record<F, bigint>,
): Recounted[] {
  const recounted: Recounted[] = []
  for (const { key, value } of Array.from(table.rows({}))) {
    const tally = rows.tallyOf(value)
    if (!tally.isWrong) continue
    const found = { ...tally.counts }
    for (const [field, counted] of Object.entries<bigint>(count(key))) {
      const isKept = field === RECEIVED && tally.exactly(field as F) >= counted
      if (!isKept) tally.recount(field as F, counted)
    }
    table.put(key, tally.encode())
    recounted.push({ counters: nameOf(key), found, counted: { ...tally.counts } })
  }
  return recounted
}

type Counted<R> = Record<keyof CountsOf<R>, bigint>

function ofBucket({ objects, versions, uploads, parts }: Tables, bucket: Buffer): Counted<typeof bucketUsage> {
  const counted = { objects: 0n, bytes: 0n, noncurrent: 0n, noncurrentBytes: 0n, markers: 0n, uploadBytes: 0n }
  const range = { start: bucket, end: numberKey(readNumber(bucket, 0) + 1) }
  for (const { value } of objects.rows(range)) {
    counted.objects += 1n
    counted.bytes += BigInt(decodeObject(value).size)
  }
  for (const { value } of versions.rows(range)) {
    const { isMarker, size } = decodeObject(value)
    counted[isMarker ? 'markers' : 'noncurrent'] += 1n
    if (!isMarker) counted.noncurrentBytes += BigInt(size)
  }
  for (const upload of uploads.keys(range)) {
    for (const { size } of partsOf(parts, uploadIdOf(orderOf(upload)))) counted.uploadBytes += BigInt(size)
  }
  return { ...counted, [RECEIVED]: counted.bytes + counted.noncurrentBytes + counted.uploadBytes }
}

function ofVolume(tables: Tables, volume: Buffer): Counted<typeof volumeUsage> {
  const counted = { end: 0n, payloads: 0n, bytes: 0n }
  for (const location of placed(tables)) {
    if (location.kind !== 'volume' || location.volume !== readNumber(volume, 0)) continue
    const end = BigInt(location.offset + location.length)
    if (end > counted.end) counted.end = end
    counted.payloads += 1n
    counted.bytes += BigInt(location.length)
  }
  return counted
}

function ofFiles(tables: Tables): Counted<typeof fileUsage> {
  const counted = { files: 0n, bytes: 0n }
  for (const location of placed(tables)) {
    if (location.kind !== 'file') continue
    counted.files += 1n
    counted.bytes += BigInt(location.length)
  }
  return counted
}

/** Where payloads are that have bytes of their own. */
function* placed({ payloads }: Tables): Generator<PayloadLocation> {
  for (const { value } of payloads.rows({})) if (isPlaced(value)) yield decodePayload(payloads, value).location
}

function ofUploads({ uploads, parts }: Tables): Counted<typeof uploadUsage> {
  const counted = { uploads: BigInt(uploads.count()), parts: 0n, bytes: 0n }
  for (const { value } of parts.rows({})) {
    counted.parts += 1n
    counted.bytes += BigInt(sizeOfPart(value))
  }
  return counted
}
