/** No flipped bit in any file of the trees gets out: not into a proof, not into a tile, not into what is signed. */
import { createHash } from 'node:crypto'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { BUNDLE_HASHING, LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { rootOfInclusion, treeRoot } from '../../engine/checkpoints/tree-shape.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import { TREE_FILES, TreeFiles, treesIn } from '../../projections/checkpoints/tree-files.ts'
import { flipByteInPlace } from '../support/journal-files.ts'

const SIZE = 132_000
const OLD = 66_000
const hashes = Buffer.concat(
  Array.from({ length: SIZE }, (_, index) => createHash('sha256').update(`${index}`).digest()),
)

/** Trees, and the log of a store that signed two checkpoints over them. */
function builtLog(root: string): { readonly directory: string; readonly log: CheckpointLog } {
  const paths = new StorePaths(root)
  const directory = treesIn(paths.projections)
  const trees = TreeFiles.openToWrite(nodeDisk, directory)
  const signed: { size: number; root: Buffer; bundleRoot: Buffer }[] = []
  for (const size of [OLD, SIZE]) {
    trees.append(hashes.subarray(trees.size * 32, size * 32))
    signed.push({ size, root: trees.rootInMemory('log'), bundleRoot: trees.rootInMemory('bundle') })
    const read = [treeRoot(trees.tree('log'), size), treeRoot(trees.tree('bundle'), size)]
    if (!read.every((one, at) => one.equals((at === 0 ? signed.at(-1)?.root : signed.at(-1)?.bundleRoot) ?? one))) {
      throw new Error('the roots in memory are not those of the files')
    }
  }
  trees.close()
  const checkpoints = signed.map((one) => ({
    ...one,
    origin: 'o',
    publicKey: Buffer.alloc(32),
    signature: Buffer.alloc(64),
  }))
  const reader = {
    last: () => checkpoints.at(-1),
    ofSize: (size: number) => checkpoints.find((one) => one.size === size),
    receiptsOf: () => [],
  }
  return { directory, log: new CheckpointLog(nodeDisk, paths, reader as unknown as CheckpointReader, () => undefined) }
}

/** Everything that could show a wrong hash; the name of what was told, or undefined when all of it is right. */
async function told(log: CheckpointLog, record: number): Promise<string | undefined> {
  try {
    log.inclusion(record, undefined)
    log.consistency(OLD, undefined)
    for (const [level, wide] of [
      ['entries', 1],
      [0, 1],
      [1, 256],
      [2, 65_536],
    ] as const) {
      const index = Math.floor(record / (256 * wide))
      const width = Math.min(256, Math.floor(SIZE / wide) - index * 256)
      if (width > 0) log.tile({ level, index, width })
    }
    const hash = hashes.subarray(record * 32, record * 32 + 32).toString('hex')
    const last = log.last()
    await log.bundlePaths(last, [{ sequence: record, hash }], serverTurns)
    return undefined
  } catch (error) {
    return (error as { reason?: string }).reason
  }
}

test('a flipped bit in any file stops what would show it, and nothing wrong is ever given', async (t) => {
  const { directory, log } = builtLog(t.testdir())
  t.equal(await told(log, 70_000), undefined)
  // Of each file the hash that record 70,000, or its sibling, goes into, and the last one.
  for (const { name, level } of TREE_FILES) {
    const file = join(directory, name)
    const count = nodeDisk.sizeOf(file) / 32
    if (count === 0) continue
    const own = Math.floor(70_000 / 256 ** level)
    for (const index of new Set([own ^ 1, count - 1])) {
      // Nothing that is given has the hash that a path leads to on its way.
      if (index >= count || (index === own && name.startsWith('bundle'))) continue
      flipByteInPlace(file, index * 32 + 7)
      t.equal(await told(log, 70_000), 'damaged', `${name}, hash ${index}`)
      flipByteInPlace(file, index * 32 + 7)
    }
  }
  t.equal(await told(log, 70_000), undefined)
})

test('what is signed does not come from files that may have changed since', async (t) => {
  const directory = treesIn(new StorePaths(t.testdir()).projections)
  const trees = TreeFiles.openToWrite(nodeDisk, directory)
  trees.append(hashes.subarray(0, 1000 * 32))
  const roots = [trees.rootInMemory('log'), trees.rootInMemory('bundle')]
  for (const { name } of TREE_FILES) {
    const file = join(directory, name)
    if (nodeDisk.sizeOf(file) > 0) flipByteInPlace(file, nodeDisk.sizeOf(file) - 1)
  }
  t.same(
    [trees.rootInMemory('log'), trees.rootInMemory('bundle')],
    roots,
    'what is signed does not come from the files',
  )
  t.notSame(treeRoot(trees.tree('log'), 1000), roots[0])
  trees.close()
})

test('the roots in memory are those of the files, at every size and wherever they were opened', async (t) => {
  const directory = treesIn(new StorePaths(t.testdir()).projections)
  let trees = TreeFiles.openToWrite(nodeDisk, directory)
  let wrong = 0
  const steps = [...Array.from({ length: 520 }, () => 1), 247, 1, 1, 3000, 61_000, 700, 5, 251, 256, 255, 1]
  for (const [at, step] of steps.entries()) {
    trees.append(hashes.subarray(trees.size * 32, (trees.size + step) * 32))
    if (!trees.rootInMemory('log').equals(treeRoot(trees.tree('log'), trees.size))) wrong += 1
    if (!trees.rootInMemory('bundle').equals(treeRoot(trees.tree('bundle'), trees.size))) wrong += 1
    if (at % 7 !== 0) continue
    trees.close()
    trees = TreeFiles.openToWrite(nodeDisk, directory)
  }
  t.equal(wrong, 0)
  t.equal(
    trees.size,
    steps.reduce((sum, step) => sum + step, 0),
  )
  trees.close()
})

test('cut to any size, trees are those that only ever had so many records', async (t) => {
  const root = t.testdir()
  const one = join(root, 'one')
  const trees = TreeFiles.openToWrite(nodeDisk, one)
  trees.append(hashes.subarray(0, 66_100 * 32))
  for (const size of [66_099, 65_793, 65_792, 65_536, 65_535, 600, 512, 511, 1, 0]) {
    trees.cut(size)
    t.equal(trees.size, size)
    const other = TreeFiles.openToWrite(nodeDisk, join(root, `${size}`))
    if (size > 0) other.append(hashes.subarray(0, size * 32))
    other.close()
    for (const { name } of TREE_FILES) {
      t.same(readFileSync(join(one, name)), readFileSync(join(root, `${size}`, name)), `${name} of ${size}`)
    }
    if (size > 0) t.same(trees.rootInMemory('log'), treeRoot(trees.tree('log'), size))
  }
  trees.append(hashes.subarray(0, 300 * 32))
  t.same(trees.rootInMemory('bundle'), treeRoot(trees.tree('bundle'), 300))
  trees.close()
})

test('files of every length class are completed to the same bytes', async (t) => {
  const directory = treesIn(new StorePaths(t.testdir()).projections)
  const size = 66_000
  const trees = TreeFiles.openToWrite(nodeDisk, directory)
  trees.append(hashes.subarray(0, size * 32))
  trees.close()
  const whole = new Map(TREE_FILES.map(({ name }) => [name, readFileSync(join(directory, name))] as const))
  for (const { name } of TREE_FILES.slice(1)) {
    const bytes = whole.get(name) as Buffer
    const lengths = [0, 1, 31, 32, 33, bytes.length - 33, bytes.length - 32, bytes.length - 31, bytes.length - 1]
    for (const length of lengths.filter((one) => one >= 0 && one < bytes.length)) {
      truncateSync(join(directory, name), length)
      TreeFiles.openToWrite(nodeDisk, directory).close()
      const same = TREE_FILES.every((file) =>
        readFileSync(join(directory, file.name)).equals(whole.get(file.name) as Buffer),
      )
      if (!same) t.fail(`${name} of ${length} bytes`)
      writeFileSync(join(directory, name), bytes)
    }
  }
  const long = Buffer.concat([whole.get('log-1') as Buffer, Buffer.alloc(50, 9)])
  writeFileSync(join(directory, 'log-1'), long)
  TreeFiles.openToWrite(nodeDisk, directory).close()
  t.same(readFileSync(join(directory, 'log-1')), whole.get('log-1'), 'what is too long is cut')
})

test('paths of both trees lead to the roots in memory', async (t) => {
  const { log } = builtLog(t.testdir())
  const last = log.last()
  for (const record of [0, 255, 256, 65_535, 65_536, 131_071, 131_072, SIZE - 1]) {
    const [, , ...lines] = log.inclusion(record, undefined).split('\n')
    const path = lines.slice(0, lines.indexOf('')).map((line) => Buffer.from(line, 'base64'))
    const hash = hashes.subarray(record * 32, record * 32 + 32)
    t.same(rootOfInclusion(LOG_HASHING, hash, record, SIZE, path), last.root)
    const [steps = []] = await log.bundlePaths(last, [{ sequence: record, hash: hash.toString('hex') }], serverTurns)
    const other = steps.map((step) => Buffer.from(step.hash, 'hex'))
    t.same(rootOfInclusion(BUNDLE_HASHING, hash, record, SIZE, other), last.bundleRoot)
  }
})
