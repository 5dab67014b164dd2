import { test } from 'tap'
import { type DelayedChange, judged } from './delayed-sync.ts'

const GOOD: DelayedChange = {
  name: 'a PUT',
  sent: 10,
  answered: 10.36,
  looks: [
    { at: 10.2, seesChange: false },
    { at: 10.3, seesChange: false },
    { at: 10.36, seesChange: true },
  ],
  isSeenAfterwards: true,
}
const SYNCS = [9.5, 10.05, 10.4]

function found(change: Partial<DelayedChange>, syncs = SYNCS) {
  return judged([{ ...GOOD, ...change }], syncs).findings
}

test('J1 what is told and seen after the sync is right', (t) => {
  t.same(judged([GOOD], SYNCS), { looks: 2, findings: [] })
  t.end()
})

test('J1 an early answer, an early look and a change that was never watched are found', (t) => {
  t.match(found({ answered: 10.3 }), [{ kind: 'wrong', text: /answered/ }])
  t.match(found({ looks: [{ at: 10.34, seesChange: true }] }), [{ text: /1 looks saw it/ }])
  t.match(found({ isSeenAfterwards: false }), [{ text: /nobody saw it/ }])
  t.match(found({}, [9.5]), [{ text: /no sync was delayed/ }])
  t.end()
})
