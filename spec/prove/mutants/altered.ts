/** Objects with some methods exchanged: how a mutant stands between the store and its disk. */
import type { Disk, DiskFile } from '../../../engine/disk/disk.ts'

/** The object, but for what stands in `changes`. */
export function altered<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const changed: unknown = Reflect.get(changes, name)
      if (changed !== undefined) return changed
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A disk whose files are not quite as they were. `change`: what is exchanged of a file, which is open under `path`. */
export function alteredFiles(disk: Disk, change: (file: DiskFile) => Partial<DiskFile>): Disk {
  const file = (plain: DiskFile) => altered(plain, change(plain))
  return altered(disk, {
    create: (path) => file(disk.create(path)),
    openToWrite: (path) => file(disk.openToWrite(path)),
    openToRead: (path) => file(disk.openToRead(path)),
    createAsync: async (path) => file(await disk.createAsync(path)),
    openToReadAsync: async (path) => file(await disk.openToReadAsync(path)),
  })
}
