import { type BucketId, type Microseconds, type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { LockState, VersionPlace } from '../../engine/events/values.ts'
import { hasOwnTime, type RecordTimes } from '../../engine/journal/record-times.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import type { Counters } from './counters.ts'
import type { PayloadLedger } from './payload-ledger.ts'
import { numberKey, readNumber } from '../keys.ts'
import { NEVER, putAge, removeAge } from '../tables/ages.ts'
import type { Tables } from '../tables/table-list.ts'
import { addLockChange, removeLockChanges } from '../tables/lock-changes.ts'
import { putLockEnd, removeLockEnd } from '../tables/ends.ts'
import { putLock, removeLock } from '../tables/locks.ts'
import { decodeObject, encodeObject, objectKey } from '../tables/objects.ts'
import { putVersion, takeVersion } from '../tables/versions.ts'

const NO_DIGEST = new Uint8Array(32)
const NO_ETAG = '0'.repeat(32)

/** The order time, where a version has to keep it in addition to the time of its writing. */
function agedOf(times: RecordTimes): Microseconds | undefined {
  return hasOwnTime(times) ? times.orderMicroseconds : undefined
}

interface LastRead {
  readonly bucketId: BucketId
  readonly key: string
  readonly row: Buffer
  readonly object: ObjectState | undefined
}

/** Applies changes to the versions of keys: which one is current, and which are noncurrent. */
export class VersionRows {
  readonly #tables: Tables
  readonly #counters: Counters
  readonly #payloads: PayloadLedger
  /** The current object read last: a change is judged by it, and then applied to it. */
  #last: LastRead | undefined

  constructor(tables: Tables, counters: Counters, payloads: PayloadLedger) {
    this.#tables = tables
    this.#counters = counters
    this.#payloads = payloads
  }

  /** The current object of a key; undefined also when the newest version is a delete marker. */
  current(bucketId: BucketId, key: string): ObjectState | undefined {
    if (this.#last?.bucketId === bucketId && this.#last.key === key) return this.#last.object
    const row = objectKey(bucketId, key)
    const value = this.#tables.objects.get(row)
    const object = value === undefined ? undefined : decodeObject(value)
    this.#last = { bucketId, key, row, object }
    return object
  }

  /** The row of a current object, which is about to change. */
  #takeRow(bucketId: BucketId, key: string): Buffer {
    const last = this.#last
    this.#last = undefined
    return last?.bucketId === bucketId && last.key === key ? last.row : objectKey(bucketId, key)
  }

  written(sequence: Sequence, times: RecordTimes, change: ChangeNamed<'object.written'>): void {
    const { orderMicroseconds, timeMicroseconds: modifiedMicroseconds } = times
    const { bucketId, key, version, lock, source } = change
    // The new reference is counted before an old one is dropped: a copy onto itself must not drop its own payload.
    const payload = this.#payloads.take(change.payload, bucketId)
    this.#countReceived(bucketId, source?.bucketId)
    // The row of the current object is not removed: the new one overwrites it.
    if (version !== undefined) this.#makeRoom(bucketId, key, version, orderMicroseconds)
    else if (change.replaced) this.#destroyCurrent(bucketId, key, this.current(bucketId, key))
    this.#putCurrent(bucketId, key, {
      sequence,
      isNull: version?.isNull ?? true,
      isMarker: false,
      modifiedMicroseconds,
      agedMicroseconds: agedOf(times),
      size: change.size,
      etag: change.etag,
      digest: change.digest,
      headers: change.headers,
      metadata: change.metadata,
      payload,
      lock,
      checksum: change.checksum,
      renamed: source?.token === undefined ? undefined : { token: source.token, key: source.key },
      noncurrentMicroseconds: undefined,
      revisitMicroseconds: undefined,
    })
    if (lock !== undefined) this.#putLock(bucketId, key, sequence, lock)
  }

  markerWritten(sequence: Sequence, times: RecordTimes, change: ChangeNamed<'marker.written'>): void {
    const { bucketId, key, version } = change
    const { orderMicroseconds, timeMicroseconds: modifiedMicroseconds } = times
    const hasCurrent = this.#makeRoom(bucketId, key, version, orderMicroseconds)
    if (hasCurrent) this.#removeObject(bucketId, key)
    const nothing = {
      size: 0,
      etag: NO_ETAG,
      digest: NO_DIGEST,
      headers: [],
      metadata: [],
      payload: undefined,
      lock: undefined,
      checksum: undefined,
    }
    const marker = { sequence, modifiedMicroseconds, isNull: version.isNull, isMarker: true, ...nothing }
    putVersion(this.#tables, bucketId, key, marker)
    this.#tables.markers.put(objectKey(bucketId, key), numberKey(sequence))
    this.#counters.buckets.of(bucketId).add('markers', 1)
  }

  /** Of a bucket without versioning. */
  deleted({ bucketId, key }: ChangeNamed<'object.deleted'>): void {
    this.#destroyCurrent(bucketId, key, this.current(bucketId, key))
    this.#removeObject(bucketId, key)
  }

  versionDeleted({ orderMicroseconds }: RecordTimes, change: ChangeNamed<'version.deleted'>): void {
    const { bucketId, key, version, promotes, uncovers } = change
    const current = this.current(bucketId, key)
    if (current?.sequence === version) {
      this.#destroyCurrent(bucketId, key, current)
      if (promotes === undefined) this.#removeObject(bucketId, key)
    } else {
      this.#dropNoncurrent(bucketId, key, version)
    }
    if (uncovers !== undefined) this.#uncover(bucketId, key, uncovers)
    if (promotes === undefined) return
    const promoted = takeVersion(this.#tables, bucketId, key, promotes)
    if (promoted === undefined) throw new Error(`version ${promotes} is promoted but not there`)
    removeAge(this.#tables.ages, bucketId, promoted)
    this.#countNoncurrent(bucketId, promoted, -1)
    // Rules may have passed the place of its age while it was noncurrent.
    const again = { noncurrentMicroseconds: undefined, revisitMicroseconds: orderMicroseconds }
    this.#putCurrent(bucketId, key, { ...promoted, ...again })
  }

  /** A held version is judged again: its lock may have been removed. */
  locked(sequence: Sequence, { orderMicroseconds }: RecordTimes, change: ChangeNamed<'version.locked'>): void {
    const { bucketId, key, version, lock } = change
    const current = this.current(bucketId, key)
    const isCurrent = current?.sequence === version
    const before = isCurrent ? current : takeVersion(this.#tables, bucketId, key, version)
    if (before === undefined) throw new Error(`version ${version} is locked but not there`)
    if (isCurrent) this.#putObject(bucketId, key, { ...before, lock })
    else {
      const isHeld = before.revisitMicroseconds !== undefined
      const after = isHeld ? this.#moveAge(bucketId, key, before, orderMicroseconds) : before
      putVersion(this.#tables, bucketId, key, { ...after, lock })
    }
    removeLockEnd(this.#tables.lockEnds, bucketId, version, before.lock)
    this.#putLock(bucketId, key, version, lock)
    addLockChange(this.#tables.lockChanges, bucketId, key, version, sequence)
  }

  tagged({ bucketId, key, version, tags: sent }: ChangeNamed<'version.tagged'>): void {
    const tags = sent.length === 0 ? undefined : sent
    const current = this.current(bucketId, key)
    if (current?.sequence === version) return this.#putObject(bucketId, key, { ...current, tags })
    const before = takeVersion(this.#tables, bucketId, key, version)
    if (before === undefined) throw new Error(`version ${version} is tagged but not there`)
    putVersion(this.#tables, bucketId, key, { ...before, tags })
  }

  #putLock(bucketId: BucketId, key: string, sequence: Sequence, lock: LockState): void {
    putLock(this.#tables.locks, bucketId, key, sequence, lock)
    putLockEnd(this.#tables.lockEnds, bucketId, key, sequence, lock)
  }

  /** Moves the version out of the order of age: lifecycle rules have passed its place there. */
  held({ bucketId, key, version, untilMicroseconds = NEVER }: ChangeNamed<'lifecycle.version-held'>): void {
    const current = this.current(bucketId, key)
    if (current?.sequence === version) {
      const held = this.#moveAge(bucketId, key, current, untilMicroseconds)
      this.#putObject(bucketId, key, held)
      return
    }
    const before = takeVersion(this.#tables, bucketId, key, version)
    if (before === undefined) throw new Error(`version ${version} is held but not there`)
    putVersion(this.#tables, bucketId, key, this.#moveAge(bucketId, key, before, untilMicroseconds))
  }

  #moveAge(bucketId: BucketId, key: string, before: ObjectState, revisitMicroseconds: Microseconds): ObjectState {
    removeAge(this.#tables.ages, bucketId, before)
    const after = { ...before, revisitMicroseconds }
    putAge(this.#tables.ages, bucketId, key, after)
    return after
  }

  /** A marker that was noncurrent is the newest of its key again. */
  #uncover(bucketId: BucketId, key: string, sequence: Sequence): void {
    const marker = takeVersion(this.#tables, bucketId, key, sequence)
    if (marker === undefined) throw new Error(`marker ${sequence} is uncovered but not there`)
    removeAge(this.#tables.ages, bucketId, marker)
    const newest = { noncurrentMicroseconds: undefined, revisitMicroseconds: undefined }
    putVersion(this.#tables, bucketId, key, { ...marker, ...newest })
    this.#tables.markers.put(objectKey(bucketId, key), numberKey(sequence))
  }

  /** A marker that was the newest of its key is not any more. */
  #cover(bucketId: BucketId, key: string, noncurrentMicroseconds: Microseconds): void {
    const row = objectKey(bucketId, key)
    const value = this.#tables.markers.get(row)
    if (value === undefined) return
    this.#tables.markers.remove(row)
    const marker = takeVersion(this.#tables, bucketId, key, sequenceOf(readNumber(value, 0)))
    if (marker === undefined) throw new Error(`the newest version of ${key} is a marker that is not there`)
    this.#putNoncurrent(bucketId, key, { ...marker, noncurrentMicroseconds })
  }

  #putNoncurrent(bucketId: BucketId, key: string, version: ObjectState): void {
    putVersion(this.#tables, bucketId, key, version)
    putAge(this.#tables.ages, bucketId, key, version)
  }

  /**
   * Removes the `null` version that is replaced; a current object that remains becomes noncurrent. The row of the current
   * object is left to the caller.
   * @returns whether there is such a row
   */
  #makeRoom(bucketId: BucketId, key: string, { replacesNull }: VersionPlace, time: Microseconds): boolean {
    const current = this.current(bucketId, key)
    if (replacesNull !== undefined && current?.sequence === replacesNull) {
      this.#destroyCurrent(bucketId, key, current)
      return true
    }
    if (replacesNull !== undefined) this.#dropNoncurrent(bucketId, key, replacesNull)
    if (current === undefined) {
      this.#cover(bucketId, key, time)
      return false
    }
    this.#countCurrent(bucketId, current, -1)
    removeAge(this.#tables.ages, bucketId, current)
    const passed = { noncurrentMicroseconds: time, revisitMicroseconds: undefined }
    this.#putNoncurrent(bucketId, key, { ...current, ...passed })
    this.#countNoncurrent(bucketId, current, 1)
    return true
  }

  #putObject(bucketId: BucketId, key: string, object: ObjectState): void {
    this.#tables.objects.put(this.#takeRow(bucketId, key), encodeObject(object))
  }

  #removeObject(bucketId: BucketId, key: string): void {
    this.#tables.objects.remove(this.#takeRow(bucketId, key))
  }

  #putCurrent(bucketId: BucketId, key: string, object: ObjectState): void {
    this.#putObject(bucketId, key, object)
    putAge(this.#tables.ages, bucketId, key, object)
    this.#countCurrent(bucketId, object, 1)
  }

  #countCurrent(bucketId: BucketId, object: ObjectState, difference: 1 | -1): void {
    const usage = this.#counters.buckets.of(bucketId)
    usage.add('objects', difference)
    usage.add('bytes', difference * object.size)
  }

  /** Releases the payload of a current object; its row is left to the caller. */
  #destroyCurrent(bucketId: BucketId, key: string, current: ObjectState | undefined): void {
    if (current === undefined) return
    this.#countCurrent(bucketId, current, -1)
    this.#destroyed(bucketId, key, current)
  }

  #dropNoncurrent(bucketId: BucketId, key: string, sequence: Sequence): void {
    const version = takeVersion(this.#tables, bucketId, key, sequence)
    if (version === undefined) throw new Error(`version ${sequence} is removed but not there`)
    if (version.isMarker && version.noncurrentMicroseconds === undefined) {
      this.#tables.markers.remove(objectKey(bucketId, key))
    }
    this.#countNoncurrent(bucketId, version, -1)
    this.#destroyed(bucketId, key, version)
  }

  #destroyed(bucketId: BucketId, key: string, version: ObjectState): void {
    removeAge(this.#tables.ages, bucketId, version)
    this.#payloads.release(version.payload)
    if (version.lock === undefined) return
    removeLock(this.#tables.locks, bucketId, key, version.sequence)
    removeLockEnd(this.#tables.lockEnds, bucketId, version.sequence, version.lock)
    removeLockChanges(this.#tables.lockChanges, bucketId, key, version.sequence)
  }

  /** A bucket that takes bytes from another may refer to as many as that one (spec/decisions/0020). */
  #countReceived(bucketId: BucketId, from: BucketId | undefined): void {
    const usage = this.#counters.buckets.of(bucketId)
    usage.add('receivedBytes', this.#payloads.takeReceived())
    if (from === undefined || from === bucketId) return
    usage.raise('receivedBytes', this.#counters.buckets.now(from).receivedBytes)
  }

  #countNoncurrent(bucketId: BucketId, version: ObjectState, difference: 1 | -1): void {
    const usage = this.#counters.buckets.of(bucketId)
    if (version.isMarker) {
      usage.add('markers', difference)
      return
    }
    usage.add('noncurrent', difference)
    usage.add('noncurrentBytes', difference * version.size)
  }
}
