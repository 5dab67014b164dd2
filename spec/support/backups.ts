/** Backups for specs: a store with a model of what was in it, and the functions of the commands. */
import { type Test, test } from 'tap'
import { type BackupReport, makeBackup } from '../../cli/backup/make-backup.ts'
import { restoreBackup } from '../../cli/backup/restore.ts'
import { type BackupVerification, verifyBackup } from '../../cli/backup/verify-backup.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { createBucket, deleteObject, write, writeFile } from './commands.ts'
import { openTestStore, readObject, storeFile, type TestStore } from './test-store.ts'

const BUCKET = 'photos'
/** Written by cases; nothing else is in the bucket. */
export const KEYS = ['a', 'b', 'c', 'd'] as const
export const LARGE_BYTES = 150_000

/** Stores of the case that runs. */
const opened: TestStore[] = []

export function backupCase(name: string, body: (t: Test) => Promise<void>): void {
  void test(name, async (t) => {
    try {
      await body(t)
    } finally {
      for (const store of opened.splice(0)) await store.close(store.failures.length === 0)
    }
  })
}

type Objects = ReadonlyMap<string, Buffer>

/** A store and what was in it after each of its records. */
export class Modelled {
  readonly store: TestStore
  readonly states: { readonly sequence: number; readonly objects: Objects }[] = []
  #objects = new Map<string, Buffer>()

  constructor(store: TestStore) {
    this.store = store
  }

  async put(key: string, bytes: Buffer, large = false): Promise<void> {
    const { store } = this
    const command = large ? writeFile(BUCKET, key, bytes, await storeFile(store, bytes)) : write(BUCKET, key, bytes)
    await store.client.execute(command)
    this.#objects.set(key, bytes)
    this.#note()
  }

  async remove(key: string): Promise<void> {
    await this.store.client.execute(deleteObject(BUCKET, key))
    this.#objects.delete(key)
    this.#note()
  }

  #note(): void {
    this.states.push({ sequence: this.store.journal.position.sequence, objects: new Map(this.#objects) })
  }

  /** Ends the store as a process that is killed does. */
  async kill(): Promise<void> {
    opened.splice(opened.indexOf(this.store), 1)
    await this.store.kill()
  }

  /** Ends the store as a server does that is stopped. */
  async stop(): Promise<void> {
    opened.splice(opened.indexOf(this.store), 1)
    await this.store.close(true)
  }

  /** What was there when a record was the last one. */
  at(sequence: number): Objects {
    return this.states.findLast((state) => state.sequence <= sequence)?.objects ?? new Map()
  }
}

export async function modelled(root: string, segmentBytes = 256 * 1024): Promise<Modelled> {
  const store = await openTestStore(root, { segmentBytes })
  opened.push(store)
  if (store.catalog.snapshot().bucket(BUCKET) === undefined) await store.client.execute(createBucket(BUCKET))
  return new Modelled(store)
}

const quiet = { bytesPerSecond: undefined, progress: () => undefined }

export function backUp(from: string, to: string, disk: Disk = nodeDisk, prune = false): Promise<BackupReport> {
  return makeBackup(disk, new StorePaths(from), to, { ...quiet, prune })
}

export function verify(directory: string): Promise<BackupVerification> {
  return verifyBackup(nodeDisk, directory, { threads: 0, progress: () => undefined })
}

export function restore(from: string, to: string, at?: number, acceptLosses = false, disk: Disk = nodeDisk) {
  return restoreBackup(disk, from, to, { ...quiet, at, acceptLosses, threads: 0 })
}

export async function faultsOf(directory: string): Promise<readonly string[]> {
  const { journal, payloads } = await verify(directory)
  return [...journal.problems.map(({ verdict }) => verdict), ...(payloads?.problems ?? [])]
}

/** Opens a restored store as a server does, compares its objects, and writes to it. */
export async function compare(t: Test, directory: string, objects: Objects): Promise<void> {
  const store = await openTestStore(directory)
  try {
    for (const key of KEYS) t.same(await readObject(store, BUCKET, key), objects.get(key), `object ${key}`)
    if (store.catalog.snapshot().bucket(BUCKET) !== undefined) {
      await store.client.execute(write(BUCKET, 'new', Buffer.from('written after the restore')))
    }
  } finally {
    await store.close(true)
  }
}
