import type { DiskFile } from '../../../engine/disk/disk.ts'
import { altered } from '../mutants/altered.ts'

/** A file on the file system of the machine, whose writes and syncs are counted, and end when the power does. */
export function countedFile(file: DiskFile, use: () => void): DiskFile {
  return altered(file, {
    writeAt: (bytes, position) => {
      use()
      file.writeAt(bytes, position)
    },
    truncate: (length) => {
      use()
      file.truncate(length)
    },
    sync: () => {
      use()
      file.sync()
    },
  })
}
