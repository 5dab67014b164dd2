/** Commands as the S3 plane sends them. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sequenceOf } from '../../engine/brands.ts'
import type { CommandOf } from '../../engine/commands/commands.ts'
import type { WriteBody, WriteCondition } from '../../engine/commands/spine-commands.ts'
import { PartSet } from '../../engine/domain/part-set.ts'
import type { AuditContext } from '../../engine/events/audit.ts'

const UNCONDITIONAL: WriteCondition = { kind: 'none' }

export function auditOf(operation: string, resource: string): AuditContext {
  return {
    principal: 'service_account:root',
    credentialId: 'AKSPEC',
    sourceAddress: '127.0.0.1',
    requestId: undefined,
    operation,
    resource,
    metadata: [],
  }
}

export function createBucket(bucket: string): CommandOf<'create-bucket'> {
  return {
    kind: 'create-bucket',
    audit: auditOf('s3:PUT', `bucket:${bucket}`),
    bucket,
    region: 'us-east-1',
    lockEnabled: false,
  }
}

export function deleteBucket(bucket: string): CommandOf<'delete-bucket'> {
  return { kind: 'delete-bucket', audit: auditOf('s3:DELETE', `bucket:${bucket}`), bucket }
}

export function md5Of(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}

export function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** A write of bytes that travel with the command. */
export function write(
  bucket: string,
  key: string,
  bytes: Uint8Array,
  condition: WriteCondition = UNCONDITIONAL,
): CommandOf<'write-object'> {
  const body: WriteBody =
    bytes.length === 0
      ? { kind: 'empty' }
      : { kind: 'inline', bytes: Uint8Array.from(bytes), checksum: crc32(bytes), sealed: false }
  return withBody(bucket, key, bytes, body, condition)
}

/** A write of bytes that are in a payload file already. */
export function writeFile(bucket: string, key: string, bytes: Uint8Array, name: string): CommandOf<'write-object'> {
  return withBody(bucket, key, bytes, { kind: 'file', name, sealed: false }, UNCONDITIONAL)
}

function withBody(
  bucket: string,
  key: string,
  bytes: Uint8Array,
  body: WriteBody,
  condition: WriteCondition,
): CommandOf<'write-object'> {
  return {
    kind: 'write-object',
    audit: auditOf('s3:PUT', `bucket:${bucket}/${key}`),
    bucket,
    key,
    size: bytes.length,
    etag: md5Of(bytes),
    digest: digestOf(bytes),
    headers: ['content-type', 'text/plain'],
    metadata: [],
    body,
    condition,
  }
}

export function deleteObject(
  bucket: string,
  key: string,
  condition: WriteCondition = UNCONDITIONAL,
): CommandOf<'delete-object'> {
  return {
    kind: 'delete-object',
    audit: auditOf('s3:DELETE', `bucket:${bucket}/${key}`),
    bucket,
    key,
    condition,
    bypassGovernance: false,
  }
}

export function copyObject(
  from: { readonly bucket: string; readonly key: string; readonly sequence: number },
  to: { readonly bucket: string; readonly key: string },
  replacement: CommandOf<'copy-object'>['replacement'] = undefined,
): CommandOf<'copy-object'> {
  return {
    kind: 'copy-object',
    audit: auditOf('s3:PUT', `bucket:${to.bucket}/${to.key}`),
    sourceBucket: from.bucket,
    sourceKey: from.key,
    sourceSequence: sequenceOf(from.sequence),
    sourceIsVersion: false,
    bucket: to.bucket,
    key: to.key,
    replacement,
    condition: UNCONDITIONAL,
  }
}

/** @param body where the bytes are that come after those before `offset`; by default they travel along */
export function appendObject(
  bucket: string,
  key: string,
  offset: number,
  bytes: Uint8Array,
  body?: WriteBody,
): CommandOf<'append-object'> {
  const added = write(bucket, key, bytes)
  return { ...added, kind: 'append-object', offset, body: body ?? added.body }
}

/** Part numbers as the bits of a change. */
export function partBits(parts: readonly number[]): Buffer {
  const set = new PartSet()
  for (const part of parts) set.add(part)
  return set.bytes
}

/** @param sequence that of the source, as the caller saw it */
export function renameObject(
  bucket: string,
  sourceKey: string,
  key: string,
  sequence: number | undefined,
  token?: string,
): CommandOf<'rename-object'> {
  return {
    kind: 'rename-object',
    audit: auditOf('s3:PUT', `bucket:${bucket}/${key}`),
    bucket,
    key,
    sourceKey,
    sourceSequence: sequence === undefined ? undefined : sequenceOf(sequence),
    condition: UNCONDITIONAL,
    ...(token === undefined ? {} : { token }),
  }
}
