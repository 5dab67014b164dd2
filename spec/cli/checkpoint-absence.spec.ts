/** That no record of a range names an object: what the replay of a journal proves against a checkpoint, and what it does not. */
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { sequenceOf } from '../../engine/brands.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { makeIndex } from '../../projections/record-index/make-index.ts'
import { NO_PACE } from '../../projections/steady-pace.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket, deleteBucket, deleteObject, renameObject, write } from '../support/commands.ts'
import { flipByte, segmentPath } from '../support/journal-files.ts'
import { temporaryDirectory } from '../support/test-clients.ts'
import { openTestStore } from '../support/test-store.ts'
import { type Outcome, run } from './command-runner.ts'

const root = temporaryDirectory()
const store = await openTestStore(root)
const bytes = Buffer.from('x')
const at: Record<string, number> = {}

async function send(name: string, command: Parameters<typeof store.client.execute>[0]): Promise<void> {
  at[name] = (await store.client.execute(command)).sequence
}

await send('bucket', createBucket('photos'))
await send('written', write('photos', 'cat.jpg', bytes))
await send('neighbour', write('photos', 'cat.jpg.bak', bytes))
await send('deleted', deleteObject('photos', 'cat.jpg'))
await send('old', write('photos', 'old', bytes))
await send('renamed', renameObject('photos', 'old', 'new', at['old'], 'token'))
for (const key of ['cat.jpg.bak', 'new']) await send(`without ${key}`, deleteObject('photos', key))
await send('bucket deleted', deleteBucket('photos'))
await send('other bucket', createBucket('films'))
await send('same key elsewhere', write('films', 'cat.jpg', bytes))
await send('bucket again', createBucket('photos'))
await send('again', write('photos', 'cat.jpg', bytes))
store.client.record(auditOf('s3:GET', 'bucket:photos/read'), 'denied')
await store.loop.drained()
const signing = signingOf(store)
await signing.settle()
const signed = signing.reader.last() as CheckpointState
const KEY = verifierKeyText(signed.origin, signing.publicKey)
const note = join(root, 'checkpoint.txt')
writeFileSync(note, noteOf(signed))
await send('after', write('photos', 'after', bytes))
await signing.close()
await store.close(true)

function absence(object: string, ...words: readonly string[]): Promise<Outcome> {
  return run(['checkpoint', 'absence', object, root, '--checkpoint', note, '--key', KEY, ...words])
}

async function found(object: string, ...words: readonly string[]): Promise<number[]> {
  const { exitCode, stdout } = await absence(object, ...words, '--json')
  const { found: count, records } = JSON.parse(stdout) as { found: number; records: { sequence: number }[] }
  if (count !== records.length || (exitCode === 0) !== (count === 0)) throw new Error(stdout)
  return records.map(({ sequence }) => sequence)
}

test('an object that no record names is absent, and one that a record names is not', async (t) => {
  t.match(await absence('photos/dog.jpg'), {
    exitCode: 0,
    stdout:
      /^signature: passed.*\nreplay: passed.*\nabsence: passed: none of records 0 to \d+ of \d+ names photos\/dog.jpg\n$/,
  })
  t.match(await absence('photos/cat.jpg'), {
    exitCode: 8,
    stdout: new RegExp(`replay: passed.*\\nabsence: failed: .*\\n[^]*record ${at['written']}: `),
  })
  t.same(await found('photos/cat'), [], 'a key is not found by how it begins')
  t.same(await found('nowhere/cat.jpg'), [])
  t.ok((await found('photos/read')).length > 0, 'a request that was refused names it too')
  t.same(await found('photos/after'), [], 'what comes after the checkpoint is not covered')
})

test('a range holds what its first and its last record say, and no more', async (t) => {
  const [written = 0, deleted = 0, again = 0] = [at['written'], at['deleted'], at['again']]
  const between = ['--from', String(deleted + 1), '--to', String(at['bucket deleted'])]
  t.same(await found('photos/cat.jpg', ...between), [])
  t.ok((await found('photos/cat.jpg', '--from', String(written), '--to', String(written))).includes(written))
  t.ok((await found('photos/cat.jpg', '--from', String(deleted), '--to', String(deleted))).includes(deleted))
  t.ok((await found('photos/cat.jpg', '--to', String(written))).includes(written))
  t.ok(!(await found('photos/cat.jpg', '--from', String(written + 1))).includes(written))
  t.ok((await found('photos/cat.jpg', '--from', String(at['bucket again']))).includes(again))
})

test('a rename names both keys, and a bucket of the same name is the same name', async (t) => {
  const renamed = at['renamed'] as number
  for (const key of ['old', 'new']) {
    t.ok((await found(`photos/${key}`, '--from', String(renamed), '--to', String(renamed))).includes(renamed), key)
  }
  const all = await found('photos/cat.jpg')
  t.ok(all.includes(at['written'] as number) && all.includes(at['again'] as number))
  t.notOk(all.includes(at['same key elsewhere'] as number))
  t.ok((await found('films/cat.jpg')).includes(at['same key elsewhere'] as number))
})

test('the record index finds what names an object as surely, and does not prove that nothing does', async (t) => {
  const objects = ['cat.jpg', 'cat', 'old', 'new', 'dog.jpg', 'read', 'after', 'cat.jpg.bak'].map(
    (key) => `photos/${key}`,
  )
  const compare = async (name: string) => {
    for (const object of [...objects, 'films/cat.jpg', 'nowhere/cat.jpg']) {
      for (const range of [[], ['--from', '5'], ['--to', String(at['renamed'])], ['--from', String(at['again'])]]) {
        const [all, indexed] = [
          await absence(object, ...range, '--json'),
          await absence(object, ...range, '--indexed', '--json'),
        ]
        const { records } = JSON.parse(all.stdout) as { records: unknown }
        t.match(JSON.parse(indexed.stdout), { records }, `${object} ${range.join(' ')} ${name}`)
        t.equal(indexed.exitCode, all.exitCode === 0 ? 9 : all.exitCode)
      }
    }
  }
  await compare('without files')
  const task = {
    kind: 'records',
    segment: sequenceOf(0),
    after: undefined,
    level: 0,
    before: at['after'] ?? 0,
  } as const
  t.ok(makeIndex(store.disk, store.paths, { ...task, count: 1000 }, NO_PACE))
  await compare('with a file')
  const { stdout } = await absence('photos/dog.jpg', '--indexed')
  t.match(stdout, /replay: not proved: only \d+ records were read.*\nabsence: not proved: by the record index, none of/)
  const read = Number(/only (\d+) records/.exec(stdout)?.[1])
  t.ok(read < (at['after'] ?? 0), 'few records are read')
  rmSync(store.paths.recordIndex, { recursive: true })
})

test('another journal, a shorter one and a checkpoint that nobody signed prove nothing', async (t) => {
  const other = t.testdir()
  const shorter = await openTestStore(join(other, 'store'))
  await shorter.client.execute(createBucket('photos'))
  await shorter.close(true)
  t.match(
    await run(['checkpoint', 'absence', 'photos/dog', join(other, 'store'), '--checkpoint', note, '--key', KEY]),
    {
      exitCode: 8,
      stdout: /replay: failed: .* \d+ records were read\nabsence: not proved/,
    },
  )
  t.match(await run(['checkpoint', 'absence', 'photos/dog', root, '--checkpoint', note]), {
    exitCode: 9,
    stdout: /^signature: not proved/,
  })
  const forged = join(other, 'forged')
  writeFileSync(forged, noteOf({ ...signed, root: Buffer.alloc(32, 1) }))
  t.match(await run(['checkpoint', 'absence', 'photos/dog', root, '--checkpoint', forged, '--key', KEY]), {
    exitCode: 8,
    stdout: /signature: failed.*\nreplay: failed.*\nabsence: not proved/,
  })
  const damaged = join(other, 'damaged')
  cpSync(root, damaged, { recursive: true })
  flipByte(segmentPath(new StorePaths(damaged), 0), 5000)
  const outcome = await run(['checkpoint', 'absence', 'photos/dog', damaged, '--checkpoint', note, '--key', KEY])
  t.match(outcome, { exitCode: 21, stdout: '' })
  renameSync(join(damaged, 'journal'), join(damaged, 'copy'))
  t.match(await run(['checkpoint', 'absence', 'a/b', join(damaged, 'copy'), '--checkpoint', note]), {
    exitCode: 2,
    stderr: /must be called "journal"/,
  })
})

test('what is not a range, an object or a checkpoint is named', async (t) => {
  t.match(await absence('photos'), { exitCode: 2, stderr: /named by its bucket and its key/ })
  t.match(await absence('a/b', '--from', '5', '--to', '4'), { exitCode: 2, stderr: /--from 5 is after --to 4/ })
  t.match(await absence('a/b', '--to', String(signed.size)), { exitCode: 2, stderr: /covers the records before/ })
  t.match(await absence('a/b', '--to', 'x'), { exitCode: 2 })
  const text = join(t.testdir({ text: 'x' }), 'text')
  t.match(await run(['checkpoint', 'absence', 'a/b', root, '--checkpoint', text]), {
    exitCode: 8,
    stderr: /not a checkpoint/,
  })
  t.match(await run(['checkpoint', 'absence', 'a/b', root, '--checkpoint', note, '--key', 'x']), {
    exitCode: 2,
    stderr: /--key: /,
  })
})
