/** A program: stores many objects in a data directory through the engine, as FillRequest on standard input says. */
import { createHash, hash, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { loadConfig } from '../cli/config/load-config.ts'
import { type OpenStore, openStore } from '../cli/store/open-store.ts'
import { storeOptions } from '../cli/store/store-options.ts'
import type { WriteObject } from '../engine/commands.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import { lockStore } from '../engine/disk/store-lock.ts'
import { StorePaths } from '../engine/disk/store-paths.ts'
import type { AuditContext } from '../engine/events/audit.ts'
import type { FillRequest } from './filled-store.ts'
import { objectKey } from './object-keys.ts'

/** Commands under way at once: so many share a sync. */
const COMMANDS_IN_FLIGHT = 2048

const request = JSON.parse(await text(process.stdin)) as FillRequest
const paths = new StorePaths(request.dataDirectory)
nodeDisk.makeDirectory(paths.root)
const lock = await lockStore(nodeDisk, paths.root)
const { config } = loadConfig({ flags: {}, environment: {}, workingDirectory: paths.root })
const store = await openStore(nodeDisk, paths, storeOptions(config, Buffer.from(request.masterKey, 'hex')), {
  onFailure: (error) => {
    throw error
  },
  onBatchDone: () => {},
})
if (request.from === 0) {
  const audit = auditOf('CreateBucket', `bucket:${request.bucket}`)
  await store.client.execute({ kind: 'create-bucket', audit, bucket: request.bucket, region: 'us-east-1' })
}
await storeObjects(store, request)
await store.close(true)
await lock.release()

async function storeObjects(target: OpenStore, { bucket, from, count, objectBytes }: FillRequest): Promise<void> {
  const bytes = randomBytes(objectBytes)
  const content = {
    size: bytes.length,
    etag: hash('md5', bytes, 'hex'),
    digest: createHash('sha256').update(bytes).digest(),
    headers: ['content-type', 'application/octet-stream'],
    metadata: [],
    body: { kind: 'inline', bytes, checksum: crc32(bytes) },
    condition: { kind: 'none' },
  } satisfies Partial<WriteObject>
  const end = from + count
  let next = from
  const work = async () => {
    while (next < end) {
      const key = objectKey(next)
      next += 1
      const audit = auditOf('PutObject', `bucket:${bucket}/${key}`)
      await target.client.execute({ kind: 'write-object', audit, bucket, key, ...content })
    }
  }
  await Promise.all(Array.from({ length: COMMANDS_IN_FLIGHT }, work))
}

/** As a front end describes such a request, so that records are as long as those of requests. */
function auditOf(api: string, resource: string): AuditContext {
  return {
    principal: 'system:root',
    credentialId: 'BENCHFILL',
    sourceAddress: '127.0.0.1',
    requestId: randomBytes(8).toString('hex').toUpperCase(),
    operation: 's3:PUT',
    resource,
    metadata: ['api', api, 'status', 200],
  }
}
