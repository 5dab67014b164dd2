/** Trees of files whose names and sizes are what clients and servers stumble over. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sampleBytes } from '../support/sample-bytes.ts'

const ODD_NAMES = [
  'plain.txt',
  'with space.txt',
  ' begins and ends ',
  'plus+plus.txt',
  'percent%2Fslash.txt',
  'percent%.txt',
  'question?mark.txt',
  'hash#mark.txt',
  'and&amp;.txt',
  'quotes\'".txt',
  'angle<brackets>.txt',
  'dollar$ash.txt',
  'semi;colon,comma=equals@at:colon.txt',
  'brackets[0]{1}(2).txt',
  'back\\slash.txt',
  'star*tilde~.txt',
  '.hidden',
  '..two-dots',
  'umlaut-äöü.txt',
  'decomposed-a\u0308.txt',
  'chinese-文件.txt',
  'emoji-🗄️.txt',
  'tab\there.txt',
  'line\nend.txt',
  'UPPER.txt',
  'upper.txt',
] as const

/** Empty, tiny, around the 64 KiB from which on an object has a file of its own, larger. */
const SIZES = [0, 1, 100, 65_535, 65_536, 65_537, 300_000] as const

/** Names with a directory before some of them, and contents, `count` in all. */
export function oddTree(count: number): Map<string, Buffer> {
  const tree = new Map<string, Buffer>()
  for (let index = 0; index < count; index += 1) {
    const name = ODD_NAMES[index % ODD_NAMES.length] ?? ''
    const round = Math.floor(index / ODD_NAMES.length)
    const directory = ['', 'a/', 'a/b c/', 'ä+ö/', 'deep/er/and/deep er/'][round % 5] ?? ''
    const path = round < 5 ? directory + name : `${directory}${round}/${name}`
    tree.set(path, sampleBytes(SIZES[index % SIZES.length] ?? 0, index))
  }
  return tree
}

export function writeTree(directory: string, tree: ReadonlyMap<string, Buffer>): void {
  for (const [path, bytes] of tree) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), bytes)
  }
}

/** What a directory holds, as path and SHA-256, sorted by path. */
export function digestsOf(directory: string): [path: string, digest: string][] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [path.slice(directory.length + 1), digestOf(readFileSync(path))])
    .sort(byPath)
}

/** The same of a tree in memory. */
export function digestsOfTree(tree: ReadonlyMap<string, Buffer>): [path: string, digest: string][] {
  return [...tree].map(([path, bytes]): [string, string] => [path, digestOf(bytes)]).sort(byPath)
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function byPath(left: readonly [string, string], right: readonly [string, string]): number {
  return Buffer.compare(Buffer.from(left[0]), Buffer.from(right[0]))
}
