import type { CopyObject, DeleteObject, WriteBody, WriteObject } from '../commands.ts'
import { DomainError } from '../errors.ts'
import type { Change, PayloadReference } from '../events/changes.ts'
import type { StateReader } from '../state-ports.ts'
import { requireBucket } from './bucket.ts'
import { requireCondition } from './write-condition.ts'

/** Gives small payloads their place in a volume. */
export interface PayloadPlacement {
  /** @throws DomainError storage-full */
  place(payload: number, bytes: Uint8Array, checksum: number): PayloadReference
}

function payloadReference(
  body: WriteBody,
  size: number,
  sequence: number,
  placement: PayloadPlacement,
): PayloadReference | undefined {
  switch (body.kind) {
    case 'empty':
      return undefined
    case 'inline':
      return placement.place(sequence, body.bytes, body.checksum)
    case 'file':
      return { kind: 'file', payload: sequence, name: body.name, length: size }
  }
}

/** `sequence` is that of the entry to be; it becomes the id of the payload. */
export function decideWriteObject(
  command: WriteObject,
  state: StateReader,
  sequence: number,
  placement: PayloadPlacement,
): Change[] {
  const bucket = requireBucket(state, command.bucket)
  const current = state.object(bucket.id, command.key)
  requireCondition(command.condition, current)
  const { key, size, etag, digest, headers, metadata } = command
  const payload = payloadReference(command.body, size, sequence, placement)
  const replaced = current !== undefined
  return [
    { name: 'object.written', bucketId: bucket.id, key, size, etag, digest, headers, metadata, payload, replaced },
  ]
}

/** The payload is shared by reference: a copy moves no bytes. */
export function decideCopyObject(command: CopyObject, state: StateReader): Change[] {
  const sourceBucket = requireBucket(state, command.sourceBucket)
  const source = state.object(sourceBucket.id, command.sourceKey)
  if (source === undefined) throw new DomainError('object-not-found', command.sourceKey)
  if (source.sequence !== command.sourceSequence) throw new DomainError('source-changed')
  const bucket = requireBucket(state, command.bucket)
  const ontoItself = bucket.id === sourceBucket.id && command.key === command.sourceKey
  if (ontoItself && command.replacement === undefined) throw new DomainError('copy-onto-itself')
  const current = state.object(bucket.id, command.key)
  requireCondition(command.condition, current)
  return [
    {
      name: 'object.written',
      bucketId: bucket.id,
      key: command.key,
      size: source.size,
      etag: source.etag,
      digest: source.digest,
      headers: command.replacement?.headers ?? source.headers,
      metadata: command.replacement?.metadata ?? source.metadata,
      payload: source.payload === 0 ? undefined : { kind: 'shared', payload: source.payload },
      replaced: current !== undefined,
    },
  ]
}

/** Deleting what is not there is a success that changes nothing. */
export function decideDeleteObject(command: DeleteObject, state: StateReader): Change[] {
  const bucket = requireBucket(state, command.bucket)
  if (command.version !== undefined && command.version !== 'null') return []
  const current = state.object(bucket.id, command.key)
  requireCondition(command.condition, current)
  if (current === undefined) return []
  return [{ name: 'object.deleted', bucketId: bucket.id, key: command.key }]
}
