import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { tracedCalls } from './system-call-tracer.ts'

const LOG = `10 1700000000.100000 fdatasync(27</d/journal/0000000000000000.segment> <unfinished ...>
11 1700000000.150000 openat(AT_FDCWD</d>, "/d/payloads", O_RDONLY|O_CLOEXEC) = -1 EIO (Input/output error) (INJECTED) <0.000020>
10 1700000000.400000 <... fdatasync resumed>) = 0 <0.300000>
10 1700000000.500000 rename("/d/spare", "/d/next") = 0 <0.000010>
10 1700000000.600000 --- SIGTERM {si_signo=SIGTERM} ---
11 1700000000.700000 pwrite64(9</d/data.mdb>, "a"..., 8192, 0 <unfinished ...>
10 1700000000.800000 +++ killed by SIGKILL +++
`

test('X5 calls of a log, also those that others interrupt and that the process ends in', (t) => {
  const log = join(t.testdir(), 'log')
  writeFileSync(log, LOG)
  const rows = tracedCalls(log).map(({ thread, call, path, injected }) => [thread, call, path, injected])
  t.same(rows, [
    [11, 'openat', '/d/payloads', true],
    [10, 'fdatasync', '/d/journal/0000000000000000.segment', false],
    [10, 'rename', '/d/spare', false],
    [11, 'pwrite64', '/d/data.mdb', false],
  ])
  const [, sync, , write] = tracedCalls(log)
  t.equal(sync?.began, 1_700_000_000.1)
  t.ok(Math.abs((sync?.ended ?? 0) - 1_700_000_000.4) < 1e-6)
  t.equal(write?.ended, undefined)
  t.end()
})
