/** One bit of one file of a stopped store, and the moment at which it turns. */
import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs'
import { join, relative } from 'node:path'
import { COLD_MAGIC } from '../../../engine/journal/cold/cold-format.ts'
import { kindOfFile } from '../../support/damage/kinds-of-files.ts'
import type { Random } from '../../support/random.ts'
import { filesIn } from '../store-at-rest.ts'

/** What the store was before the flip; `running`: the bit turns under a server that has started. */
export const MOMENTS = ['stopped', 'killed', 'after a power cut', 'running'] as const
export type Moment = (typeof MOMENTS)[number]

export interface Flip {
  readonly moment: Moment
  /** As `kinds-of-files.ts` has it; of segments also which. */
  readonly kind: string
  /** Path in the data directory. */
  readonly file: string
  readonly position: number
  /** 0 to 7. */
  readonly bit: number
}

interface FlippableFile {
  readonly kind: string
  readonly file: string
  readonly bytes: number
}

/** The files of a stopped store that have bytes. @throws Error for a file of a kind that no table knows */
export function flippableFiles(root: string): readonly FlippableFile[] {
  const files = filesIn(root)
    .map((path) => ({ path, file: relative(root, path), bytes: statSync(path).size }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((left, right) => (left.file < right.file ? -1 : 1))
  const last = readdirSync(join(root, 'journal'))
    .toSorted()
    .findLast((name) => name.endsWith('.segment'))
  return files.map(({ path, file, bytes }) => {
    const name = kindOfFile(file)?.name
    if (name === undefined) throw new Error(`${file} is of no kind in kinds-of-files.ts`)
    return { kind: name === 'segment' ? kindOfSegment(path, file === `journal/${last}`) : name, file, bytes }
  })
}

function kindOfSegment(path: string, isOpen: boolean): string {
  const magic = Buffer.alloc(COLD_MAGIC.length)
  const descriptor = openSync(path, 'r')
  readSync(descriptor, magic, 0, magic.length, 0)
  closeSync(descriptor)
  if (magic.equals(COLD_MAGIC)) return 'cold segment'
  return isOpen ? 'open segment' : 'sealed segment'
}

/** Of every other one each bit of the store is as likely as another; of the rest each kind of file is, and each file of it. */
export function chooseFlip(files: readonly FlippableFile[], moment: Moment, random: Random): Flip {
  const { kind, file, bytes } = random.below(2) === 0 ? byBytes(files, random) : byKind(files, random)
  return { moment, kind, file, position: random.below(bytes), bit: random.below(8) }
}

function byBytes(files: readonly FlippableFile[], random: Random): FlippableFile {
  let at = random.below(files.reduce((sum, { bytes }) => sum + bytes, 0))
  for (const file of files) {
    if (at < file.bytes) return file
    at -= file.bytes
  }
  throw new Error('a store without bytes')
}

function byKind(files: readonly FlippableFile[], random: Random): FlippableFile {
  const kind = random.of([...new Set(files.map((file) => file.kind))])
  return random.of(files.filter((file) => file.kind === kind))
}

/** Turns the bit; again: turns it back. */
export function turn(root: string, { file, position, bit }: Flip): void {
  const descriptor = openSync(join(root, file), 'r+')
  try {
    writeSync(descriptor, Buffer.of(byteAt(descriptor, position) ^ (1 << bit)), 0, 1, position)
  } finally {
    closeSync(descriptor)
  }
}

function byteAt(descriptor: number, position: number): number {
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, position)
  return byte[0] as number
}

export function told({ moment, file, position, bit }: Flip): string {
  return `bit ${bit} of byte ${position} of ${file}, ${moment}`
}
