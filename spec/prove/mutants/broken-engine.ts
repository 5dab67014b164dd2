/** Stores with a part of the engine exchanged. */
import { join } from 'node:path'
import { sequenceOf } from '../../../engine/brands.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../../../engine/disk/store-paths.ts'
import { readJournal } from '../../../engine/journal/read-journal.ts'
import { PayloadDamagedError } from '../../../engine/payloads/payload-errors.ts'
import { PayloadReader } from '../../../engine/payloads/payload-reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'

/**
 * Before it opens, the store cuts the journal off at the first thing that it cannot read, whatever that is, and forgets
 * whatever would remind it.
 */
export function trimJournal(disk: Disk, paths: StorePaths): void {
  let whole: { readonly segmentFirstSequence: number; readonly offset: number } | undefined
  try {
    readJournal(disk, paths, undefined, { record: () => undefined, batch: (_, place) => (whole = place) })
  } catch {
    if (whole !== undefined) cutAt(disk, paths, whole.segmentFirstSequence, whole.offset)
  }
}

/** Cuts the journal off at a place, with whatever would remind the store of more. */
export function cutAt(disk: Disk, paths: StorePaths, first: number, length: number): void {
  const bytes = Buffer.alloc(length)
  disk.openToRead(paths.segment(sequenceOf(first))).readAt(bytes, 0, length)
  const path = join(paths.journal, 'cut')
  disk.remove(path)
  const file = disk.create(path)
  file.writeAt(bytes, 0)
  file.sync()
  disk.rename(path, paths.segment(sequenceOf(first)))
  for (const name of disk.list(paths.journal)) {
    if ((segmentFirstSequence(name) ?? 0) > first) disk.remove(join(paths.journal, name))
  }
  disk.remove(paths.head)
  disk.removeTree(paths.projections)
  disk.syncDirectory(paths.journal)
}

/** Rows are committed although the journal could not be: projections run ahead of it. */
export function commitRowsAnyway(): () => void {
  const { write } = ProjectionEnvironment.prototype
  ProjectionEnvironment.prototype.write = function <T>(this: ProjectionEnvironment, work: () => T): T {
    let failure: { readonly error: unknown } | undefined
    const result = write.call(this, () => {
      try {
        return work()
      } catch (error) {
        failure = { error }
        return undefined
      }
    })
    if (failure !== undefined) throw failure.error
    return result as T
  }
  return () => {
    ProjectionEnvironment.prototype.write = write
  }
}

/** Small payloads whose checksum is wrong are given out all the same, as zeros in their length. */
export function giveOutDamage(): () => void {
  const { readSmall } = PayloadReader.prototype
  PayloadReader.prototype.readSmall = function (this: PayloadReader, location, digest) {
    try {
      return readSmall.call(this, location, digest)
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error
      return Buffer.alloc(location.length)
    }
  }
  return () => {
    PayloadReader.prototype.readSmall = readSmall
  }
}
