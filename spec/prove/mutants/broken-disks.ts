/** Stores that ask too little of their disk, or do not listen to it. */
import { type Disk, type DiskFile, ShortWriteError } from '../../../engine/disk/disk.ts'
import { altered, alteredFiles } from './altered.ts'

/** Files of the journal under any name they are opened by, but for the mark. */
const JOURNAL = /\/journal\/(\d+\.segment|spare|rewrite)/
export const FILES = { journal: JOURNAL, volumes: /\/volumes\//, uploads: /\/payloads\/tmp\// } as const

/** Syncs of some files do nothing. */
export function withoutSync(disk: Disk, files: RegExp): Disk {
  const nothing = { sync: () => undefined, syncAsync: async () => undefined, seal: () => undefined }
  return alteredFiles(disk, ({ path }) => (files.test(path) ? nothing : {}))
}

/** Syncs of some directories do nothing. */
export function withoutNames(disk: Disk, directories: RegExp): Disk {
  return altered(disk, {
    syncDirectory: (path) => (directories.test(path) ? undefined : disk.syncDirectory(path)),
    syncDirectoryAsync: async (path) => (directories.test(path) ? undefined : disk.syncDirectoryAsync(path)),
  })
}

/** A sync of the journal returns at once and is made up for before the next write. */
export function acknowledgingFirst(disk: Disk): Disk {
  return alteredFiles(disk, (file) => {
    if (!JOURNAL.test(file.path)) return {}
    let owed = false
    return {
      sync: () => {
        owed = true
      },
      writeAt: (bytes, position) => {
        if (owed) file.sync()
        owed = false
        file.writeAt(bytes, position)
      },
    }
  })
}

/** Small payloads are synced, but only when the journal that speaks of them is. */
export function payloadsLast(disk: Disk): Disk {
  const owed = new Set<DiskFile>()
  return alteredFiles(disk, (file) => {
    if (FILES.volumes.test(file.path)) return { sync: () => void owed.add(file) }
    if (!JOURNAL.test(file.path)) return {}
    return {
      sync: () => {
        file.sync()
        for (const volume of owed) volume.sync()
        owed.clear()
      },
    }
  })
}

/** A sync that failed is tried once more, and then believed. */
export function tryingAgain(disk: Disk): Disk {
  return alteredFiles(disk, (file) => ({
    sync: () => {
      try {
        file.sync()
      } catch {
        file.sync()
      }
    },
    syncAsync: () => file.syncAsync().catch(() => file.syncAsync()),
  }))
}

function isShort(error: unknown): boolean {
  return error instanceof ShortWriteError
}

/** How much of a write was done is not looked at. */
export function carelessOfLength(disk: Disk): Disk {
  return alteredFiles(disk, (file) => ({
    writeAt: (bytes, position) => {
      try {
        file.writeAt(bytes, position)
      } catch (error) {
        if (!isShort(error)) throw error
      }
    },
    writeAtAsync: (bytes, position) =>
      file.writeAtAsync(bytes, position).catch((error: unknown) => {
        if (!isShort(error)) throw error
      }),
  }))
}
