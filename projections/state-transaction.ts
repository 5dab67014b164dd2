import type { BucketCreated, BucketDeleted, Change, ObjectDeleted, ObjectWritten } from '../engine/events/changes.ts'
import type { AppliedPosition, BucketState, ObjectState, StateTransaction } from '../engine/state-ports.ts'
import { numberKey } from './keys.ts'
import type { Tables } from './table-list.ts'
import { putApplied } from './tables/applied.ts'
import { noteBatch } from './tables/audit-index.ts'
import { getBucket, putBucket, removeBucket } from './tables/buckets.ts'
import { bucketHasObjects, encodeObject, getObject, objectKey, payloadOf, sizeOf } from './tables/objects.ts'
import { encodePayload, getPayload, type PayloadRow } from './tables/payloads.ts'
import {
  type BucketUsage,
  type FileUsage,
  getBucketUsage,
  getFileUsage,
  getVolumeUsage,
  putBucketUsage,
  putFileUsage,
  putVolumeUsage,
  type VolumeUsage,
} from './tables/usage.ts'

/**
 * One write transaction over the tables: what the rules read, and what entries do to the rows. The same code runs when
 * a change is made and when it is replayed, so that both give the same rows.
 */
export class TableTransaction implements StateTransaction {
  readonly releasedFiles: string[] = []
  readonly #tables: Tables
  /** Counters that every entry of the transaction touches are added up here and written once. */
  readonly #bucketUsage = new Map<number, BucketUsage>()
  readonly #volumeUsage = new Map<number, VolumeUsage>()
  #fileUsage: FileUsage | undefined

  constructor(tables: Tables) {
    this.#tables = tables
  }

  bucket(name: string): BucketState | undefined {
    return getBucket(this.#tables.buckets, name)
  }

  object(bucketId: number, key: string): ObjectState | undefined {
    return getObject(this.#tables.objects, bucketId, key)
  }

  bucketIsEmpty(bucketId: number): boolean {
    return !bucketHasObjects(this.#tables.objects, bucketId)
  }

  apply(sequence: number, timeMicroseconds: number, changes: readonly Change[]): void {
    for (const change of changes) this.#applyOne(sequence, timeMicroseconds, change)
  }

  finish(position: AppliedPosition, firstSequence: number): void {
    noteBatch(this.#tables.auditIndex, firstSequence, position)
    this.flushCounters()
    putApplied(this.#tables.applied, position)
  }

  /** Writes the counters that were added up. */
  flushCounters(): void {
    for (const [bucketId, usage] of this.#bucketUsage) putBucketUsage(this.#tables.bucketUsage, bucketId, usage)
    for (const [volume, usage] of this.#volumeUsage) putVolumeUsage(this.#tables.volumeUsage, volume, usage)
    if (this.#fileUsage !== undefined) putFileUsage(this.#tables.fileUsage, this.#fileUsage)
    this.#fileUsage = undefined
    this.#bucketUsage.clear()
    this.#volumeUsage.clear()
  }

  #applyOne(sequence: number, timeMicroseconds: number, change: Change): void {
    switch (change.name) {
      case 'bucket.created':
        return this.#bucketCreated(timeMicroseconds, change)
      case 'bucket.deleted':
        return this.#bucketDeleted(change)
      case 'object.written':
        return this.#objectWritten(sequence, timeMicroseconds, change)
      case 'object.deleted':
        return this.#objectDeleted(change)
      case 'journal.recovered':
      case 'server.started':
      case 'server.stopped':
        return
    }
  }

  #bucketCreated(timeMicroseconds: number, change: BucketCreated): void {
    const { bucketId: id, bucket: name, region } = change
    putBucket(this.#tables.buckets, { id, name, region, createdMicroseconds: timeMicroseconds })
  }

  #bucketDeleted(change: BucketDeleted): void {
    removeBucket(this.#tables.buckets, change.bucket)
    this.#bucketUsage.delete(change.bucketId)
    this.#tables.bucketUsage.remove(numberKey(change.bucketId))
  }

  #objectWritten(sequence: number, modifiedMicroseconds: number, change: ObjectWritten): void {
    const { size, etag, digest, headers, metadata } = change
    // The new reference is taken before the old one is given back: a copy onto itself must not drop its own payload.
    const payload = this.#takePayload(change.payload)
    const row = objectKey(change.bucketId, change.key)
    const usage = this.#usageOf(change.bucketId)
    const before = change.replaced ? this.#tables.objects.get(row) : undefined
    if (before !== undefined) {
      usage.objects -= 1
      usage.bytes -= sizeOf(before)
      this.#releasePayload(payloadOf(before))
    }
    usage.objects += 1
    usage.bytes += size
    const object = { sequence, modifiedMicroseconds, size, etag, digest, headers, metadata, payload }
    this.#tables.objects.put(row, encodeObject(object))
  }

  #objectDeleted(change: ObjectDeleted): void {
    const row = objectKey(change.bucketId, change.key)
    const before = this.#tables.objects.get(row)
    if (before === undefined) return
    const usage = this.#usageOf(change.bucketId)
    usage.objects -= 1
    usage.bytes -= sizeOf(before)
    this.#releasePayload(payloadOf(before))
    this.#tables.objects.remove(row)
  }

  /** Counts a reference to a payload, new or shared, and returns its id; 0 when there are no bytes. */
  #takePayload(reference: ObjectWritten['payload']): number {
    if (reference === undefined) return 0
    const { payloads, payloadFiles } = this.#tables
    const key = numberKey(reference.payload)
    if (reference.kind === 'shared') {
      const row = getPayload(payloads, reference.payload)
      if (row === undefined) throw new Error(`payload ${reference.payload} is shared but not there`)
      payloads.put(key, encodePayload({ ...row, references: row.references + 1 }))
      return reference.payload
    }
    payloads.put(key, encodePayload({ references: 1, location: reference }))
    if (reference.kind === 'file') {
      payloadFiles.put(Buffer.from(reference.name, 'ascii'), key)
      const usage = this.#filesOf()
      usage.files += 1
      usage.bytes += reference.length
    } else {
      const usage = this.#volumeUsageOf(reference.volume)
      usage.end = Math.max(usage.end, reference.offset + reference.length)
      usage.payloads += 1
      usage.bytes += reference.length
    }
    return reference.payload
  }

  #releasePayload(payload: number): void {
    if (payload === 0) return
    const row = getPayload(this.#tables.payloads, payload)
    if (row === undefined) throw new Error(`payload ${payload} is released but not there`)
    const key = numberKey(payload)
    if (row.references > 1) {
      this.#tables.payloads.put(key, encodePayload({ ...row, references: row.references - 1 }))
      return
    }
    this.#tables.payloads.remove(key)
    this.#forget(row)
  }

  #forget({ location }: PayloadRow): void {
    if (location.kind === 'file') {
      this.#tables.payloadFiles.remove(Buffer.from(location.name, 'ascii'))
      this.releasedFiles.push(location.name)
      const files = this.#filesOf()
      files.files -= 1
      files.bytes -= location.length
      return
    }
    const usage = this.#volumeUsageOf(location.volume)
    usage.payloads -= 1
    usage.bytes -= location.length
  }

  #filesOf(): FileUsage {
    this.#fileUsage ??= getFileUsage(this.#tables.fileUsage)
    return this.#fileUsage
  }

  #usageOf(bucketId: number): BucketUsage {
    let usage = this.#bucketUsage.get(bucketId)
    if (usage === undefined) {
      usage = getBucketUsage(this.#tables.bucketUsage, bucketId)
      this.#bucketUsage.set(bucketId, usage)
    }
    return usage
  }

  #volumeUsageOf(volume: number): VolumeUsage {
    let usage = this.#volumeUsage.get(volume)
    if (usage === undefined) {
      usage = getVolumeUsage(this.#tables.volumeUsage, volume)
      this.#volumeUsage.set(volume, usage)
    }
    return usage
  }
}
