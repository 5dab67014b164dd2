/**
 * Mistakes that do not compile (engine/brands.ts, engine/journal/positions.ts). The compiler is the judge: a line that
 * it accepts has a directive too many, which is an error. Nothing here is ever called.
 */
import { test } from 'tap'
import type {
  BucketId,
  Microseconds,
  Milliseconds,
  PayloadId,
  Sequence,
  UploadId,
  VolumeNumber,
} from '../../engine/brands.ts'
import type { Clock } from '../../engine/clock.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import type { ChangeNamed } from '../../engine/events/changes.ts'
import type { OpaqueIds } from '../../engine/keys/opaque-ids.ts'
import type { BatchBuilder } from '../../engine/journal/batch-builder.ts'
import { lastBefore, type LastRecord, nextAfter, type NextRecord } from '../../engine/journal/positions.ts'
import type { ObjectState, StateReader } from '../../engine/state-ports.ts'
import type { CatalogSnapshot } from '../../projections/catalog/catalog-snapshot.ts'

interface Values {
  readonly sequence: Sequence
  readonly bucketId: BucketId
  readonly payload: PayloadId
  readonly upload: UploadId
  readonly volume: VolumeNumber
  readonly milliseconds: Milliseconds
  readonly microseconds: Microseconds
  readonly plain: number
}

export function positions(last: LastRecord, next: NextRecord): void {
  // @ts-expect-error the last record is not the next one
  next = last
  // @ts-expect-error nor the other way round
  last = next
  // @ts-expect-error the next record has no record after it yet
  nextAfter(next)
  // @ts-expect-error what is before the last record is not known
  lastBefore(last)
}

export function ids(snapshot: CatalogSnapshot, state: StateReader, values: Values): void {
  const { bucketId, payload, upload, sequence, volume, plain } = values
  // @ts-expect-error a bucket is no payload
  snapshot.payload(bucketId)
  // @ts-expect-error an upload becomes a payload by its completion, and by no accident
  snapshot.payload(upload)
  // @ts-expect-error a payload is no bucket
  snapshot.object(payload, 'key')
  // @ts-expect-error a bucket is the entry that created it, and not any entry
  state.bucketIsEmpty(sequence)
  // @ts-expect-error a sequence is no volume
  state.volumeIsSpent(sequence)
  // @ts-expect-error a volume is no upload
  state.part(volume, 1)
  // @ts-expect-error a number means nothing
  snapshot.payload(plain)
}

export function files(paths: StorePaths, { sequence, volume, plain }: Values): void {
  // @ts-expect-error a sequence names no volume
  paths.volume(sequence)
  // @ts-expect-error the volume after this one is made where volumes are counted
  paths.volume(volume + 1)
  // @ts-expect-error a number names no volume
  paths.volume(plain)
}

export function times(builder: BatchBuilder, { milliseconds, sequence }: Values): void {
  // @ts-expect-error a record has its time in microseconds
  builder.add(4, milliseconds, Buffer.alloc(0))
  // @ts-expect-error a sequence is no time
  builder.add(4, sequence, Buffer.alloc(0))
  // @ts-expect-error a clock counts microseconds
  const clock: Clock = () => milliseconds
  clock()
}

export function clientIds(versions: OpaqueIds, uploads: OpaqueIds<UploadId>, { sequence, upload }: Values): void {
  // @ts-expect-error the id of an upload is made of an upload
  uploads.encode(sequence)
  // @ts-expect-error the id of a version is made of a sequence
  versions.encode(upload)
}

export function none(object: ObjectState, snapshot: CatalogSnapshot, { bucketId, sequence }: Values): void {
  // @ts-expect-error an object of no bytes has no payload
  snapshot.payload(object.payload)
  const deleted: ChangeNamed<'version.deleted'> = {
    name: 'version.deleted',
    bucketId,
    key: 'k',
    version: sequence,
    // @ts-expect-error nothing is promoted by 0
    promotes: 0,
  }
  // @ts-expect-error no version has a negative number
  snapshot.version(deleted.bucketId, deleted.key, -1)
}

test('mistakes with numbers that mean one thing do not compile', async (t) => {
  t.pass('the compiler has found every one of them')
})
