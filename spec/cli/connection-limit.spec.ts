import { test } from 'tap'
import { connectionLimits } from '../../cli/connection-limit.ts'

const limitsOf = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             94000                94000                processes
Max open files            ${soft.padEnd(20)} 1048576              files
`

test('S25 connections are bounded by what the limit of open files leaves', (t) => {
  t.same(connectionLimits(1, limitsOf('1024')), { management: 45, frontEnd: 315 })
  t.same(connectionLimits(4, limitsOf('1048576')), { management: 65_502, frontEnd: 114_628 })
  t.same(connectionLimits(2, limitsOf('100')), { management: 8, frontEnd: 8 }, 'a few are always let in')
  const { management, frontEnd } = connectionLimits(3, limitsOf('4096'))
  t.ok(2 * (management + 3 * frontEnd) + 64 + 5 * 80 <= 4096)
  t.same(connectionLimits(2, limitsOf('unlimited')), { management: Infinity, frontEnd: Infinity })
  t.ok(connectionLimits(1).frontEnd > 0, 'the limit of this process')
  t.end()
})
