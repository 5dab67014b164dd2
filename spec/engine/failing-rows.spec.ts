/** An exception wherever rows are written: the store starts again, has all that it acknowledged, and nothing that it refused. */
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { Command } from '../../engine/commands/commands.ts'
import type { StateStore, StateTransaction } from '../../engine/state-store.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { createBucket, deleteObject, write } from '../support/commands.ts'
import { openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'
import { completeUpload, createUpload, writePart } from '../support/upload-commands.ts'
import { setVersioning } from '../support/version-commands.ts'

/** Before or after the rows of an entry, before or after those that end the batch, and at the commit of the rows. */
const POINTS = ['before apply', 'after apply', 'before finish', 'after finish', 'commit'] as const
type Point = (typeof POINTS)[number]

/** Fails once, at the `count`-th time (from 1) that a point is passed after it was armed. */
class Fault {
  isDone = false
  #point: Point | undefined
  #left = 0

  arm(point: Point, count: number): void {
    this.#point = point
    this.#left = count
  }

  pass(point: Point): void {
    if (point !== this.#point || this.isDone) return
    this.#left -= 1
    if (this.#left > 0) return
    this.isDone = true
    throw new RangeError(`a fault of the spec: ${point}`)
  }

  wrap(store: StateStore): StateStore {
    return {
      applied: () => store.applied(),
      volumeEnd: () => store.volumeEnd(),
      update: (work) =>
        store.update((state) => {
          const result = work(this.#failing(state))
          this.pass('commit')
          return result
        }),
    }
  }

  #failing(state: StateTransaction): StateTransaction {
    const around = (name: 'apply' | 'finish', work: () => void) => {
      this.pass(`before ${name}`)
      work()
      this.pass(`after ${name}`)
    }
    const own: Pick<StateTransaction, 'apply' | 'finish'> = {
      apply: (...entry) => around('apply', () => state.apply(...entry)),
      finish: (...end) => around('finish', () => state.finish(...end)),
    }
    return new Proxy(state, {
      get: (target, name) => {
        if (name === 'apply' || name === 'finish') return own[name]
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

/** A store with something of each kind, all of it acknowledged. */
async function begun(
  root: string,
  fault: Fault,
  segmentBytes: number,
): Promise<{ store: TestStore; works: Record<string, Command[]> }> {
  const store = await openTestStore(root, { segmentBytes, wrapState: (state) => fault.wrap(state) })
  const send = (command: Command) => store.client.execute(command)
  await send(createBucket('b'))
  await send(setVersioning('b', 'enabled'))
  await send(write('b', 'kept', Buffer.from('kept')))
  const { sequence: upload } = await send(createUpload('b', 'parts'))
  const name = { bucket: 'b', key: 'parts', upload }
  const { etag = '' } = await send(writePart(name, 1, Buffer.from('part')))
  const works = {
    'a write': [write('b', 'new', Buffer.from('new'))],
    'a delete marker': [deleteObject('b', 'kept')],
    'a completion': [completeUpload(name, [{ part: 1, etag }])],
    'a bucket': [createBucket('another')],
    'three in a batch': ['x', 'y', 'z'].map((key) => write('b', key, Buffer.from(key))),
  }
  return { store, works }
}

/** What a client can see of the store. */
function seen(store: TestStore): string {
  const snapshot = store.catalog.snapshot()
  const every = { prefix: Buffer.alloc(0), delimiter: undefined, after: undefined, entriesMaximum: 1000 }
  const buckets = snapshot.buckets().map(({ id, name }) => [name, snapshot.listVersions(id, every).entries])
  return JSON.stringify(buckets)
}

async function tried(t: Test, root: string, work: string, point: Point, count: number, rolls: boolean): Promise<void> {
  const name = `${work}, ${point} ${count}${rolls ? ', after a seal' : ''}`
  const fault = new Fault()
  // A small segment is soon full, and takes one command in a batch.
  const segmentBytes = rolls ? 32 * 1024 : 1 << 20
  const { store, works } = await begun(root, fault, segmentBytes)
  const isFull = () => store.journal.place.offset + store.journal.batchBytesMaximum + 1024 > segmentBytes
  if (rolls) while (!isFull()) await store.client.execute(deleteObject('b', 'nothing'))
  const before = seen(store)
  fault.arm(point, count)
  const outcomes = await Promise.allSettled((works[work] ?? []).map((command) => store.client.execute(command)))
  t.ok(fault.isDone, `${name}: the fault took place`)
  const told = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason.name) : 'done'))
  const expected = point === 'commit' ? 'OutcomeUnknownError' : 'EngineUnavailableError'
  t.same(new Set(told), new Set([expected]), `${name}: nobody is told that it is done`)
  t.equal(seen(store), before, `${name}: nothing of it is shown`)
  await store.close(false)
  const again = await openTestStore(root)
  t.equal(seen(again) === before, point !== 'commit', `${name}: what is in the journal, and no more, is there again`)
  await again.client.execute(write('b', 'after', Buffer.from('after')))
  await again.close(true)
  t.match(await checkProjections(roomyDisk, again.paths), { differenceCount: 0 }, name)
}

test('an exception anywhere while rows are written leaves a store that starts as it was', async (t) => {
  const root = t.testdir()
  let runs = 0
  const next = () => join(root, String((runs += 1)))
  for (const work of ['a write', 'a delete marker', 'a completion', 'a bucket']) {
    for (const point of POINTS) await tried(t, next(), work, point, 1, false)
  }
  for (const point of ['before apply', 'after apply'] as const)
    await tried(t, next(), 'three in a batch', point, 3, false)
  // The seal before a batch is finished on its own.
  for (const [point, count] of [
    ['after finish', 1],
    ['before finish', 2],
    ['commit', 1],
  ] as const) {
    await tried(t, next(), 'a write', point, count, true)
  }
})
