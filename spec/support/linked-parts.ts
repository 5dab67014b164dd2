/** Uploads of thousands of parts that take little space: their payload files are links to a few. */
import { uploadIdOf } from '../../engine/brands.ts'
import { linkSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { OpenStore } from '../../cli/server/store/opened-store.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { encodeFileTrailer, FILE_TRAILER, fileBytes } from '../../engine/payloads/file-format.ts'
import type { PayloadFileWriter } from '../../engine/payloads/file-writer.ts'
import { PayloadIds } from '../../engine/payloads/payload-ids.ts'
import { UploadStore } from '../../engine/payloads/upload-store.ts'
import { auditOf } from './commands.ts'
import { bodyHashing } from './hash-ports.ts'
import type { SentPart } from './multipart.ts'
import type { InThreadServer } from './test-server.ts'

/** Threads of a server are fewer, so no name is given twice. */
const STORING_THREAD = 254
const LINKING_THREAD = 255
const COMMANDS_AT_ONCE = 500

/** Makes a payload file one that can stand under several names. */
function fitEveryName(path: string, size: number): void {
  const file = nodeDisk.openToWrite(path)
  file.writeAt(encodeFileTrailer('plain', size, undefined), fileBytes('plain', size) - FILE_TRAILER.bytes)
  file.close()
}

type StoredPayload = Awaited<ReturnType<PayloadFileWriter['finish']>>

/**
 * Writes the parts 1 to `count` of the only upload of a key past the wire, by the commands that a front end sends. Part
 * n has the bytes of `bodies[(n - 1) % bodies.length]`. Every part has a payload file of its own name, so that the end
 * of one is not the end of another.
 */
export async function writeLinkedParts(
  { store, paths }: InThreadServer,
  bucket: string,
  key: string,
  bodies: readonly Buffer[],
  count: number,
): Promise<SentPart[]> {
  const upload = numberOfUpload(store, bucket, key)
  const uploads = new UploadStore(nodeDisk, paths, store.start, STORING_THREAD, bodyHashing())
  const names = new PayloadIds(store.start, LINKING_THREAD)
  const stored: StoredPayload[] = []
  for (const body of bodies) {
    const writer = uploads.create()
    await writer.write(body)
    stored.push(await writer.finish())
  }
  for (const { name, size } of stored) fitEveryName(paths.file(name), size)
  const write = async (part: number): Promise<SentPart> => {
    const { name: source, size, md5: etag, digest, sealed } = stored[(part - 1) % stored.length] as StoredPayload
    const name = names.next()
    mkdirSync(dirname(paths.file(name)), { recursive: true })
    linkSync(paths.file(source), paths.file(name))
    const audit = auditOf('s3:PUT', `bucket:${bucket}/${key}`)
    const body = { kind: 'file', name, sealed } as const
    const place = { bucket, key, upload: uploadIdOf(upload), part }
    await store.client.execute({ kind: 'write-part', audit, ...place, size, etag, digest, body })
    return { number: part, etag: `"${etag}"` }
  }
  const parts: SentPart[] = []
  for (let first = 1; first <= count; first += COMMANDS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(COMMANDS_AT_ONCE, count + 1 - first) }, (_, index) => first + index)
    parts.push(...(await Promise.all(numbers.map(write))))
  }
  for (const { name } of stored) await uploads.discard(name)
  return parts
}

/** Number of the oldest upload of a key. */
export function numberOfUpload({ catalog }: OpenStore, bucket: string, key: string): number {
  const found = catalog.snapshot().bucket(bucket)
  const wanted = { prefix: Buffer.from(key), delimiter: undefined, after: undefined, entriesMaximum: 1 }
  const upload = found === undefined ? undefined : catalog.snapshot().listUploads(found.id, wanted).entries[0]
  if (upload?.key !== key) throw new Error(`${bucket}/${key} has no upload`)
  return upload.order
}
