/** The independent verifier on a journal in memory: it reads files, so it is given a copy. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type VerificationReport, verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import type { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'

/** What the verifier says of the journal on a disk as it is read, damage included; undefined when there is none. */
export async function verifyImage(disk: SimulatedDisk, paths: StorePaths): Promise<VerificationReport | undefined> {
  const names = disk.list(paths.journal).filter((name) => name.endsWith('.segment') || name === 'HEAD')
  if (!names.some((name) => name.endsWith('.segment'))) return undefined
  const directory = join(paths.root, 'image')
  fs.mkdirSync(directory)
  try {
    for (const name of names) {
      fs.writeFileSync(join(directory, name), disk.file(join(paths.journal, name))?.damagedBytes() ?? '')
    }
    return await verifyJournal(directory, { threads: 0, settleMilliseconds: 0 })
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}
