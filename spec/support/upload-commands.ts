/** Commands of multipart uploads as the S3 plane sends them, and those that the store's own workers send. */
import { branded, type Plain } from './plain.ts'
import { bucketIdOf, payloadIdOf, sequenceOf, type UploadId, uploadIdOf, volumeNumberOf } from '../../engine/brands.ts'
import { createHash } from 'node:crypto'
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { PayloadMove, WriteCondition } from '../../engine/commands/spine-commands.ts'
import type { VolumeLocation } from '../../engine/payloads/payload-reader.ts'
import { auditOf, digestOf, md5Of, write } from './commands.ts'
import type { TestStore } from './test-store.ts'

const WORKER = auditOf('maintenance', 'payloads')

/** An upload in progress: what its commands name it by. */
export interface UploadName {
  readonly bucket: string
  readonly key: string
  /** Sequence of the entry that made it. */
  readonly upload: number
}

function named({ upload, ...name }: UploadName): Omit<UploadName, 'upload'> & { readonly upload: UploadId } {
  return { ...name, upload: uploadIdOf(upload) }
}

/** A part as the client lists it at the end. `etag` is the MD5 in hexadecimal. */
export interface ListedPart {
  readonly part: number
  readonly etag: string
}

export function createUpload(bucket: string, key: string): CommandOf<'create-upload'> {
  const audit = auditOf('s3:POST', `bucket:${bucket}/${key}`)
  return { kind: 'create-upload', audit, bucket, key, headers: ['content-type', 'text/parts'], metadata: [] }
}

/** Bytes that travel with the command. `size` may say more than they are, so that not each part needs 5 MiB. */
export function writePart(
  name: UploadName,
  part: number,
  bytes: Uint8Array,
  size = bytes.length,
): CommandOf<'write-part'> {
  const { bucket, key } = name
  const { body } = write(bucket, key, bytes)
  const audit = auditOf('s3:PUT', `bucket:${bucket}/${key}`)
  return { kind: 'write-part', audit, ...named(name), part, size, etag: md5Of(bytes), digest: digestOf(bytes), body }
}

/** All bytes of a version, by reference. */
export function copyPart(
  name: UploadName,
  part: number,
  from: { readonly bucket: string; readonly key: string; readonly sequence: number },
  sourceIsVersion = false,
): CommandOf<'copy-part'> {
  const audit = auditOf('s3:PUT', `bucket:${name.bucket}/${name.key}`)
  const source = { sourceBucket: from.bucket, sourceKey: from.key, sourceSequence: sequenceOf(from.sequence) }
  return { kind: 'copy-part', audit, ...named(name), part, ...source, sourceIsVersion }
}

export function completeUpload(
  name: UploadName,
  listed: readonly ListedPart[],
  condition: WriteCondition = { kind: 'none' },
): CommandOf<'complete-upload'> {
  const audit = auditOf('s3:POST', `bucket:${name.bucket}/${name.key}`)
  const parts = Uint16Array.from(listed, ({ part }) => part)
  const md5s = Buffer.concat(listed.map(({ etag }) => Buffer.from(etag, 'hex')))
  const etag = `${createHash('md5').update(md5s).digest('hex')}-${listed.length}`
  return { kind: 'complete-upload', audit, ...named(name), parts, md5s, etag, condition }
}

export function abortUpload(name: UploadName): CommandOf<'abort-upload'> {
  return { kind: 'abort-upload', audit: auditOf('s3:DELETE', `bucket:${name.bucket}/${name.key}`), ...named(name) }
}

export function reclaimUpload(bucketId: number, key: string, upload: number): CommandOf<'reclaim-upload'> {
  return { kind: 'reclaim-upload', audit: WORKER, bucketId: bucketIdOf(bucketId), key, upload: uploadIdOf(upload) }
}

export function movePayloads(moves: readonly Plain<PayloadMove>[]): CommandOf<'move-payloads'> {
  return branded({ kind: 'move-payloads', audit: WORKER, moves })
}

/** The move of a small payload from where it is. */
export function moveOf(store: TestStore, payload: number, location: VolumeLocation): Plain<PayloadMove> {
  const { volume, offset, checksum } = location
  return { payload, volume, offset, checksum, bytes: Uint8Array.from(store.payloads.readSmall(location)) }
}

export function removeVolume(volume: number): CommandOf<'remove-volume'> {
  return { kind: 'remove-volume', audit: WORKER, volume: volumeNumberOf(volume) }
}

export function recordDigest(payload: number, digest: Uint8Array): CommandOf<'record-digest'> {
  return { kind: 'record-digest', audit: WORKER, payload: payloadIdOf(payload), digest }
}
