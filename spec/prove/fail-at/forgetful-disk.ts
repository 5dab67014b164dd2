import { chmodSync, closeSync, existsSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Disk, DiskFile } from '../../../engine/disk/disk.ts'
import { roomyDisk } from '../../support/test-store.ts'
import { altered, alteredFiles } from '../mutants/altered.ts'

/** What a write or a cut took the place of. */
interface Replaced {
  readonly position: number
  readonly bytes: Buffer
  readonly length: number
}

interface Tracked {
  path: string
  /** Since the last sync. */
  unsynced: Replaced[]
  /** Of syncs that failed. */
  readonly lost: Replaced[]
}

const OWNER_ONLY = 0o600

/**
 * A disk that fails syncs as file systems do (J7): what was written is read as long as the process lives, later syncs
 * find nothing to write, and in the end it was never there.
 */
export class ForgetfulDisk {
  readonly disk: Disk
  #tracked: Tracked[] = []

  constructor(plain: Disk = roomyDisk) {
    const renamed = (from: string, to: string) => {
      this.#forget(to)
      for (const file of this.#tracked) if (file.path === from) file.path = to
    }
    const names = altered(plain, {
      rename: (from, to) => {
        plain.rename(from, to)
        renamed(from, to)
      },
      renameAsync: async (from, to) => {
        await plain.renameAsync(from, to)
        renamed(from, to)
      },
      remove: (path) => {
        plain.remove(path)
        this.#forget(path)
      },
      removeAsync: async (path) => {
        await plain.removeAsync(path)
        this.#forget(path)
      },
    })
    this.disk = alteredFiles(names, (file) => this.#tracking(file))
  }

  /** A sync of the file under this name is failing: what it should have made durable is lost. */
  lose(path: string): void {
    for (const file of this.#tracked) if (file.path === path) file.lost.push(...file.unsynced.splice(0))
  }

  /** The process has ended: what was lost is gone. Returns how many writes that were. */
  forgetLost(): number {
    let count = 0
    for (const { path, lost } of this.#tracked) {
      if (lost.length === 0 || !existsSync(path)) continue
      chmodSync(path, OWNER_ONLY)
      const descriptor = openSync(path, 'r+')
      for (const { position, bytes, length } of lost.toReversed()) {
        writeSync(descriptor, bytes, 0, bytes.length, position)
        ftruncateSync(descriptor, length)
        count += 1
      }
      closeSync(descriptor)
    }
    return count
  }

  #forget(path: string): void {
    this.#tracked = this.#tracked.filter((file) => file.path !== path)
  }

  #tracking(file: DiskFile): Partial<DiskFile> {
    const tracked: Tracked = { path: file.path, unsynced: [], lost: [] }
    this.#tracked.push(tracked)
    const replace = (position: number, size: number) => {
      const bytes = Buffer.alloc(size)
      const there = file.readAt(bytes, position, size)
      tracked.unsynced.push({ position, bytes: bytes.subarray(0, there), length: file.size() })
    }
    const synced = () => {
      tracked.unsynced = []
    }
    return {
      writeAt: (bytes, position) => {
        replace(position, bytes.length)
        file.writeAt(bytes, position)
      },
      writeAtAsync: (bytes, position) => {
        replace(position, bytes.length)
        return file.writeAtAsync(bytes, position)
      },
      truncate: (length) => {
        replace(length, Math.max(0, file.size() - length))
        file.truncate(length)
      },
      sync: () => {
        file.sync()
        synced()
      },
      syncAsync: async () => {
        await file.syncAsync()
        synced()
      },
      seal: () => {
        file.seal()
        synced()
      },
    }
  }
}
