/** What requests share is handed out by owner: a greedy owner keeps nobody from a share. */
import { test } from 'tap'
import { BusyError, type Share, Shares } from '../../../engine/shares/shares.ts'
import { shareTable } from '../../../engine/shares/share-table.ts'

/** The outcome of a promise once everything that can settle has settled. */
async function stateOf(promise: Promise<unknown>): Promise<'waits' | 'has it' | 'busy'> {
  let state: 'waits' | 'has it' | 'busy' = 'waits'
  promise.then(
    () => (state = 'has it'),
    (error: unknown) => (state = error instanceof BusyError ? 'busy' : 'waits'),
  )
  await new Promise((resolve) => setImmediate(resolve))
  return state
}

test('an owner alone may have everything, and no more', async (t) => {
  const shares = new Shares('held-answers', { capacity: 10 })
  const first = shares.take('a', 6)
  t.ok(first)
  t.ok(shares.take('a', 4))
  t.equal(shares.take('a', 1), undefined)
  t.same([shares.used, shares.usedBy('a'), shares.refused, shares.evicted], [10, 10, 1, 0])
  first?.leave()
  first?.leave()
  t.equal(shares.used, 4, 'given back once')
})

test('more than there is can be had while nothing is in use', async (t) => {
  const shares = new Shares('held-answers', { capacity: 10 })
  const large = shares.take('a', 25)
  t.ok(large)
  t.equal(shares.take('b', 1), undefined)
  large?.leave()
  t.ok(shares.take('b', 1))
})

test('the most greedy owner is evicted first, its oldest share first', async (t) => {
  const shares = new Shares('held-answers', { capacity: 10 })
  const evicted: string[] = []
  const shareOf = (owner: string, name: string, amount: number): Share | undefined =>
    shares.take(owner, amount, () => evicted.push(name))
  const oldest = shareOf('greedy', 'g1', 3)
  shareOf('other', 'o1', 2)
  shareOf('greedy', 'g2', 3)
  t.ok(shareOf('modest', 'm1', 3), 'room is made')
  t.same(evicted, ['g1'])
  oldest?.leave()
  t.same([shares.usedBy('greedy'), shares.usedBy('other'), shares.usedBy('modest'), shares.used], [3, 2, 3, 8])
  t.equal(shareOf('greedy', 'g3', 3), undefined, 'the greedy owner evicts nobody')
  t.equal(shareOf('other', 'o2', 4), undefined, 'nor does an owner who would have more than who is evicted')
  t.same(evicted, ['g1'])
})

test('what cannot be refused has room made by whoever has most, be it the same owner', async (t) => {
  const shares = new Shares('held-answers', { capacity: 10 })
  const evicted: string[] = []
  for (const name of ['g1', 'g2', 'g3']) shares.claim('greedy', 3, () => evicted.push(name))
  shares.claim('greedy', 4, () => {})
  t.same(evicted, ['g1'])
  t.same([shares.used, shares.evicted, shares.refused], [10, 1, 0])
  const alone = new Shares('held-answers', { capacity: 10 })
  alone.take('a', 10)
  const more = alone.claim('b', 5, () => {})
  t.equal(alone.used, 15, 'nothing was left to evict')
  more.leave()
  t.equal(alone.used, 10)
})

test('a unit that comes free goes to the owner with the fewest, then in turn', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 2, waitingMaximum: 8 })
  const running = [await shares.wait('greedy'), await shares.wait('greedy')]
  const greedy = shares.wait('greedy')
  const modest = shares.wait('modest')
  t.same([await stateOf(greedy), await stateOf(modest)], ['waits', 'waits'])
  running[0]?.leave()
  t.same([await stateOf(greedy), await stateOf(modest)], ['waits', 'has it'])
  running[1]?.leave()
  t.equal(await stateOf(greedy), 'has it')
  ;(await greedy).leave()
  ;(await modest).leave()
  t.same([shares.used, shares.waiting], [0, 0])
})

test('long work gives way to an owner with fewer units, and goes on in turn', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 1, waitingMaximum: 8 })
  const long = await shares.wait('greedy')
  t.equal(long.turn(), undefined, 'nobody waits')
  const alike = shares.wait('greedy')
  t.equal(long.turn(), undefined, 'its own requests wait until it is done')
  const modest = shares.wait('modest')
  const turn = long.turn()
  t.ok(turn instanceof Promise)
  t.same([await stateOf(modest), await stateOf(turn ?? modest), await stateOf(alike)], ['has it', 'waits', 'waits'])
  ;(await modest).leave()
  t.same([await stateOf(turn ?? alike), await stateOf(alike)], ['has it', 'waits'])
  long.leave()
  t.equal(await stateOf(alike), 'has it')
})

test('a full line refuses the newest request of the owner who waits most', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 1, waitingMaximum: 2 })
  const running = await shares.wait('greedy')
  const [older, newer] = [shares.wait('greedy'), shares.wait('greedy')]
  await t.rejects(shares.wait('greedy'), BusyError)
  const refused = stateOf(newer)
  const modest = shares.wait('modest')
  t.same([await stateOf(older), await refused, await stateOf(modest)], ['waits', 'busy', 'waits'])
  running.leave()
  t.same([await stateOf(older), await stateOf(modest)], ['waits', 'has it'])
})

test('a wait ends in time, and leaves no trace', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 1, waitingMaximum: 2, waitMillisecondsMaximum: 10 })
  const running = await shares.wait('a')
  await t.rejects(shares.wait('b'), BusyError)
  t.same([shares.waiting, shares.used], [0, 1])
  running.leave()
  t.equal(shares.used, 0)
})

test('what an owner may have at most leaves room for others', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 4, ownerMaximum: 3, waitingMaximum: 8 })
  for (let count = 0; count < 3; count += 1) await shares.wait('greedy')
  const fourth = shares.wait('greedy')
  t.equal(await stateOf(fourth), 'waits')
  t.equal(await stateOf(shares.wait('modest')), 'has it')
})

test('work that fails gives its unit back', async (t) => {
  const shares = new Shares('copy-turns', { capacity: 1 })
  await t.rejects(
    shares.run('a', () => Promise.reject(new RangeError('x'))),
    RangeError,
  )
  t.equal(shares.used, 0)
  t.equal(await shares.run('a', async () => 7), 7)
})

test('every row of the table says what it bounds', async (t) => {
  for (const [name, row] of Object.entries(shareTable)) {
    t.ok(row.capacity > 0, name)
    t.match(row.sentence, /^[A-Z].*\.$/, name)
  }
})
