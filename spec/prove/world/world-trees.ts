/**
 * The trees of checkpoints on the disk of a world. They are in the directory of the projections, which a world has in
 * memory: their files have another name on the disk.
 */
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { treesIn } from '../../../projections/checkpoints/tree-files.ts'
import { altered } from '../mutants/altered.ts'

/** @param plain what holds everything else @param under the disk that holds the trees */
export function withTrees(plain: Disk, under: Disk, paths: StorePaths): Disk {
  const on = (path: string) => (placeOf(paths, path) === undefined ? plain : under)
  const at = (path: string) => placeOf(paths, path) ?? path
  return altered<Disk>(plain, {
    create: (path) => on(path).create(at(path)),
    openToWrite: (path) => on(path).openToWrite(at(path)),
    openToRead: (path) => on(path).openToRead(at(path)),
    createAsync: (path) => on(path).createAsync(at(path)),
    openToReadAsync: (path) => on(path).openToReadAsync(at(path)),
    makeDirectory: (path) => on(path).makeDirectory(at(path)),
    syncDirectory: (path) => on(path).syncDirectory(at(path)),
    syncDirectoryAsync: (path) => on(path).syncDirectoryAsync(at(path)),
    remove: (path) => on(path).remove(at(path)),
    removeAsync: (path) => on(path).removeAsync(at(path)),
    exists: (path) => on(path).exists(at(path)),
    list: (path) => on(path).list(at(path)),
    sizeOf: (path) => on(path).sizeOf(at(path)),
    removeTree(path) {
      plain.removeTree(path)
      removeTrees(under, paths, path)
    },
  })
}

/** They are gone with their projections. */
export function removeTrees(disk: Disk, paths: StorePaths, projections = paths.projections): void {
  const place = placeOf(paths, treesIn(projections))
  if (place !== undefined) for (const name of disk.list(place)) disk.remove(`${place}/${name}`)
}

/** Where a path of trees is on the disk; undefined for any other. */
function placeOf({ projections }: StorePaths, path: string): string | undefined {
  const [, kind = '', file = ''] = TREES.exec(path.startsWith(projections) ? path.slice(projections.length) : '') ?? []
  return file === ''
    ? undefined
    : `${projections.replace(/projections$/, 'trees')}${kind}${file.slice('/trees'.length)}`
}

/** Of projections that are in force, or are made or compared. */
const TREES = /^(-\w+)?(\/trees(?:\/.*)?)$/
