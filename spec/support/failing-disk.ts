import { type Disk, type DiskFile, DiskFullError } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'

/** A disk that fails at one operation that changes something, and at all after it. */
export function failingAt(operation: number): { readonly disk: Disk; readonly reached: () => boolean } {
  let count = 0
  const next = (): void => {
    count += 1
    if (count > operation) throw new DiskFullError('the disk is full')
  }
  const changing = (file: DiskFile): DiskFile =>
    new Proxy(file, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          if (name === 'writeAt' || name === 'writeAtAsync' || name === 'truncate') next()
          return (value as (...values: unknown[]) => unknown).apply(target, values)
        }
      },
    })
  const disk: Disk = {
    ...nodeDisk,
    create: (path) => {
      next()
      return changing(nodeDisk.create(path))
    },
    createAsync: async (path) => {
      next()
      return changing(await nodeDisk.createAsync(path))
    },
    openToWrite: (path) => changing(nodeDisk.openToWrite(path)),
    rename: (from, to) => {
      next()
      nodeDisk.rename(from, to)
    },
    renameAsync: async (from, to) => {
      next()
      await nodeDisk.renameAsync(from, to)
    },
  }
  return { disk, reached: () => count > operation }
}
