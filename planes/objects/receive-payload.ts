import { hash } from 'node:crypto'
import type { WriteBody } from '../../engine/commands/spine-commands.ts'
import { DiskFullError, ShortWriteError } from '../../engine/disk/disk.ts'
import type { PayloadFileWriter } from '../../engine/payloads/file-writer.ts'
import type { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import type { UploadStore } from '../../engine/payloads/upload-store.ts'
import type { RequestBody } from '../http/exchange.ts'

/**
 * The attempt of a body of this length is recorded before the upload is finished. The attempt of a shorter body is
 * recorded in the batch of its outcome, before the change.
 */
const LONG_BYTES_MINIMUM = 8 * 1024 * 1024

/** The stores for uploaded bytes. */
export interface PayloadStores {
  readonly uploads: UploadStore
  readonly space: SpaceGuard
  /** Bodies up to this many bytes travel with the command and go into a volume. */
  readonly inlineBytesMaximum: number
}

/** Checks of a body against the declarations of its request. Both may throw; nothing is stored then. */
export interface PayloadChecks {
  update(chunk: Uint8Array): void
  /** `md5` in hexadecimal, `sha256` 32 bytes. */
  finish(md5: string, sha256: Buffer): void
}

/** What is known of the length of a body before it is received: all of it, or what it has at most. In bytes. */
export type BodyLength = number | { readonly atMost: number }

/** The body ended before its length. */
export class IncompletePayloadError extends Error {
  override readonly name = 'IncompletePayloadError'
}

/** There is not enough free space for the body. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError'
}

/** The checked bytes of an object or part. Large bodies are already stored in a file. */
export interface ReceivedPayload {
  readonly body: WriteBody
  readonly size: number
  /** Lower-case hex MD5: the ETag, unless the object is multipart. */
  readonly etag: string
  /** SHA-256. */
  readonly digest: Uint8Array
}

/**
 * Receives the body of an upload: a small body stays in memory, a large one goes to a file. Nothing is left on failure.
 * A small body that has already arrived is returned without a promise.
 *
 * @param attempt records the attempt of a long upload, before the upload is finished. The body is received meanwhile,
 *   so that arriving bytes do not wait in memory.
 * @throws IncompletePayloadError, StorageFullError, ClientGoneError, and what `checks` and `attempt` throw
 */
export function receivePayload(
  body: RequestBody,
  length: BodyLength,
  stores: PayloadStores,
  checks: PayloadChecks,
  attempt: () => Promise<void>,
): ReceivedPayload | Promise<ReceivedPayload> {
  const most = typeof length === 'number' ? length : length.atMost
  if (most > stores.inlineBytesMaximum) return receiveToFile(body, length, most, stores, checks, attempt)
  const bytes = body.takeArrived()
  if (bytes !== undefined) return smallPayload(bytes, length, stores, checks)
  return body.readAll(most).then((whole) => smallPayload(whole, length, stores, checks))
}

async function receiveToFile(
  body: RequestBody,
  length: BodyLength,
  most: number,
  stores: PayloadStores,
  checks: PayloadChecks,
  attempt: () => Promise<void>,
): Promise<ReceivedPayload> {
  if (!stores.space.admits(most)) throw new StorageFullError()
  try {
    return await receiveLarge(body, length, most, stores, checks, attempt)
  } catch (error) {
    if (error instanceof DiskFullError || error instanceof ShortWriteError) throw new StorageFullError()
    throw error
  }
}

function smallPayload(
  bytes: Buffer,
  declared: BodyLength,
  { uploads }: PayloadStores,
  checks: PayloadChecks,
): ReceivedPayload {
  const { length } = bytes
  if (typeof declared === 'number' && declared !== length) throw new IncompletePayloadError()
  checks.update(bytes)
  const etag = hash('md5', bytes, 'hex')
  const digest = Buffer.from(hash('sha256', bytes, 'binary'), 'latin1')
  checks.finish(etag, digest)
  return { body: length === 0 ? { kind: 'empty' } : uploads.inlineBody(bytes), size: length, etag, digest }
}

async function receiveLarge(
  body: RequestBody,
  length: BodyLength,
  most: number,
  { uploads }: PayloadStores,
  checks: PayloadChecks,
  attempt: () => Promise<void>,
): Promise<ReceivedPayload> {
  const writer = uploads.create()
  const attempting = most < LONG_BYTES_MINIMUM ? undefined : attempt()
  const taking = takeBody(body, writer, length, checks, attempting)
  const [taken, attempted] = await Promise.allSettled([taking, attempting])
  const failed = [attempted, taken].find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await writer.abandon()
    throw failed.reason
  }
  if (writer.size === 0) {
    const { md5: etag, sha256: digest } = await writer.digests()
    await writer.abandon()
    return { body: { kind: 'empty' }, size: 0, etag, digest }
  }
  const { name, sealed, size, md5, digest } = await writer.finish()
  return { body: { kind: 'file', name, sealed }, size, etag: md5, digest }
}

/** Writes the body and checks it against the declarations of its request. */
async function takeBody(
  body: RequestBody,
  writer: PayloadFileWriter,
  length: BodyLength,
  checks: PayloadChecks,
  attempting: Promise<void> | undefined,
): Promise<void> {
  await body.pipe(
    (chunk) => {
      checks.update(chunk)
      return writer.write(chunk)
    },
    (chunk) => {
      checks.update(chunk)
      writer.writeNow(chunk)
    },
  )
  if (typeof length === 'number' && writer.size !== length) throw new IncompletePayloadError()
  const digests = writer.digests()
  await attempting
  // Runs in parallel with the rest of the hashing. If a check fails, the file is removed; nothing refers to it yet.
  writer.store()
  const { md5, sha256 } = await digests
  checks.finish(md5, sha256)
}
