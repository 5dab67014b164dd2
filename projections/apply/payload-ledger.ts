import type { BucketId, PayloadId, Sequence, VolumeNumber } from '../../engine/brands.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { PayloadReference } from '../../engine/events/values.ts'
import type { PartList, PartsLocation, PayloadLocation } from '../../engine/payloads/payload-reader.ts'
import type { Counters } from './counters.ts'
import { numberKey, readNumber } from '../keys.ts'
import { putPendingDigest, removePendingDigest } from '../tables/digests.ts'
import type { Tables } from '../tables/table-list.ts'
import {
  decodePayload,
  encodePayload,
  getPayload,
  type PayloadRow,
  REFERENCES_MAXIMUM,
  referencesOf,
  setReferences,
} from '../tables/payloads.ts'

/** Maximum own parts before they are folded into the base; the square root of the total limit. */
const APPENDED_MAXIMUM = 100

/** One payload as a list of parts. */
function listOf(payload: PayloadId, size: number): PartList {
  return { count: 1, payload: () => payload, size: () => size, checksum: () => undefined }
}

/** Payloads of the parts that a payload does not have from its base. */
function* ownPayloads({ base, parts }: PartsLocation): Generator<PayloadId | undefined> {
  for (let index = base?.count ?? 0; index < parts.count; index += 1) yield parts.payload(index)
}

/** Counts references to payloads and keeps where their bytes are. A payload without a reference is forgotten. */
export class PayloadLedger {
  /** Payload files that lost their last reference. */
  readonly releasedFiles: string[] = []
  readonly removedVolumes: VolumeNumber[] = []
  readonly #tables: Tables
  readonly #counters: Counters
  #receivedBytes = 0
  #rowsTouched = 0

  constructor(tables: Tables, counters: Counters) {
    this.#tables = tables
    this.#counters = counters
  }

  /**
   * Counts a reference to a payload, new or shared, and returns its id; undefined without bytes.
   * @param bucketId of the version that has it: a payload of parts is hashed for the bucket of its first version
   */
  take(reference: PayloadReference | undefined, bucketId?: BucketId): PayloadId | undefined {
    if (reference === undefined) return undefined
    const { payload } = reference
    if (reference.kind === 'shared') {
      this.#refer(payload, 1, bucketId)
    } else {
      this.#put(payload, { references: 1, location: reference })
      this.#count(reference, payload)
      this.#receivedBytes += reference.length
    }
    return payload
  }

  /** How many payloads got or lost references: the cost of an entry. */
  get rowsTouched(): number {
    return this.#rowsTouched
  }

  /** Bytes stored since the last call, without copies. */
  takeReceived(): number {
    const received = this.#receivedBytes
    this.#receivedBytes = 0
    return received
  }

  /** Drops a reference; with the last one the payload is forgotten, and its parts drop theirs. Of too many to count none is. */
  release(payload: PayloadId | undefined): void {
    if (payload !== undefined) this.#refer(payload, -1)
  }

  /** Drops a reference for each of these payloads; a payload that occurs more than once is written once. */
  releaseAll(payloads: Iterable<PayloadId | undefined>): void {
    const counts = new Map<PayloadId, number>()
    for (const payload of payloads) if (payload !== undefined) counts.set(payload, (counts.get(payload) ?? 0) + 1)
    for (const [payload, count] of counts) this.#refer(payload, -count)
  }

  /** @param bucketId of the first reference to a payload of parts */
  #refer(payload: PayloadId, difference: number, bucketId?: BucketId): void {
    this.#rowsTouched += 1
    const key = numberKey(payload)
    const row = this.#tables.payloads.get(key)
    if (row === undefined) throw new Error(`payload ${payload} is not there`)
    const before = referencesOf(row)
    // A row that counts no further keeps its payload for ever.
    const isKept = before === REFERENCES_MAXIMUM
    const references = isKept ? before : Math.min(before + difference, REFERENCES_MAXIMUM)
    if (before === 0 && bucketId !== undefined) this.#awaitDigest(payload, row, bucketId)
    if (references > 0) {
      setReferences(row, references)
      this.#tables.payloads.put(key, row)
    } else {
      this.#forget(payload, decodePayload(this.#tables.payloads, row).location)
    }
  }

  /** Moves the references of an upload's parts to one payload of parts, to which nothing refers yet. */
  compose(payload: PayloadId, completion: Sequence, length: number, parts: PartList): void {
    this.#put(payload, { references: 0, location: { kind: 'parts', length, completion, digest: undefined, parts } })
  }

  /**
   * Makes one payload of an earlier payload and a new part; nothing refers to it yet. It shares the earlier payload's
   * parts one by one, and once they are many the payload as a whole: so appends take constant time.
   */
  append(completion: Sequence, { payload, base, offset, part, size }: ChangeNamed<'payload.appended'>): void {
    const { location } = this.#require(base)
    const before = location.kind === 'parts' ? location.parts : listOf(base, offset)
    const inner = location.kind === 'parts' ? location.base : undefined
    const isFull = before.count - (inner?.count ?? 0) >= APPENDED_MAXIMUM
    const shared = isFull ? { payload: base, count: before.count } : inner
    this.#share(shared?.payload)
    for (let index = shared?.count ?? 0; index < before.count; index += 1) this.#share(before.payload(index))
    const added = this.take(part)
    const parts: PartList = {
      count: before.count + 1,
      payload: (index) => (index < before.count ? before.payload(index) : added),
      size: (index) => (index < before.count ? before.size(index) : size),
      checksum: () => undefined,
    }
    const length = offset + size
    this.#put(payload, {
      references: 0,
      location: { kind: 'parts', length, completion, digest: undefined, parts, base: shared },
    })
  }

  #share(payload: PayloadId | undefined): void {
    if (payload !== undefined) this.take({ kind: 'shared', payload })
  }

  #awaitDigest(payload: PayloadId, row: Buffer, bucketId: BucketId): void {
    const { location } = decodePayload(this.#tables.payloads, row)
    if (location.kind === 'parts') putPendingDigest(this.#tables, { bucketId, payload }, location.length)
  }

  digested(payload: PayloadId, digest: Uint8Array): void {
    const { references, location } = this.#require(payload)
    if (location.kind !== 'parts') throw new Error(`payload ${payload} has no parts to be digested`)
    this.#put(payload, { references, location: { ...location, digest } })
    removePendingDigest(this.#tables, payload, location.length)
  }

  /** The bytes are in another place; their length and checksum are unchanged. */
  move({ payload, volume, offset }: ChangeNamed<'payload.moved'>): void {
    const { references, location } = this.#require(payload)
    if (location.kind !== 'volume') throw new Error(`payload ${payload} is in no volume`)
    this.#discount(location)
    const moved = { ...location, volume, offset }
    this.#put(payload, { references, location: moved })
    this.#count(moved, payload)
  }

  volumeIsSpent(volume: VolumeNumber): boolean {
    // The newest volume is still written. A volume newer than every row was created in this batch.
    for (const { key } of this.#tables.volumeUsage.rows({ reverse: true, limit: 1 })) {
      return (
        volume < readNumber(key, 0) &&
        this.#tables.volumeUsage.get(numberKey(volume)) !== undefined &&
        this.#counters.volumes.now(volume).payloads === 0
      )
    }
    return false
  }

  volumeRemoved(volume: VolumeNumber): void {
    this.#counters.volumes.remove(volume)
    this.removedVolumes.push(volume)
  }

  #require(payload: PayloadId): PayloadRow {
    const row = getPayload(this.#tables.payloads, payload)
    if (row === undefined) throw new Error(`payload ${payload} is not there`)
    return row
  }

  #put(payload: PayloadId, row: PayloadRow): void {
    this.#tables.payloads.put(numberKey(payload), encodePayload(row))
  }

  #count(location: Exclude<PayloadLocation, { kind: 'parts' }>, payload: PayloadId): void {
    if (location.kind === 'file') {
      this.#tables.payloadFiles.put(Buffer.from(location.name, 'ascii'), numberKey(payload))
      const { files } = this.#counters
      files.add('files', 1)
      files.add('bytes', location.length)
      return
    }
    const usage = this.#counters.volumes.of(location.volume)
    usage.raise('end', location.offset + location.length)
    usage.add('payloads', 1)
    usage.add('bytes', location.length)
  }

  #discount(location: Extract<PayloadLocation, { kind: 'volume' }>): void {
    const usage = this.#counters.volumes.of(location.volume)
    usage.add('payloads', -1)
    usage.add('bytes', -location.length)
  }

  #forget(payload: PayloadId, location: PayloadLocation): void {
    this.#tables.payloads.remove(numberKey(payload))
    switch (location.kind) {
      case 'volume':
        this.#discount(location)
        return
      case 'file':
        this.#tables.payloadFiles.remove(Buffer.from(location.name, 'ascii'))
        this.releasedFiles.push(location.name)
        this.#counters.files.add('files', -1)
        this.#counters.files.add('bytes', -location.length)
        return
      case 'parts':
        if (location.digest === undefined) removePendingDigest(this.#tables, payload, location.length)
        this.releaseAll(ownPayloads(location))
        this.release(location.base?.payload)
    }
  }
}
