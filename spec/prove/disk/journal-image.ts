/** The independent verifier on a journal in memory. */
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import type { JournalFile, JournalFiles } from '../../../engine/verify/journal-files.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'

/** What the verifier says of the journal on a disk as it is read, damage included; undefined when there is none. */
export async function verifyImage(disk: SimulatedDisk, paths: StorePaths): Promise<VerificationReport | undefined> {
  if (!disk.list(paths.journal).some((name) => name.endsWith('.segment'))) return undefined
  return verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0, files: imageOf(disk) })
}

/** The files as a copy of them would be: sectors that cannot be read are zeros. */
function imageOf(disk: SimulatedDisk): JournalFiles {
  return {
    list: (directory) => disk.list(directory),
    openToRead(path) {
      const bytes = disk.file(path)?.damagedBytes()
      return bytes === undefined ? disk.openToRead(path) : fileOf(bytes)
    },
  }
}

function fileOf(bytes: Buffer): JournalFile {
  return {
    size: () => bytes.length,
    readAt: (target, position, length) => bytes.copy(target, 0, position, position + length),
    close: () => undefined,
  }
}
