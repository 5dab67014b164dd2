/** Memories outside of the data directory: what they have seen ends the signing of a journal that was rolled back. */
import { test } from 'tap'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import type { OutsideMemory, Seen } from '../../workers/checkpoints/outside-memory.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { createBucket } from '../support/commands.ts'
import { openTestStore, type TestStore } from '../support/test-store.ts'

/** A memory that answers what it is told, and counts. */
class FakeMemory implements OutsideMemory {
  readonly name = 'witness fake'
  isRequired = true
  asked = 0
  answer: (origin: string, own: CheckpointState | undefined) => Seen | undefined = () => undefined

  async seen(origin: string, own: CheckpointState | undefined): Promise<Seen | undefined> {
    this.asked += 1
    return this.answer(origin, own)
  }
}

/** Signs a first checkpoint, writes more, and begins another process that asks `memory`. */
async function signedOnce(root: string) {
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const clock = () => now
  const first = signingOf(store, { clock })
  await first.settle()
  const own = first.reader.last() as CheckpointState
  await first.close()
  await store.client.execute(createBucket('one'))
  now += 60_000
  const memory = new FakeMemory()
  return { store, own, memory, clock, pass: () => void (now += 60_000) }
}

async function closed(store: TestStore, signing: { close(): Promise<void> }): Promise<void> {
  await signing.close()
  await store.close(true)
}

test('T3 a memory is asked once before the first signature of a process', async (t) => {
  const { store, own, memory, clock, pass } = await signedOnce(t.testdir())
  const asked: unknown[] = []
  memory.answer = (origin, last) => {
    asked.push([origin, last?.size])
    return { size: own.size, root: own.root }
  }
  const signing = signingOf(store, { clock, memories: [memory] })
  await signing.settle()
  await store.client.execute(createBucket('two'))
  pass()
  await signing.settle()
  t.same(asked, [[own.origin, own.size]])
  t.match(signing.worker.facts, { signed: 2, refusal: undefined, refusalCode: undefined })
  await closed(store, signing)
})

for (const [title, seen, says] of [
  ['more than the journal', ({ size }) => ({ size: size + 1, root: undefined }), /witness fake .* rolled back/],
  ['another root', ({ size }) => ({ size, root: Buffer.alloc(32, 9) }), /witness fake .* forked/],
  ['a size that was never signed', ({ size }) => ({ size: size - 1, root: Buffer.alloc(32, 9) }), /forked/],
  ['another log of this store', ({ size, root }) => ({ size, root, origin: 'spec.log/x/1' }), /of spec.log\/x\/1/],
] as readonly (readonly [string, (own: CheckpointState) => Seen, RegExp])[]) {
  test(`T3 a memory that has seen ${title} ends signing by name, and nothing else`, async (t) => {
    const { store, own, memory, clock, pass } = await signedOnce(t.testdir())
    memory.answer = () => seen(own)
    const signing = signingOf(store, { clock, memories: [memory] })
    await signing.settle()
    const { treeSize = 0, ...facts } = signing.worker.facts
    t.match(facts, { signed: 0, refusal: says, refusalCode: 'CHECKPOINT_ROLLBACK' })
    await store.client.execute(createBucket('two'))
    pass()
    await signing.settle()
    t.equal(signing.reader.last()?.sequence, own.sequence)
    t.ok((signing.worker.facts.treeSize as number) > treeSize, 'the trees follow the journal')
    t.equal(signing.rollbacks.length, 1, 'it is told once')
    await closed(store, signing)
  })
}

test('T3 a memory that knows only a size that the journal has passed contradicts nothing', async (t) => {
  const { store, own, memory, clock } = await signedOnce(t.testdir())
  memory.answer = () => ({ size: own.size - 1, root: undefined })
  const signing = signingOf(store, { clock, memories: [memory] })
  await signing.settle()
  t.match(signing.worker.facts, { signed: 1, refusal: undefined })
  await closed(store, signing)
})

test('a memory that is required and silent stops signing until it answers', async (t) => {
  const { store, memory, clock } = await signedOnce(t.testdir())
  memory.answer = () => {
    throw new Error('no route')
  }
  const signing = signingOf(store, { clock, memories: [memory] })
  await t.rejects(signing.settle(), { message: 'witness fake cannot be asked: no route' })
  t.match(signing.worker.facts, { signed: 0, refusal: /no route/, refusalCode: undefined })
  memory.answer = () => undefined
  await signing.settle()
  t.match(signing.worker.facts, { signed: 1, refusal: undefined })
  await closed(store, signing)
})

test('a memory that is not required is asked before each signature until it answers', async (t) => {
  const { store, own, memory, clock, pass } = await signedOnce(t.testdir())
  memory.isRequired = false
  memory.answer = () => {
    throw new Error('no route')
  }
  const signing = signingOf(store, { clock, memories: [memory] })
  await signing.settle()
  t.match(signing.worker.facts, { signed: 1, refusal: undefined })
  t.same(signing.unasked, ['witness fake'])
  memory.answer = () => ({ size: own.size + 1000, root: undefined })
  await store.client.execute(createBucket('two'))
  pass()
  await signing.settle()
  t.equal(memory.asked, 2)
  t.match(signing.worker.facts, { signed: 1, refusalCode: 'CHECKPOINT_ROLLBACK' })
  await closed(store, signing)
})

test('a contradiction that is met later ends signing too', async (t) => {
  const { store, own, clock } = await signedOnce(t.testdir())
  const signing = signingOf(store, { clock })
  signing.worker.contradicted('lock s3://bucket/key', { size: 1_000_000, root: undefined })
  signing.worker.contradicted('witness two', { size: 1_000_001, root: undefined })
  await signing.settle()
  t.match(signing.worker.facts, { signed: 0, refusalCode: 'CHECKPOINT_ROLLBACK' })
  t.match(signing.rollbacks, [/^lock s3:\/\/bucket\/key has seen a checkpoint of 1000000 records/])
  t.equal(signing.reader.last()?.sequence, own.sequence)
  await closed(store, signing)
})

test('T3 a contradiction that arrives while another memory is asked comes before the signature', async (t) => {
  const { store, own, memory, clock } = await signedOnce(t.testdir())
  const signing = signingOf(store, { clock, memories: [memory] })
  memory.answer = () => {
    signing.worker.contradicted('witness two', { size: 1_000_000, root: undefined })
    return { size: own.size, root: own.root }
  }
  await signing.settle()
  t.match(signing.worker.facts, { signed: 0, refusal: /^witness two has seen/, refusalCode: 'CHECKPOINT_ROLLBACK' })
  t.equal(signing.reader.last()?.sequence, own.sequence)
  await closed(store, signing)
})

test('what is said about a log that ended does not end the one after it', async (t) => {
  const { store, clock } = await signedOnce(t.testdir())
  const signing = signingOf(store, { clock, name: 'spec.log.2' })
  signing.worker.contradicted('witness fake', { size: 1_000_000, root: undefined })
  await signing.settle()
  t.match(signing.worker.facts, { signed: 1, refusal: undefined, refusalCode: undefined })
  t.same(signing.rollbacks, [])
  await closed(store, signing)
})
