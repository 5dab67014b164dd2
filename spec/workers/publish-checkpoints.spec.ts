/** A checkpoint is published when it has all that is required of it, and what is no longer required keeps nothing back. */
import { test } from 'tap'
import { CheckpointPublication, type PublicationRequirement } from '../../workers/checkpoints/publish-checkpoints.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { createBucket } from '../support/commands.ts'
import { openTestStore } from '../support/test-store.ts'

/** Names of requirements that are met. */
async function world(root: string) {
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const met = new Set<string>()
  const requirement = (name: string): PublicationRequirement => ({ name, isMet: () => met.has(name) })
  let publication = new CheckpointPublication(store.client, { state: () => signing.reader.state() }, [])
  const signing = signingOf(store, { clock: () => now, withholds: () => publication.withholds() })
  return {
    store,
    signing,
    met,
    /** As another start with other settings does. */
    begin(...names: string[]) {
      publication = new CheckpointPublication(store.client, signing.reader, names.map(requirement))
      return publication
    },
    async signNext() {
      now += 3_600_000
      await store.client.execute(createBucket(`b${now}`))
      await signing.settle()
      return signing.reader.state().last?.size as number
    },
    async close() {
      await signing.close()
      await store.close(true)
    },
  }
}

test('a checkpoint waits for every requirement, and says for which', async (t) => {
  const { signing, begin, signNext, met, close } = await world(t.testdir())
  const publication = begin('a time stamp', 'a lock')
  t.equal(await publication.step(), 'idle', 'there is no checkpoint')
  t.equal(publication.status, 'no checkpoint is withheld')
  const size = await signNext()
  t.same(publication.waitsFor, ['a time stamp', 'a lock'])
  t.equal(publication.status, `the checkpoint of ${size} records waits for a time stamp and a lock`)
  await publication.step()
  t.equal(signing.reader.last(), undefined)
  met.add('a lock')
  await publication.step()
  t.same([signing.reader.last(), publication.waitsFor], [undefined, ['a time stamp']])
  met.add('a time stamp')
  await publication.step()
  t.same([signing.reader.last()?.size, publication.waitsFor], [size, []])
  t.equal(publication.status, 'no checkpoint is withheld')
  await close()
})

test('without a requirement nothing is withheld', async (t) => {
  const { signing, begin, signNext, close } = await world(t.testdir())
  begin()
  const size = await signNext()
  t.same([signing.reader.last()?.size, signing.reader.state().withheld], [size, undefined])
  await close()
})

test('after a restart with other requirements a withheld checkpoint waits for those, or for none', async (t) => {
  const { signing, begin, signNext, met, close } = await world(t.testdir())
  begin('a quorum of witnesses')
  const first = await signNext()
  const other = begin('a lock')
  await other.step()
  t.equal(signing.reader.last(), undefined)
  t.same(other.waitsFor, ['a lock'])
  met.add('a lock')
  await other.step()
  t.equal(signing.reader.last()?.size, first)
  met.clear()
  const second = await signNext()
  t.equal(signing.reader.last()?.size, first)
  await begin().step()
  t.equal(signing.reader.last()?.size, second, 'none: it is published at once')
  await close()
})
