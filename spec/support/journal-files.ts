/** Looking at and damaging the files of a journal that is not open. */
import { closeSync, openSync, readFileSync, readSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { digestOf } from './commands.ts'

/** Names of the segments, in order. */
export function segmentNames(paths: StorePaths): string[] {
  return readdirSync(paths.journal)
    .filter((name) => name.endsWith('.segment'))
    .toSorted()
}

/** Path of a segment by its place; -1 is the last one. */
export function segmentPath(paths: StorePaths, index: number): string {
  return join(paths.journal, segmentNames(paths).at(index) ?? '')
}

/** Bytes of the journal, up to the last one that is not the zeros written ahead. */
export function writtenBytes(paths: StorePaths): number {
  return segmentNames(paths)
    .map((name) => readFileSync(join(paths.journal, name)).findLastIndex((byte) => byte !== 0) + 1)
    .reduce((sum, bytes) => sum + bytes, 0)
}

/** Replaces a file, a read-only one too. */
export function editFile(file: string, change: (bytes: Buffer) => Buffer | undefined): void {
  const bytes = readFileSync(file)
  const changed = change(bytes) ?? bytes
  rmSync(file)
  writeFileSync(file, changed)
}

export function flipByte(file: string, offset: number): void {
  editFile(file, (bytes) => {
    bytes[offset] = (bytes[offset] ?? 0) ^ 0x10
    return bytes
  })
}

/** Flips bits of a byte in a file that may be open, whose readers then find it so. */
export function flipByteInPlace(file: string, offset: number, bits = 0x10): void {
  const handle = openSync(file, 'r+')
  const byte = Buffer.alloc(1)
  readSync(handle, byte, 0, 1, offset)
  writeSync(handle, Buffer.of((byte[0] as number) ^ bits), 0, 1, offset)
  closeSync(handle)
}

/** Flips a bit, counted from the lowest one of the first byte: once more, and the file is as it was. */
export function flipBitInPlace(file: string, bit: number): void {
  flipByteInPlace(file, bit >> 3, 1 << (bit & 7))
}

/** Length without the zeros at the end. A segment's data ends with a letter, so this is where its data ends. */
export function dataLength(file: string): number {
  return readFileSync(file).findLastIndex((byte) => byte !== 0) + 1
}

/** Names and contents of the segments, without zeros at the end: those of the open segment may be renewed. */
export function journalListing(paths: StorePaths): string[] {
  return readdirSync(paths.journal, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.segment'))
    .map(({ name }) => {
      const file = join(paths.journal, name)
      return `${name} ${digestOf(readFileSync(file).subarray(0, dataLength(file))).toString('hex')}`
    })
}
