import { join } from 'node:path'
import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'

const SEQUENCE_DIGITS = 16
const NAME = /^(\d{16})-(\d{16})-(\d)\.index$/
/** Name of a file that is not complete. */
const MAKING = 'making'
/** Files of one level that are put together to one of the next level. */
export const MERGED_FILES = 10

/** A file of the record index, by its name. */
export interface IndexName {
  readonly path: string
  /** The records from the first sequence up to the following one. */
  readonly first: number
  readonly following: number
  /** A file of a level is put together of ten of the level below, or of about as many records. */
  readonly level: number
}

export function indexPath(paths: StorePaths, { first, following, level }: Omit<IndexName, 'path'>): string {
  const [from, to] = [first, following].map((sequence) => String(sequence).padStart(SEQUENCE_DIGITS, '0'))
  return join(paths.recordIndex, `${from}-${to}-${level}.index`)
}

/** Of a file that is not complete. */
export function makingPath(paths: StorePaths): string {
  return join(paths.recordIndex, MAKING)
}

interface ListedFiles {
  /** Complete files, none of which has a record of another, in the order of the journal. */
  readonly used: readonly IndexName[]
  /** Files that were put together to another one, and what was not finished. */
  readonly superfluous: readonly string[]
}

/** The files of the record index, as their names say. Of files with the same records the widest counts. */
export function listIndex(disk: Pick<Disk, 'list'>, paths: StorePaths): ListedFiles {
  const used: IndexName[] = []
  const superfluous: string[] = []
  const found: IndexName[] = []
  for (const name of disk.list(paths.recordIndex)) {
    const path = join(paths.recordIndex, name)
    const [, first, following, level] = NAME.exec(name) ?? []
    if (first !== undefined)
      found.push({ path, first: Number(first), following: Number(following), level: Number(level) })
    else if (name === MAKING) superfluous.push(path)
  }
  found.sort((one, other) => one.first - other.first || other.following - one.following || other.level - one.level)
  let covered = 0
  for (const name of found) {
    if (name.first < covered || name.following <= name.first) superfluous.push(name.path)
    else {
      used.push(name)
      covered = name.following
    }
  }
  return { used, superfluous }
}

/**
 * The first files that are to be put together: neighbours of one level, without a gap. They are ten, or all before a file of a higher
 * level: no other will come between, and a few that stayed so would keep the higher ones apart for ever.
 */
export function filesToMerge(used: readonly IndexName[]): readonly IndexName[] | undefined {
  let run: IndexName[] = []
  for (const name of used) {
    const last = run.at(-1)
    const isNext = last !== undefined && last.following === name.first
    if (isNext && last.level < name.level) return run
    run = isNext && last.level === name.level ? [...run, name] : [name]
    if (run.length === MERGED_FILES) return run
  }
  return undefined
}
