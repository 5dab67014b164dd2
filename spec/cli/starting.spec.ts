/** What a start that reads a long journal says, and how it ends when it is asked to. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { readConfig } from '../../cli/config/read-config.ts'
import { ExitError } from '../../cli/exit-codes.ts'
import { runServer } from '../../cli/server/run-server.ts'
import type { StartServer } from '../../cli/server/running-server.ts'
import { createLogger, type Logger } from '../../cli/server/log/logger.ts'
import { Starting } from '../../cli/server/starting.ts'
import { openStore } from '../../cli/server/store/open-store.ts'
import { EngineThreadError } from '../../cli/server/threads/engine-thread-handle.ts'
import { claimPort } from '../../cli/server/threads/claim-port.ts'
import { ListenerTls } from '../../cli/server/tls/listener-tls.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StartStoppedError } from '../../engine/errors.ts'
import { AccessSeal } from '../../projections/apply/access-seal.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { replay } from '../../projections/replay/replay.ts'
import { createBucket, write } from '../support/commands.ts'
import { MASTER_KEY, openTestStore, readObject } from '../support/test-store.ts'
import { environment, FakeControl } from './command-runner.ts'

const HOST = '127.0.0.1'

async function startingOf(log: Pick<Logger, 'info' | 'warn'>) {
  const [s3, api, console] = [await claimPort(HOST, 0), await claimPort(HOST, 0), await claimPort(HOST, 0)]
  const flags = { 's3.bind': `${HOST}:${s3}`, 'api.bind': `${HOST}:${api}`, 'console.bind': `${HOST}:${console}` }
  const { config } = readConfig({ workingDirectory: '/', environment, flags })
  const starting = new Starting({ config, driver: 'node', tls: new ListenerTls(config), log: log as Logger })
  const ask = (port: number, path: string, method = 'GET') => fetch(`http://${HOST}:${port}${path}`, { method })
  return { starting, ask, s3, api, console }
}

test('while a start reads a long journal, every address says how far it is', async (t) => {
  const lines: unknown[][] = []
  const record = (...line: unknown[]) => void lines.push(line)
  const { starting, ask, s3, api, console } = await startingOf({ info: record, warn: record })
  starting.replayed({ done: 0, total: 1_000_000 })
  starting.replayed({ done: 400_000, total: 1_000_000 })
  // The listeners are opened in the next turns.
  await starting.opened
  const health = await ask(api, '/health')
  t.same([health.status, await health.json()], [200, { status: 'ok' }])
  const ready = await ask(api, '/ready')
  t.equal(ready.status, 503)
  t.match(await ready.json(), {
    status: 'not_ready',
    failing: [{ name: 'server', reason: /^The start reads the journal: 400000 of 1000000 records, about \d+ s left$/ }],
  })
  t.match(ready.headers.get('retry-after'), /^([1-9]|[12]\d|30)$/)
  for (const port of [api, console]) {
    const other = await ask(port, '/api/v1/buckets')
    t.equal(other.status, 503)
    t.match(await other.json(), { error: { code: 'SLOW_DOWN', message: /400000 of 1000000/, request_id: String } })
    t.match(other.headers.get('retry-after'), /^\d+$/)
    t.equal(await (await ask(port, '/', 'HEAD')).text(), '')
  }
  const object = await ask(s3, '/bucket/key')
  t.equal(object.status, 503)
  t.match(await object.text(), /<Code>ServiceUnavailable<\/Code><Message>The start reads the journal: 400000 of/)
  t.match(object.headers.get('retry-after'), /^\d+$/)
  t.match(lines, [[{ records: 0, total: 1_000_000 }, 'the start reads the journal']])
  t.equal(lines.length, 1, 'one line in five seconds')
  await starting.close('s3')
  t.equal(await claimPort(HOST, s3), s3)
  t.equal((await ask(api, '/ready')).status, 503)
  await starting.close()
  for (const port of [api, console]) t.equal(await claimPort(HOST, port), port)
})

test('a short replay is not told, and an address in use is no reason to stop', async (t) => {
  const warned: unknown[][] = []
  const warn = (...line: unknown[]) => void warned.push(line)
  const short = await startingOf({ info: warn, warn })
  short.starting.replayed({ done: 0, total: 49_999 })
  await short.starting.close()
  t.same(warned, [])
  const { starting, api, ask, s3 } = await startingOf({ info: () => undefined, warn })
  const other = await inUse(api)
  starting.replayed({ done: 0, total: 50_000 })
  await starting.opened
  t.match(warned, [[{ listener: 'api' }, /^nothing answers here/]])
  t.equal((await ask(s3, '/')).status, 503)
  await Promise.all([starting.close(), other.close(0)])
})

async function inUse(port: number) {
  const { listen } = await import('../../planes/http/listen.ts')
  return listen({ driver: 'node', host: HOST, port, exclusive: true, handler: () => ({ status: 200, headers: [] }) })
}

test('a start that is asked to stop ends in the middle of the journal, and the next one continues', async (t) => {
  const root = t.testdir()
  const made = await openTestStore(root)
  await made.client.execute(createBucket('kept'))
  await made.client.execute(write('kept', 'key', Buffer.from('bytes')))
  await made.close(true)
  const { paths } = made
  nodeDisk.removeTree(paths.projections)
  const reports: unknown[] = []
  let asked = false
  const hooks = {
    onFailure: () => undefined,
    onBatchDone: () => undefined,
    onReplay: (report: unknown) => {
      reports.push(report)
      asked = reports.length > 1
    },
    stopAsked: () => asked,
  }
  const options = { ...OPTIONS, masterKey: MASTER_KEY }
  await t.rejects(openStore(nodeDisk, paths, options, hooks), { name: 'StartStoppedError' })
  t.same(
    reports,
    [0, 7].map((done) => ({ done, total: 7 })),
  )
  t.notOk(nodeDisk.exists(paths.projections))
  const store = await openTestStore(root)
  t.same(await readObject(store, 'kept', 'key'), Buffer.from('bytes'))
  await store.close(true)
})

const OPTIONS = {
  previousMasterKey: undefined,
  segmentBytes: 256 * 1024,
  volumeBytes: 256 * 1024,
  reservedBytes: 0,
  strangerBytesPerSecond: 2 ** 30,
  clockToleranceSeconds: 5,
  referenceRatioMaximum: 1000,
  clockIntervalSeconds: 60,
  version: '0.0.0-spec',
  bootId: '11111111-2222-3333-4444-555555555555',
} as const

/** A store of 1,500 objects that was closed in order. */
async function closedStore(root: string) {
  const store = await openTestStore(root)
  await store.client.execute(createBucket('kept'))
  const keys = Array.from({ length: 1500 }, (_, index) => `key ${index}`)
  await Promise.all(keys.map((key) => store.client.execute(write('kept', key, Buffer.from('bytes')))))
  await store.close(true)
  return { store, keys }
}

test('a thread that writes rows ends between two commits when the start is asked to stop and the rows are kept', async (t) => {
  const root = t.testdir()
  const { store, keys } = await closedStore(root)
  let inTheMiddle = false
  // On a busy machine the thread may be done, or have made its last commit, before it is asked.
  for (let tries = 0; tries < 20 && !inTheMiddle; tries += 1) {
    const directory = join(root, `other-${tries}`)
    mkdirSync(directory)
    const rows = ProjectionEnvironment.open(directory, { readOnly: false })
    let questions = 0
    // The first is after the one chunk of the journal, all others while the thread writes.
    const stopAsked = () => (questions += 1) > 1
    let stopped = false
    try {
      const seal = new AccessSeal(rows, new Uint8Array(32))
      replay(nodeDisk, store.paths, rows, undefined, { aheadFromBytes: 0, stopAsked, seal })
    } catch (error) {
      t.type(error, StartStoppedError)
      stopped = true
    }
    rows.refresh()
    const whole = hasPosition(rows)
    t.ok(whole || stopped, 'only a stop leaves a lot that is not written as a whole')
    if (whole) t.equal(rows.table('objects').count(), keys.length, 'and what is written as a whole has all its rows')
    inTheMiddle = !whole
    await rows.close()
  }
  t.ok(inTheMiddle)
})

function hasPosition(rows: ProjectionEnvironment): boolean {
  return rows.table('applied').get(Buffer.from('position')) !== undefined
}

test('rows in place, which are not kept, are written to the end of their lot', async (t) => {
  const root = t.testdir()
  const { store, keys } = await closedStore(root)
  for (let tries = 0; tries < 5; tries += 1) {
    const directory = join(root, `other-${tries}`)
    mkdirSync(directory)
    const rows = ProjectionEnvironment.open(directory, { readOnly: false })
    let questions = 0
    const stopAsked = () => (questions += 1) > 1
    try {
      replay(nodeDisk, store.paths, rows, undefined, { aheadFromBytes: 0, stopAsked })
    } catch (error) {
      t.type(error, StartStoppedError)
    }
    rows.refresh()
    t.ok(hasPosition(rows), 'without a position the next start would throw all rows away')
    t.equal(rows.table('objects').count(), keys.length)
    await rows.close()
  }
})

const stopped: StartServer = (_config, _log, signal) =>
  new Promise((_resolve, reject) => {
    const cause = new EngineThreadError('StartStoppedError', 'stopped')
    signal?.addEventListener('abort', () => reject(new ExitError('failed', 'stopped', { cause })))
  })

test('a server whose start was asked to stop ends with 0', async (t) => {
  const { config } = readConfig({ workingDirectory: '/', environment })
  const control = new FakeControl()
  const done = runServer({ config, logger: createLogger({ level: 'silent' }), control, start: stopped })
  control.signal('SIGTERM')
  t.equal(await done, 0)
  t.strictSame(control.exits, ['soon 0'])
  t.strictSame(control.listeners, [])
})
