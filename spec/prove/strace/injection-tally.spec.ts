import { test } from 'tap'
import { lost, wrong } from '../../support/client-findings.ts'
import { InjectionTally } from './injection-tally.ts'

function tally(injected: readonly string[], missed = 0): InjectionTally {
  const counts = new InjectionTally()
  for (const call of ['fsync', 'rename', 'fsync', 'rename']) counts.tried(call)
  for (const call of injected) counts.injected(call, 'journal')
  counts.missed = missed
  counts.acknowledged = 9
  counts.looks = 7
  return counts
}

test('X5 injections that lost nothing pass', (t) => {
  t.same(tally(['fsync', 'fsync', 'rename'], 1).verdict([]), {
    summary:
      '3 injections at 2 system calls (1 not reached), 7 looks during delayed syncs, 9 acknowledged, 0 lost, 0 wrong',
    passed: true,
  })
  t.equal(tally(['fsync', 'rename']).details, 'fsync 1, rename 1; journal 2; ')
  t.end()
})

test('X5 a run that injected nothing, or too little, or that found something, fails', (t) => {
  t.notOk(new InjectionTally().verdict([]).passed)
  t.match(tally(['fsync']).verdict([]), { summary: /none into rename/, passed: false })
  t.notOk(tally(['fsync', 'rename'], 2).verdict([]).passed)
  const blind = tally(['fsync', 'rename'])
  blind.looks = 0
  t.notOk(blind.verdict([]).passed)
  t.match(tally(['fsync', 'rename']).verdict([lost('a'), wrong('b')]), { summary: /1 lost, 1 wrong$/, passed: false })
  t.end()
})
