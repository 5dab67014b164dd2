/** A host clock that is behind the journal is told: by /ready, a metric, the log, and the doctor (decision 0019). */
import { test } from 'tap'
import { ClockWatch } from '../../cli/server/clock-watch.ts'
import type { Finding } from '../../cli/commands/server/doctor/finding.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { startProcess } from '../support/server-process.ts'
import { SteppedClock } from '../support/stepped-clock.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { DAY } from '../support/wire-locks.ts'
import { run } from './command-runner.ts'

const BEHIND = /the clock of the host is (\d+) seconds behind the last entry of the journal, until (\S+Z); no lock/

interface Ready {
  readonly status: string
  readonly degraded?: readonly { readonly name: string; readonly reason: string }[]
}

test('a server whose clock went back two days says how far and until when', { timeout: 120_000 }, async (t) => {
  const directory = t.testdir({ data: {} })
  const dataDirectory = `${directory}/data`
  const clock = new SteppedClock(directory)
  const server = await startProcess({ dataDirectory, environment: clock.environment })
  t.teardown(() => server.kill9())
  const ready = async () => (await (await fetch(`${server.apiEndpoint}/ready`)).json()) as Ready
  const metric = async () => {
    const headers = { authorization: `Bearer ${server.scrapeToken}` }
    const text = await (await fetch(`${server.apiEndpoint}/metrics`, { headers })).text()
    return Number(/^object_store_clock_behind_seconds (\S+)$/m.exec(text)?.[1])
  }
  t.same(await ready(), { status: 'ready' })
  t.ok((await metric()) < 1)
  clock.step(2 * DAY)
  const { status } = await server.wire.send('PUT', '/ahead', { sign: { now: clock.now() } })
  t.equal(status, 200)
  t.same(await ready(), { status: 'ready' })
  const written = clock.now()
  clock.step(0)
  const { status: stillReady, degraded = [] } = await ready()
  t.match([stillReady, degraded.map(({ name }) => name)], ['ready', ['clock']])
  const [, seconds, until = ''] = BEHIND.exec(degraded[0]?.reason ?? '') ?? []
  t.ok(Number(seconds) > (DAY * 1.9) / 1000 && Number(seconds) <= (DAY * 2) / 1000, `${seconds}`)
  t.ok(Math.abs(Date.parse(until) - written) < 60_000, until)
  t.ok((await metric()) > (DAY * 1.9) / 1000)

  t.equal(await server.terminate(), 0)
  const { stdout } = await run(['server', 'doctor', '--json'], {
    environment: {
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
      OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
      OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
      OBJECT_STORE_DATA_DIR: dataDirectory,
    },
  })
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Finding[] }
  const found = checks.find(({ check }) => check === 'clock')
  t.equal(found?.status, 'warning')
  t.match(found?.detail, BEHIND)
  const again = await startProcess({ dataDirectory, environment: clock.environment })
  t.teardown(() => again.kill9())
  const told = again.log.filter((line) => BEHIND.test(line))
  t.equal(told.length, 1, 'a start with a clock that is behind logs it once')
  t.match(told[0], '"level":"warn"')
})

test('the log has one line when the clock falls behind and one when it has caught up', { timeout: 120_000 }, (t) => {
  const lines: string[] = []
  const time = { host: 100_000, entry: 90_000 }
  const watch = new ClockWatch(
    { warn: (_fields: object, message?: string) => void lines.push(message ?? '') },
    {
      clock: () => millisecondsOf(time.host),
      expiryClock: () => millisecondsOf(Math.max(time.host, time.entry)),
      toleranceSeconds: 5,
    },
  )
  t.teardown(() => watch.stop())
  const look = (host: number) => {
    time.host = host
    watch.look()
    watch.look()
    return lines.splice(0)
  }
  t.same(look(100_000), [])
  t.same(look(85_000), [], 'within the tolerance')
  t.match(look(84_999), [/is 6 seconds behind .* until 1970-01-01T00:01:30.000Z/])
  t.same(look(80_000), [], 'that it is further behind is no change')
  t.match(look(85_000), [/no longer behind/])
  t.end()
})
