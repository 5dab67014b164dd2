/** The long work of the management plane: one greedy credential beside a modest one. */
import { test } from 'tap'
import { shareTable } from '../../../engine/shares/share-table.ts'
import { BusyError } from '../../../engine/shares/shares.ts'
import { type HeavyPlace, HeavyWork } from '../../../planes/management/heavy-work.ts'
import { ClientGoneError } from '../../../planes/http/exchange.ts'

/** A request of a credential; all of them come from one address. */
class Asked {
  readonly identity: { readonly credentialId: string }
  readonly http = { onAborted: (listener: () => void) => void this.#listeners.push(listener) }
  readonly #listeners: (() => void)[] = []

  constructor(credentialId: string) {
    this.identity = { credentialId }
  }

  abort(): void {
    for (const listener of this.#listeners) listener()
  }
}

async function turnsOfLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

for (const kind of ['scan', 'verify-object'] as const) {
  test(`${kind}: the first place that comes free is the modest credential's`, async (t) => {
    const heavy = new HeavyWork()
    const places: HeavyPlace[] = []
    for (let count = 0; count < 4; count += 1) places.push(await heavy.enter(kind, new Asked('greedy')))
    const order: string[] = []
    const waiting = ['greedy', 'greedy', 'modest'].map(async (owner) => {
      const place = await heavy.enter(kind, new Asked(owner))
      order.push(owner)
      place.leave()
    })
    await turnsOfLoop()
    t.same(order, [])
    places[0]?.leave()
    await Promise.all(waiting)
    t.equal(order[0], 'modest')
    for (const place of places) place.leave()
  })
}

for (const kind of ['scan', 'export', 'verify-object'] as const) {
  for (const step of ['next', 'pause'] as const) {
    test(`${kind}: what takes long gives way at its ${step}, and goes on afterwards`, async (t) => {
      const heavy = new HeavyWork()
      const places: HeavyPlace[] = []
      const most = kind === 'export' ? shareTable.exports.ownerMaximum : 4
      for (let count = 0; count < most; count += 1) places.push(await heavy.enter(kind, new Asked('greedy')))
      if (kind === 'export')
        for (let count = 0; count < 4; count += 1) await heavy.enter(kind, new Asked(`other ${count}`))
      const entering = heavy.enter(kind, new Asked('modest'))
      let hasGoneOn = false
      const going = places[0]?.[step]().then(() => (hasGoneOn = true))
      const modest = await entering
      await turnsOfLoop()
      t.notOk(hasGoneOn)
      modest.leave()
      await going
      t.ok(hasGoneOn)
    })
  }
}

test('the places of a credential have its turns, whatever kind they are of', async (t) => {
  const heavy = new HeavyWork()
  const taken: string[] = []
  const work = async (owner: string, kind: 'scan' | 'export') => {
    const place = await heavy.enter(kind, new Asked(owner))
    while (taken.length < 40) {
      await place.next()
      taken.push(owner)
    }
    place.leave()
  }
  const greedy = (['scan', 'scan', 'scan', 'export', 'export', 'export'] as const).map((kind) => work('greedy', kind))
  await Promise.all([...greedy, work('modest', 'scan')])
  const first = taken.slice(0, 40)
  t.equal(first.filter((owner) => owner === 'modest').length, 20)
})

test('one credential leaves room among the exports', async (t) => {
  const heavy = new HeavyWork()
  const { ownerMaximum } = shareTable.exports
  for (let count = 0; count < ownerMaximum; count += 1) await heavy.enter('export', new Asked('greedy'))
  let entered = 0
  void heavy.enter('export', new Asked('greedy')).then(
    () => (entered += 1),
    () => undefined,
  )
  const modest = await heavy.enter('export', new Asked('modest'))
  t.equal(entered, 0)
  modest.leave()
})

test('the oldest verification of a bucket ends for that of another credential', async (t) => {
  const heavy = new HeavyWork()
  const places = Array.from({ length: 4 }, () => heavy.enterVerification(new Asked('greedy')))
  t.throws(() => heavy.enterVerification(new Asked('greedy')), BusyError)
  const modest = heavy.enterVerification(new Asked('modest'))
  await t.rejects(places[0]?.pause() ?? Promise.resolve(), BusyError)
  for (const place of [...places.slice(1), modest]) await t.resolves(place.pause())
  places[0]?.leave()
  t.throws(() => heavy.enterVerification(new Asked('greedy')), BusyError, 'and nothing more is free')
})

test('nobody works for a client that has gone', async (t) => {
  const heavy = new HeavyWork()
  const request = new Asked('a')
  const place = await heavy.enter('scan', request)
  request.abort()
  await t.rejects(place.pause(), ClientGoneError)
  place.leave()
})
