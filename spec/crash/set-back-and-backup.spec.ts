/** A journal is set back by the command, on a host whose clock was wrong; a backup of it restores (decision 0019). */
import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { startProcess } from '../support/server-process.ts'
import { askStranger, verifyAtRest } from '../support/journals/journal-verdicts.ts'
import { SteppedClock } from '../support/stepped-clock.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { DAY } from '../support/wire-locks.ts'

const SYSTEM_TOKEN = 'system-token-of-thirty-two-or-more'

test('clock set-back over the wire, then backup and restore', async (t) => {
  t.setTimeout(180_000)
  const directory = t.testdir({ data: {} })
  const dataDirectory = `${directory}/data`
  const clock = new SteppedClock(directory)
  const environment = { ...clock.environment, OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN }
  const server = await startProcess({ dataDirectory, environment })
  t.teardown(() => server.kill9())
  const put = async (target: string) => {
    const { status } = await server.wire.send('PUT', target, { sign: { now: clock.now() } })
    t.equal(status, 200, target)
  }
  const cli = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('node', ['cli/object-store.mjs', ...words], {
      encoding: 'utf8',
      env: {
        ...process.env,
        OBJECT_STORE_DATA_DIR: dataDirectory,
        OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
        OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
        OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
        OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN,
        OBJECT_STORE_URL: server.apiEndpoint,
        OBJECT_STORE_TOKEN: SYSTEM_TOKEN,
      },
    })
    return { status, stdout, stderr }
  }
  await put('/bucket')
  clock.step(2 * DAY)
  await put('/bucket/ahead')
  clock.step(0)
  const done = cli('clock', 'set-back', '--reason', 'the clock was ahead', '--json')
  t.equal(done.status, 0, done.stderr)
  await put('/bucket/after')
  t.same(await (await fetch(`${server.apiEndpoint}/ready`)).json(), { status: 'ready' })
  const again = cli('clock', 'set-back', '--reason', 'once more')
  t.not(again.status, 0)
  t.match(again.stderr, /not behind the journal/)
  t.equal(await server.terminate(), 0)

  const made = cli('backup', `${directory}/backup`)
  t.equal(made.status, 0, made.stderr)
  const restored = cli('restore', `${directory}/backup`, '--to', `${directory}/restored`)
  t.equal(restored.status, 0, restored.stderr)
  for (const root of [dataDirectory, `${directory}/restored`]) {
    const { journal } = new StorePaths(root)
    t.match(await verifyAtRest(journal), { intact: true, problems: [] })
    t.match(askStranger(journal), [/^intact /])
  }
  const other = await startProcess({ dataDirectory: `${directory}/restored`, environment })
  t.teardown(() => other.kill9())
  t.same(await (await fetch(`${other.apiEndpoint}/ready`)).json(), { status: 'ready' })
})
