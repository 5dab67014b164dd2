/**
 * What a server does around its start: ports, limits, its log, its store and the time it keeps.
 * Proves: RES-OBJ-02, API-PRO-02, API-PRO-03, AUT-S3P-08, EVT-AUD-06, EVT-AUD-08, LIM-VAL-16.
 */
import { mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test, type Test } from 'tap'
import { connectionLimits } from '../../cli/server/connection-limit.ts'
import { openFilesMaximum } from '../../cli/server/open-files.ts'
import type { Logger } from '../../cli/server/log/logger.ts'
import { SpaceWatch } from '../../cli/server/space-watch.ts'
import { ClockWatermark } from '../../cli/server/store/clock-watermark.ts'
import { isOnOneFileSystem } from '../../cli/server/store/payload-places.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { claimPort } from '../../cli/server/threads/claim-port.ts'
import { microsecondsOf } from '../../engine/brands.ts'
import type { Command } from '../../engine/commands/commands.ts'
import { listenBySpec as listen } from '../support/http-driver.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { createBucket, write } from '../support/commands.ts'
import { FaultDisk, inputOutputError } from '../support/disks/fault-disk.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { startProcess } from '../support/test-server.ts'
import { openTestStore, readObject } from '../support/test-store.ts'

const HOST = '127.0.0.1'

test('a free port is found for port 0, and is free afterwards', async (t) => {
  const port = await claimPort(HOST, 0)
  t.ok(port > 0)
  t.equal(await claimPort(HOST, port), port)
})

test('a port that another server shares with anyone is refused all the same', async (t) => {
  const port = await claimPort(HOST, 0)
  const listener = await listen({ host: HOST, port, handler: () => ({ status: 200, headers: [] }) })
  await t.rejects(claimPort(HOST, port), { message: `cannot listen on ${HOST}:${port}: another process listens there` })
  await listener.close(0)
  t.equal(await claimPort(HOST, port), port)
})

test('a host that is not of this machine is refused with the reason', async (t) => {
  await t.rejects(claimPort('192.0.2.1', 7600), /cannot listen on 192\.0\.2\.1:7600: .*EADDRNOTAVAIL/)
})

const openFilesOf = (soft: string) =>
  openFilesMaximum(`Limit                     Soft Limit           Hard Limit           Units
Max processes             94000                94000                processes
Max open files            ${soft.padEnd(20)} 1048576              files
`)

test('S25 connections are bounded by what the limit of open files leaves', (t) => {
  t.same(connectionLimits(1, openFilesOf('1024')), { management: 45, console: 22, frontEnd: 293 })
  t.same(connectionLimits(4, openFilesOf('1048576')), { management: 65_502, console: 32_751, frontEnd: 106_440 })
  t.same(connectionLimits(2, openFilesOf('100')), { management: 8, console: 8, frontEnd: 8 }, 'a few are always let in')
  const { management, console, frontEnd } = connectionLimits(3, openFilesOf('4096'))
  t.ok(2 * (management + console + 3 * frontEnd) + 64 + 5 * 80 <= 4096)
  t.same(connectionLimits(2, openFilesOf('unlimited')), { management: Infinity, console: Infinity, frontEnd: Infinity })
  t.ok(connectionLimits(1).frontEnd > 0, 'the limit of this process')
  t.end()
})

const LONG_AGO = Date.UTC(2001, 8, 9) * 1000

test('everything in a new store has the time of the clock that the store was given', async (t) => {
  const store = await openTestStore(t.testdir(), { clock: () => LONG_AGO })
  // No record is older than the one before it: with the host's time in the genesis, all that follow had it too.
  // Each batch is later than the one before it, by a microsecond when the clock stands still.
  t.equal(Math.floor(store.journal.position.timeMicroseconds / 1000) * 1000, LONG_AGO)
  await store.close(true)
  t.same(store.failures, [])
})

test('without one it is the time of the host', async (t) => {
  const before = Date.now() * 1000
  const store = await openTestStore(t.testdir())
  t.ok(store.journal.position.timeMicroseconds >= before)
  await store.close(true)
})

test('why a store cannot be opened is told, whatever else fails while it is closed again', async (t) => {
  const root = t.testdir()
  await (await openTestStore(root)).close(true)
  const disk = new FaultDisk()
  disk.fault = ({ name, path }) =>
    name === 'close' && path.endsWith('HEAD') ? { kind: 'error', error: inputOutputError() } : undefined
  const masterKey = Buffer.alloc(32, 1)
  await t.rejects(openTestStore(root, { masterKey }, disk), { name: 'MasterKeyMismatchError' })
  t.equal(disk.count('close', /HEAD$/), 1)
  await (await openTestStore(root)).close(true)
})

test('a store that could not be closed whole takes nothing any more, and has closed all else', async (t) => {
  const root = t.testdir()
  const disk = new FaultDisk()
  const store = await openTestStore(root, {}, disk)
  await store.client.execute(createBucket('kept'))
  await store.client.execute(write('kept', 'before', Buffer.from('before')))
  disk.fault = ({ name, path }) =>
    name === 'close' && path.endsWith('.volume') ? { kind: 'error', error: inputOutputError() } : undefined
  disk.operations.length = 0
  await t.rejects(store.close(true), { code: 'EIO' })
  t.equal(disk.count('close', /\.segment$/), 1)
  t.equal(disk.count('close', /HEAD$/), 1)
  await t.rejects(store.client.execute(write('kept', 'after', Buffer.from('after'))), {
    name: 'EngineUnavailableError',
  })
  disk.fault = () => undefined
  await store.close(false)
  t.equal(disk.count('close', /HEAD$/), 1, 'nothing is closed twice')
  t.same(store.failures, [])

  const again = await openTestStore(root)
  t.equal((await readObject(again, 'kept', 'before'))?.toString(), 'before')
  await again.close(true)
})

const INTERVAL_SECONDS = 0.01
const LOOKS = 10

// The timer of the mark keeps no process alive: a server that has ended must end.
const alive = setInterval(() => undefined, 1000)

tap.teardown(() => clearInterval(alive))

/** Lets the clock be asked some times, and gives the commands that were executed meanwhile. */
async function observed(
  t: Test,
  { lockEnabled, age }: { readonly lockEnabled: boolean; readonly age: number },
): Promise<Command[]> {
  const store = await openTestStore(t.testdir())
  await store.client.execute({ ...createBucket('photos'), lockEnabled })
  const executed: Command[] = []
  const client = { ...store.client, execute: record }
  let looks = 0
  await new Promise<void>((resolve) => {
    const clock = () => {
      looks += 1
      if (looks === LOOKS) setImmediate(end)
      return microsecondsOf(store.journal.position.timeMicroseconds + age)
    }
    const watermark = new ClockWatermark(client, store.catalog, store.journal, clock, INTERVAL_SECONDS)
    const end = () => {
      watermark.stop()
      resolve()
    }
  })
  await store.close(true)
  return executed

  async function record(command: Command) {
    executed.push(command)
    return store.client.execute(command)
  }
}

test('W1: an idle store with a bucket under Object Lock records the time', async (t) => {
  const executed = await observed(t, { lockEnabled: true, age: 2 * INTERVAL_SECONDS * 1_000_000 })
  t.ok(executed.length > 0)
  for (const command of executed) {
    t.match(command, { kind: 'record-server-event', changes: [{ name: 'clock.observed' }] })
  }
})

test('a store that was written to needs no mark, and neither does one whose clock is behind', async (t) => {
  t.same(await observed(t, { lockEnabled: true, age: 0 }), [], 'the last entry is the mark')
  t.same(await observed(t, { lockEnabled: true, age: -60_000_000 }), [], 'a mark would say nothing new')
})

test('a store without a bucket under Object Lock has nothing to judge', async (t) => {
  t.same(await observed(t, { lockEnabled: false, age: 60_000_000 }), [])
})

test('an open store keeps the mark by itself, and the mark is an entry of the chain', async (t) => {
  const directory = t.testdir()
  const store = await openTestStore(directory, { clockIntervalSeconds: INTERVAL_SECONDS })
  await store.client.execute({ ...createBucket('locked'), lockEnabled: true })
  const marked = () =>
    journalEntries(directory).filter(({ changes }) => changes.some(({ name }) => name === 'clock.observed'))
  while (marked().length === 0) await store.loop.drained().then(() => new Promise((resolve) => setTimeout(resolve, 5)))
  t.match(marked()[0], { principal: 'system:clock', operation: 'clock.observe', result: 'success', intent: undefined })
  await store.close(true)
  const reopened = await openTestStore(directory)
  t.equal(reopened.report.discardedProjections, undefined)
  await reopened.close(true)
})

for (const [setting, expected] of [
  ['all', [200, 404]],
  ['errors', [404]],
  ['none', []],
] as const) {
  test(`log.requests = ${setting}`, async (t) => {
    const server = await startProcess({ environment: { OBJECT_STORE_LOG_REQUESTS: setting } })
    const api = ApiClient.of(server.apiEndpoint, basic(server.accessKey, server.secretKey))
    const answers = [await api.call('GET', '/buckets'), await api.call('GET', '/buckets/no-such-bucket')]
    t.same(
      answers.map(({ status }) => status),
      [200, 404],
    )
    api.close()
    await server.stop()
    const lines = server.log.map((line) => JSON.parse(line) as Record<string, unknown>)
    const logged = lines.filter(({ msg }) => msg === 'management request')
    t.same(
      logged.map(({ status }) => status),
      expected,
    )
    const told = { method: 'GET', principal: 'management:system-administrator', milliseconds: Number }
    for (const { status, ...one } of logged) {
      const isFound = status === 200
      t.match(one, { ...told, operation: isFound ? 'listBuckets' : 'getBucket' })
      t.equal(one['reason'], isFound ? undefined : 'bucket-not-found')
    }
    for (const { requestId } of logged) t.ok(answers.some((answer) => answer.requestId === requestId))
    t.notOk(server.log.some((line) => line.includes('no-such-bucket') || line.includes(server.secretKey)))
  })
}

test('a full disk is told once, and so is its end', (t) => {
  const lines: string[] = []
  let availableBytes = 100
  const space = {
    get isBelowReserve() {
      return availableBytes < 50
    },
    get space() {
      return { availableBytes, capacityBytes: 1000 }
    },
  }
  const log = { warn: (_: object, message: string) => lines.push(message) } as unknown as Pick<Logger, 'warn'>
  const watch = new SpaceWatch(log, space)
  for (const free of [100, 40, 30, 100, 100, 0]) {
    availableBytes = free
    watch.look()
  }
  watch.stop()
  t.match(lines, [/is full.*every upload is refused/, /has space again/, /is full/])
  t.equal(lines.length, 3)
  t.end()
})

test('uploads on another file system end a start, and any directory that is missing ends readiness', async (t) => {
  const paths = new StorePaths(t.testdir({ payloads: { files: {} } }))
  // The store may itself be in memory.
  const elsewhere = ['/dev/shm', join(process.cwd(), 'build')].find(
    (place) => statSync(place).dev !== statSync(paths.root).dev,
  )
  const other = mkdtempSync(join(elsewhere ?? '', 'uploads-'))
  t.teardown(() => rmSync(other, { recursive: true }))
  t.equal(isOnOneFileSystem(paths), false, 'a store that is not made yet')
  symlinkSync(other, paths.uploads)
  t.throws(() => isOnOneFileSystem(paths), { name: 'SplitStoreError' })
  await t.rejects(
    startProcess({ dataDirectory: paths.root }),
    /are on different file systems; no upload could be stored/,
  )
  rmSync(paths.uploads)
  const server = await startProcess({ dataDirectory: paths.root })
  t.teardown(() => server.kill9())
  t.equal(isOnOneFileSystem(paths), true)
  const ready = async () => (await fetch(`${server.apiEndpoint}/ready`)).status
  t.equal(await ready(), 200)
  for (const path of [paths.journal, paths.volumes, paths.files, paths.uploads, paths.projections]) {
    renameSync(path, `${path}-away`)
    t.equal(await ready(), 503, path)
    renameSync(`${path}-away`, path)
  }
  t.equal(await ready(), 200)
})

test('a wrong master key is refused with where the right one may be', async (t) => {
  const root = join(t.testdir(), 'data')
  await (await startProcess({ dataDirectory: root })).kill9()
  const environment = { OBJECT_STORE_CREDENTIAL_MASTER_KEY: 'ab'.repeat(32) }
  await t.rejects(startProcess({ dataDirectory: root, environment }), /give the key of the store as OBJ/)
  writeFileSync(`${root}.secrets.env`, '', { mode: 0o600 })
  await t.rejects(
    startProcess({ dataDirectory: root, environment }),
    /data\.secrets\.env holds the secrets of a quick start/,
  )
})
