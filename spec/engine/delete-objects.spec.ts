/** Batches of deletions: one batch of the journal as far as it holds them, each key by itself, and what is left of a crash. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { Command, Deletion } from '../../engine/commands/commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { auditOf, createBucket, deleteBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError, type Operation } from '../support/disks/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { rebuiltTables } from '../support/rebuilt-tables.ts'
import {
  dumpStore,
  openTestStore,
  OTHER_BOOT_ID,
  readObject,
  roomyDisk,
  type TestStore,
} from '../support/test-store.ts'
import { setVersioning } from '../support/version-commands.ts'

/** A batch is at most a quarter of a segment. */
const SEGMENT_BYTES = 4 << 20
const UNCONDITIONAL = { kind: 'none' } as const

function deletion(key: string, more: Partial<Deletion> = {}): Deletion {
  return { key, condition: UNCONDITIONAL, metadata: [], ...more }
}

type DeleteObjects = Extract<Command, { kind: 'delete-objects' }>

function deleteObjects(bucket: string, deletions: readonly Deletion[]): DeleteObjects {
  const audit = auditOf('s3:DELETE', `bucket:${bucket}`)
  return { kind: 'delete-objects', audit, bucket, bypassGovernance: false, deletions }
}

const names = (count: number, bytes = 4) => Array.from({ length: count }, (_, index) => `${index}`.padStart(bytes, '0'))

async function fill(store: TestStore, keys: readonly string[]): Promise<void> {
  await store.client.execute(createBucket('b'))
  await Promise.all(keys.map((key) => store.client.execute(write('b', key, Buffer.from(key)))))
}

function keysOf(store: TestStore): string[] {
  const snapshot = store.catalog.snapshot()
  const bucket = snapshot.bucket('b')
  if (bucket === undefined) return []
  const everything = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 100_000 }
  return snapshot.list(bucket.id, everything).objects.map(({ key }) => key)
}

function kinds({ deletions = [] }: Done): string[] {
  return deletions.map((outcome) => (outcome.kind === 'failed' ? outcome.code : outcome.kind))
}

test('a thousand keys are one batch of the journal, with a pair of records for each', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root, { segmentBytes: 16 << 20 })
  const keys = names(1000, 200)
  await fill(store, keys)
  const { batches } = store.journal.statistics
  const done = await store.client.execute(
    deleteObjects(
      'b',
      keys.map((key) => deletion(key)),
    ),
  )
  t.equal(store.journal.statistics.batches, batches + 1)
  t.same(
    kinds(done),
    keys.map(() => 'deleted'),
  )
  t.same(keysOf(store), [])
  const entries = journalEntries(root).slice(-2000)
  t.ok(
    entries.every(({ result, resource, intent, sequence }, index) => {
      const isAttempt = index % 2 === 0
      const key = keys[Math.floor(index / 2)]
      return (
        resource === `bucket:b/${key}` &&
        result === (isAttempt ? 'attempted' : 'success') &&
        intent === (isAttempt ? undefined : sequence - 1)
      )
    }),
  )
  t.equal(done.sequence, entries.at(-1)?.sequence)
  t.same(await dumpStore(store.paths), await rebuiltTables(store.paths))
  await store.close(true)
})

test('each key is judged alone, by what the ones before it did', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root, { segmentBytes: SEGMENT_BYTES })
  await fill(store, ['a', 'b', 'c'])
  const wrong = { condition: { kind: 'matches', etags: ['another'] } } as const
  const refusal = { result: 'denied', details: ['status', 403], isAuthorized: false } as const
  const before = journalEntries(root).length
  const done = await store.client.execute(
    deleteObjects('b', [
      deletion('a', wrong),
      deletion('a'),
      deletion('a', wrong),
      deletion('b', { refusal }),
      deletion('b', { refusal: { ...refusal, result: 'failure', isAuthorized: true } }),
      deletion('c', { metadata: ['of', 'this key'] }),
    ]),
  )
  t.same(kinds(done), ['precondition-failed', 'deleted', 'deleted', 'refused', 'refused', 'deleted'])
  t.same(keysOf(store), ['b'], 'what its sender refused stays')
  const entries = journalEntries(root).slice(before)
  t.same(
    entries.map(({ result, resource }) => `${result} ${resource.slice('bucket:b/'.length)}`),
    [
      'attempted a',
      'failure a',
      'attempted a',
      'success a',
      'attempted a',
      'success a',
      'denied b',
      'attempted b',
      'failure b',
      'attempted c',
      'success c',
    ],
  )
  t.equal(entries.at(-1)?.details.get('of'), 'this key')
  const gone = await store.client.execute(deleteObjects('none', [deletion('a'), deletion('b', { refusal })]))
  t.same(kinds(gone), ['bucket-not-found', 'refused'])
  await store.client.execute(setVersioning('b', 'enabled'))
  const [marker] = (await store.client.execute(deleteObjects('b', [deletion('b')]))).deletions ?? []
  t.match(marker, { kind: 'deleted', marker: true, version: Number })
  await store.close(true)
})

test('what a batch does not hold is not carried out, and the answer says how far it came', async (t) => {
  const root = t.testdir()
  const store = await openTestStore(root, { segmentBytes: 1 << 20 })
  const keys = names(100, 900)
  await fill(store, keys)
  let left = keys
  let commands = 0
  while (left.length > 0) {
    const { batches } = store.journal.statistics
    const done = await store.client.execute(
      deleteObjects(
        'b',
        left.map((key) => deletion(key)),
      ),
    )
    const count = done.deletions?.length ?? 0
    t.ok(count > 0 && count <= left.length)
    t.ok(store.journal.statistics.batches - batches <= 2, 'one batch, and at most a seal before it')
    left = left.slice(count)
    t.ok(keysOf(store).join() === left.join(), 'those after them are whole')
    commands += 1
  }
  t.ok(commands > 1, `${commands} commands`)
  t.equal(journalEntries(root).filter(({ operation }) => operation === 's3:DELETE').length, 200, 'each key once')
  await store.close(true)
})

test('one that does not fit the rest of a batch begins the next one', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: 4 << 20 })
  const keys = names(250, 900)
  await fill(store, keys)
  const writes = names(300).map((key) => store.client.execute(write('b', `${'w'.repeat(800)}${key}`, Buffer.from('x'))))
  const done = await store.client.execute(
    deleteObjects(
      'b',
      keys.map((key) => deletion(key)),
    ),
  )
  await Promise.all(writes)
  t.equal(done.deletions?.length, keys.length, 'it is not cut in two for what came before it')
  await store.close(true)
})

test('a bucket can go in the same batch as its last keys', async (t) => {
  const store = await openTestStore(t.testdir(), { segmentBytes: SEGMENT_BYTES })
  await fill(store, ['a', 'b'])
  const { batches } = store.journal.statistics
  const all = Promise.all([
    store.client.execute(deleteObjects('b', [deletion('a'), deletion('b')])),
    store.client.execute(deleteBucket('b')),
    store.client.execute(createBucket('b')),
  ])
  t.same(kinds((await all)[0]), ['deleted', 'deleted'])
  t.equal(store.journal.statistics.batches, batches + 1)
  await store.close(true)
})

/** Fails the `at`-th write or sync, before it takes place or after. */
function failAt(disk: FaultDisk, at: number, isDone: boolean): void {
  let operations = 0
  const isAt = ({ name }: Operation) => (name === 'write' || name === 'sync') && (operations += 1) === at
  if (!isDone) {
    disk.fault = (operation) => (isAt(operation) ? { kind: 'error', error: inputOutputError() } : undefined)
    return
  }
  disk.after = (operation) => {
    if (isAt(operation)) throw inputOutputError()
  }
}

test('a disk that fails under it: all of the batch is there after the next start, or nothing, as was told', async (t) => {
  const root = t.testdir()
  const keys = names(50)
  const begin = await openTestStore(join(root, 'begin'), { segmentBytes: SEGMENT_BYTES })
  await fill(begin, keys)
  await begin.close(true)
  const told: string[] = []
  for (const at of [1, 2, 3, 4]) {
    for (const isDone of [false, true]) {
      const directory = join(root, `${at}-${isDone}`)
      cpSync(join(root, 'begin'), directory, { recursive: true })
      const disk = new FaultDisk(roomyDisk)
      const store = await openTestStore(directory, { segmentBytes: SEGMENT_BYTES }, disk)
      await disk.idle()
      failAt(disk, at, isDone)
      const command = deleteObjects(
        'b',
        keys.map((key) => deletion(key)),
      )
      const answer = await store.client.execute(command).then(
        () => 'done',
        (error: Error) => error.name,
      )
      told.push(answer)
      disk.fault = () => undefined
      disk.after = () => undefined
      await store.kill().catch(() => undefined)
      rmSync(store.paths.projections, { recursive: true, force: true })
      const again = await openTestStore(directory, { segmentBytes: SEGMENT_BYTES, bootId: OTHER_BOOT_ID })
      const left = keysOf(again)
      const name = `operation ${at}${isDone ? ', done' : ''}: ${answer}`
      if (answer === 'done') t.same(left, [], name)
      else if (answer === 'EngineUnavailableError') t.same(left, keys, name)
      else t.ok(left.length === 0 || left.length === keys.length, name)
      for (const key of left) t.same(await readObject(again, 'b', key), Buffer.from(key))
      await again.close(true)
      t.equal((await checkProjections(roomyDisk, again.paths)).differenceCount, 0)
    }
  }
  t.ok(told.includes('EngineUnavailableError') && told.includes('done'), told.join(', '))
})
