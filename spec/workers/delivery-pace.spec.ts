/** How fast deliveries may begin, beside requests. */
import { test } from 'tap'
import { busyMachine } from '../../workers/webhooks/busy-machine.ts'
import { DeliveryPace } from '../../workers/webhooks/delivery-pace.ts'

function taken(pace: DeliveryPace): number {
  let count = 0
  while (pace.take()) count += 1
  return count
}

test('twice as many with each look, to a bound; few while requests need the processors', (t) => {
  let now = 0
  let isBusy = false
  const pace = new DeliveryPace(
    () => now,
    () => isBusy,
  )
  t.equal(taken(pace), 24)
  t.equal(pace.wait, 200)
  now += 150
  t.equal(taken(pace), 0, 'not before the next look')
  t.equal(pace.wait, 50)
  const counts = []
  for (let look = 0; look < 6; look += 1) {
    now += 200
    counts.push(taken(pace))
  }
  t.same(counts, [48, 96, 192, 384, 400, 400])
  isBusy = true
  now += 200
  t.equal(taken(pace), 6)
  isBusy = false
  now += 200
  t.equal(taken(pace), 12)
  now += 2000
  t.equal(taken(pace), 24, 'it begins again after a pause')
  t.end()
})

test('the machine is busy with requests when little of it is idle and the journal grows', (t) => {
  let [now, records, used, idle] = [0, 0, 0, 0]
  const isBusy = busyMachine({
    timer: () => now,
    records: () => records,
    stat: () => `cpu  ${used} 0 0 ${idle} 0 0 0 0 0 0\ncpu0 1 2 3\n`,
  })
  const after = (more: { readonly records: number; readonly used: number; readonly idle: number }): boolean => {
    now += 200
    records += more.records
    used += more.used
    idle += more.idle
    return isBusy()
  }
  t.equal(after({ records: 1000, used: 40, idle: 0 }), false, 'nothing is known the first time')
  t.equal(after({ records: 1000, used: 40, idle: 0 }), true)
  t.equal(after({ records: 1000, used: 25, idle: 15 }), true)
  t.equal(after({ records: 1000, used: 24, idle: 16 }), false, 'two fifths of it are idle')
  t.equal(after({ records: 99, used: 40, idle: 0 }), false, 'something else keeps it busy')
  t.end()
})

test('where the kernel does not say how busy the machine is, it is not', (t) => {
  let records = 0
  const isBusy = busyMachine({
    timer: () => 0,
    records: () => (records += 1000),
    stat: () => {
      throw new Error('no such file')
    },
  })
  t.equal(isBusy(), false)
  t.equal(isBusy(), false)
  t.end()
})
