/** The commands about checkpoints: what a server says, and what a verifier makes of it without one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { TreeFiles, treesIn } from '../../projections/checkpoints/tree-files.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { type Outcome, run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, apiEndpoint, paths } = server
let now = Date.now()
const signing = signingOf({ ...server.store, paths }, { intervalSeconds: 1, clock: () => now })
tap.teardown(() => signing.close())
const HERE = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

function ask(...words: readonly string[]): Promise<Outcome> {
  return run(['checkpoint', ...words], { environment: HERE })
}

function verify(...words: readonly string[]): Promise<Outcome> {
  return run(['checkpoint', 'verify', ...words])
}

test('without a checkpoint there is nothing to show', async (t) => {
  for (const words of [['show'], ['key'], ['prove', '0'], ['consistency', '1']]) {
    t.match(await ask(...words), { exitCode: 4, stdout: '', stderr: /CHECKPOINT_NOT_FOUND/ })
  }
})

test('an auditor keeps a checkpoint, and later checks offline that the store still has what it covers', async (t) => {
  const root = t.testdir()
  const file = (name: string) => join(root, name)
  await signing.settle()
  const first = signing.reader.last() as CheckpointState
  t.match(await ask('show', '--output', file('old.txt')), { exitCode: 0, stdout: '' })
  t.equal(readFileSync(file('old.txt'), 'utf8'), noteOf(first))
  await api.get('POST', '/buckets', { name: 'later' })
  now = Math.max(now, Date.now()) + 10_000
  await signing.settle()
  const last = signing.reader.last() as CheckpointState
  t.equal((await ask('show')).stdout, noteOf(last))
  t.same(JSON.parse((await ask('show', '--json')).stdout), { text: noteOf(last) })
  const key = (await ask('key')).stdout.trim()
  t.equal(key, verifierKeyText(last.origin, signing.publicKey))
  await ask('show', '--output', file('new.txt'))
  await ask('consistency', String(first.size), '--output', file('since.proof'))
  await ask('prove', '3', '--output', file('3.proof'))
  const trees = TreeFiles.openToRead(nodeDisk, treesIn(paths.projections)) as TreeFiles
  const record = trees.recordHash(3).toString('hex')
  trees.close()
  const consistency = ['--old', file('old.txt'), '--consistency', file('since.proof')]
  const inclusion = ['--inclusion', file('3.proof'), '--record', record]
  const whole = await verify(file('new.txt'), '--key', key, ...consistency, ...inclusion)
  t.match(whole, {
    exitCode: 0,
    stdout: /signature: passed.*\nsignature: passed.*\nextends: passed.*\ninclusion: passed/,
  })
  t.match(await verify(file('new.txt'), ...inclusion), { exitCode: 9, stdout: /signature: not proved/ })
  const json = await verify(file('new.txt'), '--key', key, '--json')
  t.match(JSON.parse(json.stdout), { size: last.size, checks: [{ check: 'signature', result: 'passed' }] })
  const other = verifierKeyText('other/log', signing.publicKey)
  t.match(await verify(file('new.txt'), '--key', other), { exitCode: 8, stdout: /signature: failed/ })
  const wrong = `${record.slice(0, -1)}${record.endsWith('0') ? '1' : '0'}`
  t.match(await verify(file('new.txt'), '--key', key, '--inclusion', file('3.proof'), '--record', wrong), {
    exitCode: 8,
    stdout: /inclusion: failed/,
  })
  t.match(await verify(file('old.txt'), '--key', key, ...inclusion), {
    exitCode: 2,
    stderr: /leads to a checkpoint of \d+ records/,
  })
  writeFileSync(file('forged.txt'), noteOf({ ...first, root: Buffer.alloc(32, 1) }))
  const forged = ['--old', file('forged.txt'), '--consistency', file('since.proof')]
  t.match(await verify(file('new.txt'), '--key', key, ...forged), {
    exitCode: 8,
    stdout: /signature: failed: .*forged.*\nextends: failed/,
  })
})

test('what is not a checkpoint, a proof or a key is named', async (t) => {
  const root = t.testdir({ note: noteOf(signing.reader.last() as CheckpointState), other: 'text' })
  const [note, other] = [join(root, 'note'), join(root, 'other')]
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[join(root, 'none')], 4, /cannot be read/],
    [[other], 8, /is not a checkpoint/],
    [[note, '--key', 'x'], 2, /--key: /],
    [[note, '--old', note], 2, /belong together/],
    [[note, '--record', '00'], 2, /belong together/],
    [[note, '--inclusion', other, '--record', '00'], 2, /64 hexadecimal digits/],
    [[note, '--inclusion', other, '--record', '0'.repeat(64)], 8, /not a proof of this kind/],
    [[note, '--old', note, '--consistency', other], 8, /not a proof of this kind/],
  ]
  for (const [words, exitCode, stderr] of cases) {
    t.match(await run(['checkpoint', 'verify', ...words]), { exitCode, stderr }, words.join(' '))
  }
  t.match(await ask('prove', 'x'), { exitCode: 2 })
})
