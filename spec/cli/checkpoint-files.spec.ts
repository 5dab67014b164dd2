/** Commands that write files of checkpoints: the log for a web server, time stamps and their questions. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { readCheckpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import { TILE_WIDTH, TileTree } from '../../engine/checkpoints/tile-tree.ts'
import { LOG_HASHING } from '../../engine/checkpoints/tree-hashing.ts'
import { pathOfTile, tileOfPath } from '../../planes/management/requests/tile-path.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { auditOf } from '../support/commands.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { timeStampAuthority } from '../support/time-stamp-authority.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { store, apiEndpoint, paths } = server
let now = Date.now()
const signing = signingOf({ ...store, paths }, { intervalSeconds: 1, clock: () => now })
tap.teardown(() => signing.close())
const root = temporaryDirectory()
tap.teardown(() => rmSync(root, { recursive: true }))

function ask(...words: readonly string[]): Promise<Outcome> {
  return run(['checkpoint', ...words], {
    environment: { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN },
  })
}

async function records(count: number): Promise<CheckpointState> {
  for (let index = 0; index < count; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
  return signing.reader.last() as CheckpointState
}

/** The root that the files of an export give to whoever reads nothing else: by the recursive definition of RFC 6962. */
function rootOfFiles(directory: string): Buffer {
  const { size } = readCheckpointNote(readFileSync(join(directory, 'checkpoint'), 'utf8'))
  const entries: Buffer[] = []
  for (let tile = 0; tile * TILE_WIDTH < size; tile += 1) {
    const width = Math.min(TILE_WIDTH, size - tile * TILE_WIDTH)
    const bytes = readFileSync(join(directory, 'tile', pathOfTile({ level: 'entries', index: tile, width })))
    for (let at = 0; at < width; at += 1) entries.push(bytes.subarray(at * 34 + 2, at * 34 + 34))
  }
  return treeHash(entries)
}

function treeHash(entries: readonly Buffer[]): Buffer {
  const [first] = entries
  if (entries.length === 1) return sha256(Buffer.of(0), first as Buffer)
  let split = 1
  while (split * 2 < entries.length) split *= 2
  return sha256(Buffer.of(1), treeHash(entries.slice(0, split)), treeHash(entries.slice(split)))
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}

/** Entries as their tile has them. */
function framed(some: readonly Buffer[]): Buffer {
  return Buffer.concat(some.flatMap((one) => [Buffer.of(0, 32), one]))
}

test('a tree of tiles has the roots of the tree, of every size, and its tiles their hashes', (t) => {
  const entries = Array.from({ length: 700 }, (_, index) => Buffer.alloc(32, index % 251))
  for (const size of [0, 1, 2, 3, 5, 255, 256, 257, 300, 511, 512, 513, 700]) {
    const tree = new TileTree()
    for (let at = 0; at < size; at += TILE_WIDTH) tree.add(framed(entries.slice(at, Math.min(size, at + TILE_WIDTH))))
    t.same(tree.root(), size === 0 ? undefined : treeHash(entries.slice(0, size)), `${size}`)
    if (size % TILE_WIDTH === 0 && size < 700) {
      t.same(tree.root(framed(entries.slice(size, size + 7))), treeHash(entries.slice(0, size + 7)), 'and more')
    }
  }
  const [tile] = new TileTree().add(framed(entries.slice(0, 256)))
  t.same(tile?.bytes.subarray(0, 32), LOG_HASHING.leaf(entries[0] as Buffer))
  for (const path of ['0/x001/x234/067', 'entries/000.p/5', '2/999', '1/x001/000']) {
    const name = tileOfPath(path)
    t.equal(name && pathOfTile(name), path)
  }
  t.end()
})

test('an export has every tile of the log, is continued by a later one, and tells each file that is wrong', async (t) => {
  const directory = join(root, 'log')
  t.match(await ask('export', directory), { exitCode: 4 }, 'there is no checkpoint yet')
  const first = await records(300)
  const done = await ask('export', directory)
  t.match(done, { exitCode: 0, stdout: /size +\d+/ })
  t.equal(readFileSync(join(directory, 'checkpoint'), 'utf8'), noteOf(first))
  t.same(rootOfFiles(directory), Buffer.from(first.root))
  t.equal(statSync(join(directory, 'checkpoint')).mode & 0o777, 0o644, 'a web server may read it')
  t.ok(readdirSync(join(directory, 'tile')).includes('1'), 'roots of full tiles are there')
  t.match(JSON.parse((await ask('export', directory, '--json')).stdout), { fetched: 0 })

  const second = await records(400)
  t.match(JSON.parse((await ask('export', directory, '--json')).stdout), { size: second.size, fetched: 2 })
  t.same(rootOfFiles(directory), Buffer.from(second.root))

  // It was interrupted: tiles are there, one is not, and there is no checkpoint.
  rmSync(join(directory, 'checkpoint'))
  rmSync(join(directory, 'tile', 'entries', '000'))
  t.match(JSON.parse((await ask('export', directory, '--json')).stdout), { fetched: 1 })
  t.equal(readFileSync(join(directory, 'checkpoint'), 'utf8'), noteOf(second))

  const tile = join(directory, 'tile', 'entries', '001')
  const bytes = readFileSync(tile)
  writeFileSync(tile, Buffer.from(bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte))))
  rmSync(join(directory, 'checkpoint'))
  t.match(await ask('export', directory), { exitCode: 8, stderr: /do not lead to the root/ })
  t.notOk(statSync(join(directory, 'checkpoint'), { throwIfNoEntry: false }), 'what is not whole has no checkpoint')
  writeFileSync(tile, bytes)
})

test('incomplete tiles that later ones replace do not pile up', async (t) => {
  const directory = join(root, 'kept')
  await ask('export', directory)
  const partials = () =>
    readdirSync(join(directory, 'tile'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.p\/\d+$/.test(name))
  const widths: number[] = []
  for (const count of [1, 1, 1, 300, 1, 1]) {
    const { root: signed } = await records(count)
    t.match(await ask('export', directory), { exitCode: 0 })
    t.same(rootOfFiles(directory), Buffer.from(signed))
    widths.push(partials().filter((name) => name.startsWith('entries/')).length)
  }
  t.same(widths, [2, 2, 2, 1, 2, 2], 'that of the checkpoint before stays while its tile is not complete')
})

test('a directory of another log, or of one that this log does not continue, is refused', async (t) => {
  const directory = join(root, 'other')
  const last = signing.reader.last() as CheckpointState
  await ask('export', directory)
  const cases: readonly (readonly [string, number, RegExp])[] = [
    [noteOf({ ...last, origin: 'other/log' }), 2, /holds the log other\/log/],
    [noteOf({ ...last, size: last.size + 1 }), 8, /was rolled back/],
    [noteOf({ ...last, size: 300, root: Buffer.alloc(32) }), 8, /does not continue the checkpoint of 300/],
    ['text', 8, /is not a checkpoint/],
  ]
  for (const [note, exitCode, stderr] of cases) {
    writeFileSync(join(directory, 'checkpoint'), note)
    t.match(await ask('export', directory), { exitCode, stderr })
  }
})

test('a store that reaches no authority gets its time stamp by hand, and openssl accepts what is saved', async (t) => {
  const authority = timeStampAuthority(join(root, 'tsa'))
  const [question, answer, saved] = ['q.tsq', 'a.tsr', 's.tsr'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  const { size, bundleRoot } = signing.reader.last() as CheckpointState
  t.match(await ask('timestamp', '--output', saved), { exitCode: 4, stderr: /has no time stamp/ })
  t.match(await ask('timestamp', '--request', question), {
    exitCode: 0,
    stdout: new RegExp(Buffer.from(bundleRoot).toString('hex')),
  })
  writeFileSync(answer, authority.answer(readFileSync(question)))
  t.match(await ask('timestamp', '--receipt', answer, '--giver', 'https://tsa.example/', '--size', String(size)), {
    exitCode: 0,
    stdout: new RegExp(`size +${size}`),
  })
  t.match(await ask('timestamp', '--output', saved, '--size', String(size)), { exitCode: 0 })
  t.ok(authority.verify(readFileSync(saved), bundleRoot))
  t.notOk(authority.verify(readFileSync(saved), Buffer.alloc(32)))
  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[], 2, /must be given/],
    [['--output', saved, '--request', question], 2, /must be given/],
    [['--output', saved, '--giver', 'x'], 2, /belongs to --receipt/],
    [['--output', saved, '--size', '1'], 4, /no checkpoint of 1 records/],
    [['--receipt', question], 1, /RECEIPT_REFUSED/],
    [['--receipt', join(root, 'none')], 4, /cannot be read/],
  ]
  for (const [words, exitCode, stderr] of wrong) t.match(await ask('timestamp', ...words), { exitCode, stderr })
})
