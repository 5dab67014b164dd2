/** Stores for specs: small segments and volumes, a master key, an engine in the same thread. */
import { randomBytes } from 'node:crypto'
import { microsecondsOf, type PayloadId } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { UploadStore } from '../../engine/payloads/upload-store.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { TABLES } from '../../projections/tables/table-list.ts'
import { openStore } from '../../cli/server/store/open-store.ts'
import type { OpenStore, StoreHooks } from '../../cli/server/store/opened-store.ts'
import type { StoreOptions } from '../../cli/server/store/store-options.ts'
import { inlineHashing } from './inline-hashing.ts'

export const MASTER_KEY = Buffer.alloc(32, 0x6b)
export const BOOT_ID = '11111111-2222-3333-4444-555555555555'
export const OTHER_BOOT_ID = '99999999-8888-7777-6666-555555555555'

/** Enough space to write, and too little for the store to set any aside: a spec has no use for 32 MiB of zeros. */
const FREE_BYTES = 48 * 1024 ** 2

/** The real disk, with little free space. */
export const roomyDisk: Disk = {
  ...nodeDisk,
  space: (path) => ({ ...nodeDisk.space(path), availableBytes: FREE_BYTES }),
}

/** A store that is open in a spec. */
export interface TestStore extends OpenStore {
  readonly paths: StorePaths
  readonly disk: Disk
  readonly uploads: UploadStore
  readonly payloads: PayloadReader
  /** What the engine reported as fatal. */
  readonly failures: unknown[]
  /** Stops as a process that is killed does, as far as the files show it: no entry, no mark, no sync. */
  kill(): Promise<void>
}

type TestOptions = Partial<StoreOptions> &
  Pick<StoreHooks, 'onRecounted' | 'wrapState' | 'stopAsked'> & { readonly clock?: () => number }

/**
 * Opens, or makes, the store in a directory. Segments and volumes are 256 KiB unless told otherwise.
 * @param options `clock`: microseconds since 1970
 */
export async function openTestStore(
  root: string,
  { clock, onRecounted, wrapState, stopAsked, ...options }: TestOptions = {},
  disk: Disk = roomyDisk,
): Promise<TestStore> {
  const paths = new StorePaths(root)
  const failures: unknown[] = []
  const store = await openStore(
    disk,
    paths,
    {
      masterKey: MASTER_KEY,
      segmentBytes: 256 * 1024,
      volumeBytes: 256 * 1024,
      reservedBytes: 0,
      strangerBytesPerSecond: 2 ** 30,
      clockToleranceSeconds: 5,
      referenceRatioMaximum: 1000,
      clockIntervalSeconds: 60,
      version: '0.0.0-spec',
      bootId: BOOT_ID,
      ...options,
    },
    {
      onFailure: (error) => failures.push(error),
      onBatchDone: () => undefined,
      ...(clock && { clock: () => microsecondsOf(clock()) }),
      ...(onRecounted && { onRecounted }),
      ...(wrapState && { wrapState }),
      ...(stopAsked && { stopAsked }),
    },
  )
  const payloads = new PayloadReader(disk, paths)
  const close = async (healthy: boolean) => {
    payloads.close()
    await store.close(healthy)
  }
  return {
    ...store,
    paths,
    disk,
    failures,
    payloads,
    uploads: new UploadStore(disk, paths, store.start, 0, inlineHashing),
    close,
    kill: () => close(false),
  }
}

/** Every row of every table: name of the table to lines of `key value` in hexadecimal. */
export function dumpTables(environment: ProjectionEnvironment): Record<string, string[]> {
  environment.refresh()
  const dump: Record<string, string[]> = {}
  for (const name of Object.values(TABLES)) {
    const rows = [...environment.table(name).rows({})]
    dump[name] = rows.map(({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`)
  }
  return dump
}

/** The rows of a store's projections, read as another thread would. */
export async function dumpStore(paths: StorePaths): Promise<Record<string, string[]>> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    return dumpTables(environment)
  } finally {
    await environment.close()
  }
}

/** The bytes of the current object of a key, or undefined. */
export async function readObject(store: TestStore, bucket: string, key: string): Promise<Buffer | undefined> {
  const found = store.catalog.snapshot().bucket(bucket)
  const object = found === undefined ? undefined : store.catalog.snapshot().object(found.id, key)
  return object === undefined ? undefined : readPayload(store, object.payload)
}

/** The bytes of a payload; undefined has none. */
export async function readPayload(
  store: Pick<TestStore, 'catalog' | 'payloads'>,
  payload: PayloadId | undefined,
): Promise<Buffer> {
  if (payload === undefined) return Buffer.alloc(0)
  const location = store.catalog.snapshot().payload(payload)
  if (location === undefined) throw new Error(`no row of payload ${payload}`)
  if (location.kind === 'volume') return store.payloads.readSmall(location)
  if (location.kind === 'parts') {
    const { parts } = location
    const read = Array.from({ length: parts.count }, (_, index) => readPayload(store, parts.payload(index)))
    return Buffer.concat(await Promise.all(read))
  }
  const reader = await store.payloads.openLarge(location, 0, location.length)
  const parts: Buffer[] = []
  try {
    for (let part = await reader.next(); part !== undefined; part = await reader.next()) parts.push(Buffer.from(part))
  } finally {
    reader.close()
  }
  return Buffer.concat(parts)
}

/** Stores bytes in a payload file and returns its name. */
export async function storeFile(store: TestStore, bytes: Uint8Array): Promise<string> {
  const writer = await store.uploads.create()
  const room = writer.write(bytes)
  await room
  return (await writer.finish()).name
}

/** Random bytes, so that nothing is right by chance. */
export function someBytes(length: number): Buffer {
  return randomBytes(length)
}
