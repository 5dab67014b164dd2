/** A program: fills a data directory with audit records through the engine, as the FillAudit on standard input says. */
import { microsecondsOf } from '../engine/brands.ts'
import { text } from 'node:stream/consumers'
import type { Disk, DiskFile } from '../engine/disk/disk.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import { encodeEntry } from '../engine/events/entry-codec.ts'
import type { FillAudit } from './audit-store.ts'
import { openToFill } from './opened-store.ts'

/** Batches of the records. A batch has one time, and each part of the span needs some batches. */
const BATCHES = 10_000
const OPERATIONS = ['s3:GET', 's3:GET', 's3:GET', 's3:PUT', 's3:HEAD', 's3:DELETE'] as const

/**
 * Without syncs: ten thousand commits with a sync each would be most of the time of filling, and the store is not read
 * meanwhile.
 */
const unsyncedDisk: Disk = {
  ...nodeDisk,
  create: (path) => unsynced(nodeDisk.create(path)),
  openToWrite: (path) => unsynced(nodeDisk.openToWrite(path)),
}

function unsynced(file: DiskFile): DiskFile {
  return {
    path: file.path,
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    readAt: (target, position, length) => file.readAt(target, position, length),
    sync: () => {},
    size: () => file.size(),
    truncate: (length) => file.truncate(length),
    seal: () => file.seal(),
    close: () => file.close(),
    writeAtAsync: (bytes, position) => file.writeAtAsync(bytes, position),
    readAtAsync: (target, position, length) => file.readAtAsync(target, position, length),
    syncAsync: () => file.syncAsync(),
    closeAsync: () => file.closeAsync(),
  }
}

const request = JSON.parse(await text(process.stdin)) as FillAudit
const { records, fromMilliseconds, spanMilliseconds } = request
const recordsAtOnce = Math.ceil(records / BATCHES)
let written = 0
const { store, done } = await openToFill({
  ...request,
  disk: unsyncedDisk,
  // The records are spread evenly over the span, whenever they are written.
  clock: () => microsecondsOf(Math.floor((fromMilliseconds + (spanMilliseconds * written) / records) * 1000)),
})

/** A record such as the front end makes one of a request. */
function body(index: number): Uint8Array {
  const operation = OPERATIONS[index % OPERATIONS.length] as string
  const context = {
    principal: `service_account:account-${index % 50}`,
    credentialId: `AKIDBENCH${String(index % 50).padStart(11, '0')}`,
    sourceAddress: `10.1.${(index >> 8) % 256}.${index % 256}`,
    requestId: index.toString(16).toUpperCase().padStart(16, '0'),
    operation,
    resource: `bucket:bench-${index % 20}/folder-${index % 1000}/object-${index}.bin`,
    metadata: ['api', `${operation.slice(3)}Object`, 'status', 200],
  }
  return Uint8Array.from(encodeEntry(context, 'success', undefined, []))
}

while (written < records) {
  const count = Math.min(recordsAtOnce, records - written)
  await new Promise<void>((resolve) => {
    for (let index = 0; index < count; index += 1) {
      const settle = index === count - 1 ? () => resolve() : undefined
      store.loop.submit({ kind: 'audit', body: body(written + index) }, settle)
    }
    void store.loop.drained()
  })
  written += count
}
await done()
