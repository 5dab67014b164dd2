import type {
  MarkerWritten,
  ObjectDeleted,
  ObjectWritten,
  VersionDeleted,
  VersionLocked,
  VersionPlace,
} from '../engine/events/changes.ts'
import type { ObjectState } from '../engine/state-ports.ts'
import type { Counters } from './counters.ts'
import type { PayloadLedger } from './payload-ledger.ts'
import type { Tables } from './table-list.ts'
import { putLock, removeLock } from './tables/locks.ts'
import { decodeObject, encodeObject, objectKey } from './tables/objects.ts'
import { putVersion, takeVersion } from './tables/versions.ts'

const NO_DIGEST = new Uint8Array(32)
const NO_ETAG = '0'.repeat(32)

/** What entries do to the versions of keys: which one is current, which ones stand behind it. */
export class VersionRows {
  readonly #tables: Tables
  readonly #counters: Counters
  readonly #payloads: PayloadLedger

  constructor(tables: Tables, counters: Counters, payloads: PayloadLedger) {
    this.#tables = tables
    this.#counters = counters
    this.#payloads = payloads
  }

  written(sequence: number, modifiedMicroseconds: number, change: ObjectWritten): void {
    const { bucketId, key, size, etag, digest, headers, metadata, version, lock } = change
    // The new reference is taken before an old one is given back: a copy onto itself must not drop its own payload.
    const payload = this.#payloads.take(change.payload)
    const isNull = version?.isNull ?? true
    // The row of the current object is not removed: the new one is written over it.
    if (version !== undefined) this.#makeRoom(bucketId, key, version)
    else if (change.replaced) this.#destroyCurrent(bucketId, key, this.#current(bucketId, key))
    const state = { isNull, isMarker: false, digest, headers, metadata, payload, lock }
    this.#putCurrent(bucketId, key, { ...state, sequence, modifiedMicroseconds, size, etag })
    if (lock !== undefined) putLock(this.#tables.locks, bucketId, key, sequence, lock)
  }

  markerWritten(sequence: number, modifiedMicroseconds: number, change: MarkerWritten): void {
    const { bucketId, key, version } = change
    if (this.#makeRoom(bucketId, key, version)) this.#tables.objects.remove(objectKey(bucketId, key))
    const nothing = {
      size: 0,
      etag: NO_ETAG,
      digest: NO_DIGEST,
      headers: [],
      metadata: [],
      payload: 0,
      lock: undefined,
    }
    const marker = { sequence, modifiedMicroseconds, isNull: version.isNull, isMarker: true, ...nothing }
    putVersion(this.#tables, bucketId, key, marker)
    this.#counters.bucket(bucketId).markers += 1
  }

  /** The object of a bucket without versioning. */
  deleted({ bucketId, key }: ObjectDeleted): void {
    this.#destroyCurrent(bucketId, key, this.#current(bucketId, key))
    this.#tables.objects.remove(objectKey(bucketId, key))
  }

  versionDeleted({ bucketId, key, version, promotes }: VersionDeleted): void {
    const current = this.#current(bucketId, key)
    if (current?.sequence === version) {
      this.#destroyCurrent(bucketId, key, current)
      if (promotes === 0) this.#tables.objects.remove(objectKey(bucketId, key))
    } else {
      this.#dropNoncurrent(bucketId, key, version)
    }
    if (promotes === 0) return
    const promoted = takeVersion(this.#tables, bucketId, key, promotes)
    if (promoted === undefined) throw new Error(`version ${promotes} is promoted but not there`)
    this.#countNoncurrent(bucketId, promoted, -1)
    this.#putCurrent(bucketId, key, promoted)
  }

  locked({ bucketId, key, version, lock }: VersionLocked): void {
    const current = this.#current(bucketId, key)
    const isCurrent = current?.sequence === version
    const before = isCurrent ? current : takeVersion(this.#tables, bucketId, key, version)
    if (before === undefined) throw new Error(`version ${version} is locked but not there`)
    if (isCurrent) this.#tables.objects.put(objectKey(bucketId, key), encodeObject({ ...before, lock }))
    else putVersion(this.#tables, bucketId, key, { ...before, lock })
    putLock(this.#tables.locks, bucketId, key, version, lock)
  }

  /**
   * The `null` version that is replaced goes; a current object that stays becomes noncurrent. The row of the current
   * object is left for the caller; the result tells whether there is one.
   */
  #makeRoom(bucketId: number, key: string, { replacesNull }: VersionPlace): boolean {
    const current = this.#current(bucketId, key)
    if (replacesNull !== 0 && current?.sequence === replacesNull) {
      this.#destroyCurrent(bucketId, key, current)
      return true
    }
    if (replacesNull !== 0) this.#dropNoncurrent(bucketId, key, replacesNull)
    if (current === undefined) return false
    this.#countCurrent(bucketId, current, -1)
    putVersion(this.#tables, bucketId, key, current)
    this.#countNoncurrent(bucketId, current, 1)
    return true
  }

  #current(bucketId: number, key: string): ObjectState | undefined {
    const value = this.#tables.objects.get(objectKey(bucketId, key))
    return value === undefined ? undefined : decodeObject(value)
  }

  #putCurrent(bucketId: number, key: string, object: ObjectState): void {
    this.#tables.objects.put(objectKey(bucketId, key), encodeObject(object))
    this.#countCurrent(bucketId, object, 1)
  }

  #countCurrent(bucketId: number, object: ObjectState, difference: 1 | -1): void {
    const usage = this.#counters.bucket(bucketId)
    usage.objects += difference
    usage.bytes += difference * object.size
  }

  /** What a current object holds is given back; its row is left for the caller. */
  #destroyCurrent(bucketId: number, key: string, current: ObjectState | undefined): void {
    if (current === undefined) return
    this.#countCurrent(bucketId, current, -1)
    this.#destroyed(bucketId, key, current)
  }

  #dropNoncurrent(bucketId: number, key: string, sequence: number): void {
    const version = takeVersion(this.#tables, bucketId, key, sequence)
    if (version === undefined) throw new Error(`version ${sequence} is removed but not there`)
    this.#countNoncurrent(bucketId, version, -1)
    this.#destroyed(bucketId, key, version)
  }

  #destroyed(bucketId: number, key: string, version: ObjectState): void {
    this.#payloads.release(version.payload)
    if (version.lock !== undefined) removeLock(this.#tables.locks, bucketId, key, version.sequence)
  }

  #countNoncurrent(bucketId: number, version: ObjectState, difference: 1 | -1): void {
    const usage = this.#counters.bucket(bucketId)
    if (version.isMarker) {
      usage.markers += difference
      return
    }
    usage.noncurrent += difference
    usage.noncurrentBytes += difference * version.size
  }
}
