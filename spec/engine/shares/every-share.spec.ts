/** Everything that requests share: a greedy owner keeps a modest one from nothing, and after a flood all is as before. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import { publishShares } from '../../../cli/server/metrics/published-metrics.ts'
import {
  otherShares,
  type ShareName,
  shareNames,
  type ShareRow,
  shareTable,
} from '../../../engine/shares/share-table.ts'
import { type Share, Shares } from '../../../engine/shares/shares.ts'
import { ConcurrencyGate } from '../../../planes/http/limits/concurrency-gate.ts'
import { MetricSlots } from '../../../planes/metrics/metric-slots.ts'

const ROOT = new URL('../../../../', import.meta.url)
const LAYERS = ['engine', 'projections', 'planes', 'workers', 'cli']

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function rowOf(name: ShareName): ShareRow {
  return shareTable[name]
}

/** What is shared at once: the greedy owner takes units until there are none for it. */
function flood(shares: Shares, amount: number): Share[] {
  const taken: Share[] = []
  for (;;) {
    const share = shares.take('greedy', amount, () => {})
    if (share === undefined) return taken
    taken.push(share)
  }
}

for (const name of shareNames) {
  const { capacity, waitingMaximum = 0, unit } = rowOf(name)

  test(`${name}: a modest owner beside a greedy one`, async (t) => {
    const shares = new Shares(name)
    const amount = unit === 'bytes' ? Math.ceil(capacity / 100) : 1
    if (waitingMaximum === 0) {
      const taken = flood(shares, amount)
      t.ok(taken.length > 1)
      const modest = shares.take('modest', amount)
      t.ok(modest, 'has its share, though the greedy one took all that it could')
      for (const share of [...taken, modest]) share?.leave()
    } else {
      const asked = Array.from({ length: capacity + waitingMaximum + 5 }, () => shares.wait('greedy'))
      const order: string[] = []
      let refused = 0
      const greedy = asked.map((one) => one.then((share) => (order.push('greedy'), share)).catch(() => (refused += 1)))
      await nextTurn()
      const had = order.length
      const modest = shares.wait('modest').then((share) => (order.push('modest'), share))
      const first = await asked[0]
      first?.leave()
      ;(await modest).leave()
      t.equal(order[had], 'modest', 'is next, though the greedy one has waited longer')
      for (const one of asked.slice(1)) await one.then((share) => share.leave()).catch(() => undefined)
      await Promise.all(greedy)
      t.ok(refused > 0, 'requests of the greedy one are refused')
    }
    t.same([shares.used, shares.waiting], [0, 0], 'nothing is left of it')
    t.equal(flood(new Shares(name), amount).length, flood(shares, amount).length, 'and there is as much as before')
  })
}

/** Every file of production with the names that it makes shares of. */
function handedOut(): readonly string[] {
  return LAYERS.flatMap((layer) =>
    readdirSync(new URL(layer, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [
        ...readFileSync(new URL(`${layer}/${path}`, ROOT), 'utf8').matchAll(/new Shares\(\s*'([^']*)'/g),
      ])
      .map(([, name = '']) => name),
  )
}

test('every row is handed out in one place, or says where its own mechanism is', async (t) => {
  t.same(handedOut().toSorted(), shareNames.toSorted())
  for (const [name, { file, spec, sentence }] of Object.entries(otherShares)) {
    t.ok(existsSync(new URL(file, ROOT)), `${name}: ${file}`)
    t.ok(existsSync(new URL(spec, ROOT)), `${name}: ${spec}`)
    t.match(sentence, /^[A-Z].*\.$/)
  }
})

test('small bodies of one account leave room for those of another', async (t) => {
  const gate = new ConcurrencyGate({ operationsMaximum: 16, queueMaximum: 0, waitMillisecondsMaximum: 1 })
  const bytes = 64 * 1024
  const shares: (Share | undefined)[] = []
  do shares.push(gate.expectBody('greedy', bytes))
  while (shares.at(-1) !== undefined)
  t.notOk(gate.isCrowded, 'nor does it make places short for others')
  const modest = gate.expectBody('modest', bytes)
  t.ok(modest)
  for (const share of [...shares, modest]) share?.leave()
  t.ok(gate.expectBody('greedy', bytes))
})

test('metrics of what is shared are sums of all of a name', async (t) => {
  const slots = MetricSlots.create([], 1)
  const publish = publishShares(slots, 0)
  const valuesOf = (resource: string) => {
    publish()
    return slots
      .read()
      .filter(({ row, labels }) => row.name.startsWith('object_store_shared_') && labels['resource'] === resource)
      .map(({ value }) => value)
  }
  const before = valuesOf('held-answers')
  const made = [10, 10].map((capacity) => new Shares('held-answers', { capacity }))
  for (const shares of made) {
    shares.take('a', 9, () => {})
    shares.take('b', 3)
    shares.take('a', 9)
  }
  const grown = valuesOf('held-answers').map((value, at) => value - (before[at] ?? 0))
  t.same(grown, [6, 20, 0, 2, 2], 'used, capacity, waiting, refused, evicted')
})
