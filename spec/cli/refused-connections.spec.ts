/** Connections that a server has no place for: the metric and the log say how many, and why. */
import { connect } from 'node:net'
import { test } from 'tap'
import { RefusedConnectionsWatch, refusedCounter } from '../../cli/server/refused-connections.ts'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { startProcess } from '../support/server-process.ts'
import { sleep } from '../support/waiting.ts'

/** Runs first in every thread: the process seems to be able to open so many files. */
function withOpenFiles(maximum: number): string {
  const program = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { readFileSync } = fs
    fs.readFileSync = (path, ...rest) => {
      const text = readFileSync(path, ...rest)
      return path === '/proc/self/limits' ? text.replace(/^(Max open files +)\\S+/m, '$1${maximum}') : text
    }
    syncBuiltinESMExports()`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}

test('a server with few descriptors', async (t) => {
  const server = await startProcess({
    dataDirectory: t.testdir(),
    environment: { NODE_OPTIONS: withOpenFiles(256) },
  })
  t.teardown(() => server.kill9())
  const refused = async () => {
    const headers = { authorization: `Bearer ${server.scrapeToken}` }
    const text = await (await fetch(`${server.apiEndpoint}/metrics`, { headers })).text()
    return [...text.matchAll(/^object_store_connections_refused_total\{listener="s3",.*\} (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0)
  }
  t.equal(await refused(), 0, 'the series are there from the start')
  const port = Number(new URL(server.endpoint).port)
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  const closed = () => sockets.filter(({ destroyed }) => destroyed).length
  for (const socket of sockets) socket.resume()
  // Each front end takes eight.
  while (closed() < 32) await sleep(20)
  t.ok((await refused()) >= 32, 'each is counted')
  const told = () => server.log.find((line) => line.includes('connections were closed for want of places'))
  while (told() === undefined) await sleep(100)
  t.match(JSON.parse(told() ?? '{}'), { level: 'warn', refused: Number, s3: Number, api: 0, console: 0 })
})

test('the log has one line a minute, with what came since', (t) => {
  const slots = MetricSlots.create([], 2)
  const lines: unknown[] = []
  let now = 0
  const watch = new RefusedConnectionsWatch({ warn: (fields: unknown) => void lines.push(fields) }, slots, () => now)
  t.teardown(() => watch.stop())
  watch.look()
  t.same(lines, [], 'nothing is refused')
  refusedCounter(slots.shared, 0, 's3')('full')
  refusedCounter(slots.shared, 1, 'api')('share')
  watch.look()
  refusedCounter(slots.shared, 0, 's3')('silent')
  now = 59_999
  watch.look()
  t.same(lines, [{ refused: 2, s3: 1, api: 1, console: 0 }])
  now = 60_000
  watch.look()
  t.same(lines.slice(1), [{ refused: 1, s3: 2, api: 1, console: 0 }])
  now = 180_000
  watch.look()
  t.equal(lines.length, 2, 'nothing came since')
  t.end()
})
