import { test } from 'tap'
import { lost, wrong } from '../../support/client-findings.ts'
import { type KillCounts, noKills, verdict } from './kill-counts.ts'

const GOOD: KillCounts = {
  kills: 100,
  inStart: 20,
  inMultipart: 61,
  rotations: 44,
  compactions: 23,
  acknowledged: 5000,
  bytesMaximum: 3 * 1024 ** 2,
}

test('X4 kills that lost nothing pass', (t) => {
  t.same(verdict(GOOD, []), {
    summary:
      '100 kills (20 in a start, 61 in multipart, 44 rotations, 23 compactions), 5000 acknowledged, at most 3 MiB, 0 lost, 0 wrong',
    passed: true,
  })
  t.end()
})

test('X4 a run that counted nothing where it hurts fails, and so does one that found something', (t) => {
  for (const name of ['kills', 'inStart', 'inMultipart', 'rotations', 'compactions', 'acknowledged'] as const) {
    const { summary, passed } = verdict({ ...GOOD, [name]: 0 }, [])
    t.notOk(passed, name)
    t.match(summary, `nothing counted as ${name}`)
  }
  t.notOk(verdict(noKills(), []).passed)
  t.match(verdict(GOOD, [lost('a'), wrong('b'), wrong('c')]), { summary: /1 lost, 2 wrong$/, passed: false })
  t.end()
})
