import { join } from 'node:path'
import { type Sequence, sequenceOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { SCHEMA_VERSION } from '../tables/applied.ts'
import { type SnapshotName, usableNames } from './snapshot-file.ts'

const CHANGES = /^(\d{1,9})-(\d{16})-(\d{16})\.changes$/

/** A file of changes in the directory of snapshots, by its name: they lead from one position to another. */
export interface ChangesName extends SnapshotName {
  /** Of the last record of the state that they are applied to. */
  readonly from: Sequence
}

/** A whole snapshot and the files of changes after it, each from the position at which the file before ends. */
export interface Chain {
  readonly whole: SnapshotName
  readonly changes: readonly ChangesName[]
  /** Of the last record that its rows hold. */
  readonly sequence: Sequence
}

export function changesPath(paths: StorePaths, from: Sequence, sequence: Sequence): string {
  const [first, last] = [from, sequence].map((number) => String(number).padStart(16, '0'))
  return join(paths.snapshots, `${SCHEMA_VERSION}-${first}-${last}.changes`)
}

/** Files of changes of every version of the tables. */
export function changesNames(disk: Disk, paths: StorePaths): ChangesName[] {
  return disk.list(paths.snapshots).flatMap((name): ChangesName[] => {
    const [, version, ...ends] = CHANGES.exec(name) ?? []
    const [from, sequence] = ends.map(Number)
    if (from === undefined || sequence === undefined || !Number.isSafeInteger(sequence) || from >= sequence) return []
    const path = join(paths.snapshots, name)
    return [{ name, path, version: Number(version), from: sequenceOf(from), sequence: sequenceOf(sequence) }]
  })
}

/**
 * What projections can be made from: one chain for each whole snapshot whose tables have this program's layout, by their snapshots, the
 * newest first. An older chain goes as far as a newer one while no file of changes is missing.
 * @param without names of files that are not used
 */
export function chains(disk: Disk, paths: StorePaths, without: readonly string[] = []): Chain[] {
  const isUsed = ({ name }: SnapshotName) => !without.includes(name)
  const after = new Map<Sequence, ChangesName>()
  for (const changes of changesNames(disk, paths).filter(isUsed)) {
    if (changes.version !== SCHEMA_VERSION) continue
    // Of two that begin at one position, the shorter was damaged once.
    const other = after.get(changes.from)
    if (other === undefined || other.sequence < changes.sequence) after.set(changes.from, changes)
  }
  return usableNames(disk, paths)
    .filter(isUsed)
    .map((whole) => {
      const changes: ChangesName[] = []
      for (let next = after.get(whole.sequence); next !== undefined; next = after.get(next.sequence)) changes.push(next)
      return { whole, changes, sequence: changes.at(-1)?.sequence ?? whole.sequence }
    })
}

/** Files of a chain in the order in which they are used. */
export function filesOf({ whole, changes }: Chain): SnapshotName[] {
  return [whole, ...changes]
}

/** Every file that a chain uses. */
export function chainFiles(disk: Disk, paths: StorePaths): SnapshotName[] {
  const all = chains(disk, paths).flatMap(filesOf)
  return [...new Map(all.map((file) => [file.name, file])).values()]
}

/** Bytes of the files of changes of a chain. */
export function changesBytes(disk: Disk, { changes }: Chain): number {
  return changes.reduce((sum, { path }) => sum + disk.sizeOf(path), 0)
}

/** Removes the files of this version of the tables that no chain of the newest `kept` whole snapshots uses. */
export function removeSuperseded(disk: Disk, paths: StorePaths, kept: number): void {
  const used = new Set(
    chains(disk, paths)
      .slice(0, kept)
      .flatMap(filesOf)
      .map(({ name }) => name),
  )
  const gone = [...usableNames(disk, paths), ...changesNames(disk, paths)].filter(
    ({ name, version }) => version === SCHEMA_VERSION && !used.has(name),
  )
  for (const { path } of gone) disk.remove(path)
  if (gone.length > 0) disk.syncDirectory(paths.snapshots)
}
