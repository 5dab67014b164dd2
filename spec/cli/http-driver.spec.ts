/** Which library speaks HTTP, where that is said, and how many threads share a port over it. */
import { test } from 'tap'
import { chosenDriver, frontEndCountOf } from '../../cli/server/chosen-driver.ts'
import type { Config } from '../../cli/config/config-types.ts'
import type { Logger } from '../../cli/server/log/logger.ts'
import { sharesPorts } from '../../planes/http/http-driver.ts'
import { chooseDriver } from '../../planes/http/choose-driver.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { startProcess } from '../support/test-server.ts'

const { problem } = await chooseDriver('auto')

function configOf(driver: string, frontEnds = 0): Config {
  return { 'server.http_driver': driver, 's3.front_ends': frontEnds } as unknown as Config
}

test('auto takes uWebSockets.js where it can be loaded, and otherwise warns once with the reason', async (t) => {
  const lines: unknown[][] = []
  const log = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Logger
  t.equal(await chosenDriver(configOf('auto'), log), problem === undefined ? 'uws' : 'node')
  t.equal(lines.length, problem === undefined ? 0 : 1)
  if (problem !== undefined)
    t.match(lines[0], [{ reason: problem, node: process.versions.node }, /slower HTTP of Node/])
  t.equal(await chosenDriver(configOf('node'), log), 'node')
  t.equal(lines.length, problem === undefined ? 0 : 1, 'what was asked for is no reason to warn')
  if (problem === undefined) t.equal(await chosenDriver(configOf('uws'), log), 'uws')
  else {
    const refused = { exit: 'usage', message: /server\.http_driver is uws, and uWebSockets\.js cannot be loaded: ./ }
    await t.rejects(chosenDriver(configOf('uws'), log), refused)
  }
})

test('threads share a port over Node where Node lets them; otherwise there is one, and more are refused', (t) => {
  for (const version of ['20.20.2', '22.11.0', '23.0.0']) {
    t.notOk(sharesPorts('node', version), version)
    t.ok(sharesPorts('uws', version))
    t.equal(frontEndCountOf(configOf('node'), 'node', version), 1)
    t.equal(frontEndCountOf(configOf('node', 1), 'node', version), 1)
    t.throws(() => frontEndCountOf(configOf('node', 2), 'node', version), {
      exit: 'usage',
      message: `Node ${version} cannot let 2 threads share a port over its own HTTP: set s3.front_ends to 1, or use Node 22.12 or later (not 23.0)`,
    })
  }
  for (const version of ['22.12.0', '23.1.0', '24.0.0', '26.10.0']) {
    t.ok(sharesPorts('node', version), version)
    t.equal(frontEndCountOf(configOf('node', 3), 'node', version), 3)
  }
  t.equal(frontEndCountOf(configOf('auto', 3), 'uws', '20.20.2'), 3)
  t.end()
})

test('a server says over which it runs, and what was written over one is read over the other', async (t) => {
  const dataDirectory = t.testdir()
  const drivers = problem === undefined ? (['uws', 'node', 'uws'] as const) : (['node', 'node'] as const)
  for (const [turn, driver] of drivers.entries()) {
    const server = await startProcess({ dataDirectory, environment: { OBJECT_STORE_SERVER_HTTP_DRIVER: driver } })
    const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
    t.match(await api.get('GET', '/system/info'), { http_driver: driver })
    if (turn === 0) t.equal((await server.raw('PUT', '/drivers')).status, 200)
    else t.equal((await server.raw('GET', '/drivers/object')).body.toString(), `turn ${turn - 1}`)
    t.equal((await server.raw('PUT', '/drivers/object', { body: `turn ${turn}` })).status, 200)
    api.close()
    t.equal(await server.terminate(), 0)
    t.notMatch(server.log.join('\n'), /cannot be loaded/)
    await server.stop()
  }
})
