import { test } from 'tap'
import { startInThread } from '../../support/test-server.ts'
import { Ledger, LEDGER_BUCKET } from './ledger.ts'

test('X5 the ledger notices what is gone, changed or too much, and settles what it cannot know', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  const { wire, raw } = server
  await raw('PUT', `/${LEDGER_BUCKET}`)
  const ledger = new Ledger()
  for (const key of ['a', 'b', 'c']) t.equal(await ledger.put(wire, key, 100), 'done')
  t.equal(await ledger.upload(wire, 'd', 50), 'done')
  t.equal(await ledger.remove(wire, 'c'), 'done')
  t.equal(ledger.acknowledged, 5)
  t.same(await ledger.check(wire), [])

  await raw('DELETE', `/${LEDGER_BUCKET}/a`)
  t.match(await ledger.look(wire), [{ kind: 'lost', text: /^a: 404/ }])
  await raw('PUT', `/${LEDGER_BUCKET}/b`, { body: 'other bytes' })
  await raw('PUT', `/${LEDGER_BUCKET}/nobody-wrote-this`)
  t.match(await ledger.check(wire), [{ text: /^a/ }, { kind: 'wrong', text: /^b: 200/ }, { text: /nobody-wrote-this/ }])
  t.end()
})

test('X5 a request without an answer may have happened or not, and what is found then stays', async (t) => {
  const server = await startInThread()
  t.teardown(() => server.stop())
  const { wire, raw } = server
  await raw('PUT', `/${LEDGER_BUCKET}`)
  const ledger = new Ledger()
  const gone = Object.assign(Object.create(wire) as typeof wire, { send: () => Promise.reject(new Error('cut off')) })
  t.equal(await ledger.put(gone, 'a', 10), 'cut off')
  t.same(await ledger.look(wire), [], 'it is not there, and may still come')
  t.same(await ledger.check(wire), [], 'it did not come')
  t.equal(await ledger.put(wire, 'a', 10), 'done')
  t.equal(await ledger.remove(gone, 'a'), 'cut off')
  t.same(await ledger.check(wire), [], 'it is still there')
  await raw('DELETE', `/${LEDGER_BUCKET}/a`)
  t.match(await ledger.check(wire), [{ kind: 'lost' }])
  t.end()
})
