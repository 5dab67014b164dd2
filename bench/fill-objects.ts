import { createHash, hash, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { OpenStore } from '../cli/server/store/opened-store.ts'
import type { CommandOf } from '../engine/commands/commands.ts'
import { auditOf, COMMANDS_IN_FLIGHT, createFillBucket } from './fill-commands.ts'
import type { FillObjects } from './filler.ts'
import { inParallel } from './in-parallel.ts'
import { objectKey } from './object-keys.ts'

/** Stores the objects, all with the same bytes. */
export async function fillObjects(store: OpenStore, request: FillObjects): Promise<void> {
  const { bucket, from, count, objectBytes, overwrites } = request
  if (from === 0) await createFillBucket(store, bucket)
  const bytes = randomBytes(objectBytes)
  const content = {
    size: bytes.length,
    etag: hash('md5', bytes, 'hex'),
    digest: createHash('sha256').update(bytes).digest(),
    headers: ['content-type', 'application/octet-stream'],
    metadata: [],
    body: { kind: 'inline', bytes, checksum: crc32(bytes), sealed: false },
    condition: { kind: 'none' },
  } satisfies Partial<CommandOf<'write-object'>>
  const write = async (index: number) => {
    const key = objectKey(index)
    const audit = auditOf('PUT', 'PutObject', `bucket:${bucket}/${key}`)
    await store.client.execute({ kind: 'write-object', audit, bucket, key, ...content })
  }
  await inParallel(count, COMMANDS_IN_FLIGHT, (index) => write(from + index))
  await inParallel(overwrites, COMMANDS_IN_FLIGHT, () => write(from + randomInt(count)))
}
