import { randomBytes } from 'node:crypto'
import { linkSync } from 'node:fs'
import { uploadIdOf } from '../engine/brands.ts'
import type { OpenStore } from '../cli/server/store/opened-store.ts'
import { DirectorySyncs } from '../engine/disk/directory-syncs.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { BodyHashing } from '../engine/hashing/body-hashing.ts'
import { HashThreads } from '../engine/hashing/hash-threads.ts'
import { encodeFileTrailer, FILE_TRAILER, fileBytes } from '../engine/payloads/file-format.ts'
import { PayloadFileWriter, type StoredFile } from '../engine/payloads/file-writer.ts'
import { PayloadIds } from '../engine/payloads/payload-ids.ts'
import { PIECE_BYTES } from '../engine/payloads/piece-pool.ts'
import { auditOf, COMMANDS_IN_FLIGHT, createFillBucket } from './fill-commands.ts'
import type { FillUploads } from './filler.ts'
import { inParallel } from './in-parallel.ts'

/** Payload files of this program: server threads have smaller numbers. */
const THREAD = 255

/**
 * Starts the uploads and stores their parts. All parts of an upload have the same bytes: one payload file is written,
 * and the others are further names of it on the disk (link(2)). So each part has a whole file under a name of its own,
 * as if it had been sent, and an object of 50 GB takes the space of one part.
 */
export async function fillUploads(store: OpenStore, paths: StorePaths, request: FillUploads): Promise<void> {
  const { bucket, keys, parts, partBytes } = request
  const ids = new PayloadIds(store.start, THREAD)
  const threads = new HashThreads((message) => {
    throw new Error(message)
  })
  const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
  await createFillBucket(store, bucket)
  for (const key of keys) {
    const file = await writePayload(paths, ids.next(), partBytes, hashing)
    const resource = `bucket:${bucket}/${key}`
    const { sequence: upload } = await store.client.execute({
      kind: 'create-upload',
      audit: auditOf('POST', 'CreateMultipartUpload', resource),
      bucket,
      key,
      headers: ['content-type', 'application/octet-stream'],
      metadata: [],
    })
    await inParallel(parts, COMMANDS_IN_FLIGHT, async (index) => {
      const name = index === 0 ? file.name : linkedName(paths, file.name, ids.next())
      await store.client.execute({
        kind: 'write-part',
        audit: auditOf('PUT', 'UploadPart', resource),
        bucket,
        key,
        upload: uploadIdOf(upload),
        part: index + 1,
        size: file.size,
        etag: file.md5,
        digest: file.digest,
        body: { kind: 'file', name, sealed: file.sealed },
      })
    })
  }
  await threads.stop()
}

/** A file that serves for any part. */
async function writePayload(paths: StorePaths, name: string, bytes: number, hashing: BodyHashing): Promise<StoredFile> {
  const writer = PayloadFileWriter.create(nodeDisk, paths, new DirectorySyncs(nodeDisk), name, hashing)
  await writer.write(randomBytes(bytes))
  const stored = await writer.finish()
  const file = nodeDisk.openToWrite(paths.file(name))
  file.writeAt(encodeFileTrailer('plain', bytes, undefined), fileBytes('plain', bytes) - FILE_TRAILER.bytes)
  file.close()
  return stored
}

/** A further name of a payload file. */
function linkedName(paths: StorePaths, existing: string, name: string): string {
  nodeDisk.makeDirectory(paths.fileDirectory(name))
  linkSync(paths.file(existing), paths.file(name))
  return name
}
