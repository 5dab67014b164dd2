/** Limits that an operator or a service manager sets on the process: the length of files, and open descriptors. */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { StorePaths, volumeNumber } from '../../engine/disk/store-paths.ts'
import { segmentNames } from '../support/journal-files.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import type { WireAnswer, WireClient } from '../support/wire-client.ts'

const SETTINGS = { OBJECT_STORE_STORAGE_SEGMENT_MIB: '1', OBJECT_STORE_STORAGE_VOLUME_MIB: '1' }
/** Less than a segment and a volume are written ahead to, and more than the projections take. */
const FILE_BYTES_MAXIMUM = 600_001
const LONG_METADATA = [['x-amz-meta-long', 'm'.repeat(1900)]] as const

/** Sets a limit of a running process, as `prlimit` names it. */
function setLimit(pid: number | undefined, resource: string, value: number): void {
  const words = ['--pid', String(pid), `--${resource}=${value}:${value}`]
  const { status, stderr } = spawnSync('prlimit', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the limit cannot be set: ${stderr}`)
}

function isRunning({ process }: ProcessServer): boolean {
  return process.exitCode === null && process.signalCode === null
}

/** Sends a request that must be answered. @throws Error that tells what became of the server */
async function send(server: ProcessServer, ...request: Parameters<WireClient['send']>): Promise<WireAnswer> {
  try {
    return await server.wire.send(...request)
  } catch (error) {
    // What ends a server ends its connections first.
    await pause(1000)
    const { exitCode, signalCode } = server.process
    const end = isRunning(server) ? 'the server goes on' : `the server ended with ${exitCode ?? signalCode}`
    throw new Error([`${request[0]} ${request[1]}: ${error}, ${end}`, ...server.log].join('\n'), { cause: error })
  }
}

async function startWithBucket(dataDirectory: string): Promise<ProcessServer> {
  const server = await startProcess({ dataDirectory, environment: SETTINGS })
  const { status } = await send(server, 'PUT', '/limits')
  if (status !== 200) throw new Error(`the bucket cannot be made: ${status}`)
  return server
}

/** Puts until something else than 200 comes, a limit on the way; gives that answer and the last body that was stored. */
async function putUntilRefused(
  server: ProcessServer,
  key: string,
  bytes: number,
): Promise<{ readonly refusal: WireAnswer | undefined; readonly stored: number }> {
  for (let seed = 1; seed < 2000; seed += 1) {
    const body = sampleBytes(bytes, seed)
    const sending = server.wire.send('PUT', `/limits/${key}`, { body, headers: LONG_METADATA })
    const answer = await sending.catch(() => undefined)
    if (answer?.status !== 200) return { refusal: answer, stored: seed - 1 }
  }
  throw new Error('nothing was ever refused')
}

async function assertObject(t: Test, server: ProcessServer, key: string, bytes: number, seeds: number[]) {
  const { status, body } = await send(server, 'GET', `/limits/${key}`)
  t.ok(status === 200 && seeds.some((seed) => body.equals(sampleBytes(bytes, seed))), `${key} is what was stored`)
}

test('J7 J10 J12 writes cut short by a limit on files refuse objects, and end the server when they reach the journal', async (t) => {
  t.setTimeout(120_000)
  const dataDirectory = t.testdir()
  const paths = new StorePaths(dataDirectory)
  const server = await startWithBucket(dataDirectory)
  t.teardown(() => server.process.kill('SIGKILL'))
  setLimit(server.process.pid, 'fsize', FILE_BYTES_MAXIMUM)

  const large = await send(server, 'PUT', '/limits/large', { body: sampleBytes(1_000_000) })
  t.match(large, { status: 507, code: 'InsufficientStorage' }, 'the file of an object is cut short')
  t.equal((await send(server, 'GET', '/limits/large')).status, 404)
  t.same(readdirSync(paths.uploads), [], 'nothing is left of it')
  t.equal((await send(server, 'PUT', '/limits/fits', { body: sampleBytes(500_000) })).status, 200)

  const inVolume = await putUntilRefused(server, 'small', 20_000)
  t.match(inVolume.refusal, { status: 507, code: 'InsufficientStorage' }, 'the volume is cut short')
  t.ok(inVolume.stored > 20, `${inVolume.stored} small objects were stored before`)
  t.equal((await send(server, 'DELETE', '/limits/fits')).status, 204, 'deletes go on')
  await assertObject(t, server, 'small', 20_000, [inVolume.stored])

  const exited = once(server.process, 'exit')
  const inJournal = await putUntilRefused(server, 'empty', 0)
  if (inJournal.refusal !== undefined) t.match(inJournal.refusal, { status: 503, code: 'ServiceUnavailable' })
  t.same(await exited, [exitTable.journalFailed.code, null], 'the journal is cut short')
  await server.stop()
  const { intact, problems, openSegmentTornTail } = await verifyJournal(paths.journal, { threads: 0 })
  t.same([intact, problems], [true, []])
  t.ok(openSegmentTornTail, 'the last batch is not whole')

  const again = await startProcess({ dataDirectory, environment: SETTINGS })
  await assertObject(t, again, 'small', 20_000, [inVolume.stored])
  await assertObject(t, again, 'empty', 0, [0])
  t.equal((await send(again, 'GET', '/limits/fits')).status, 404)
  t.equal((await send(again, 'PUT', '/limits/large', { body: sampleBytes(1_000_000) })).status, 200)
  t.equal(await again.terminate(), 0)
  await again.stop()
})

/** Connections that say nothing. Not all of them are accepted. */
async function idleConnections(t: Test, server: ProcessServer, count: number): Promise<Socket[]> {
  const { port } = new URL(server.endpoint)
  const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined))
  for (const socket of sockets) socket.resume()
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.race([Promise.all(sockets.map((socket) => once(socket, 'connect'))), pause(500)])
  return sockets
}

test('S25 a server that can open no more files says SlowDown, and goes on when it can', async (t) => {
  t.setTimeout(120_000)
  const server = await startWithBucket(t.testdir())
  t.teardown(() => server.process.kill('SIGKILL'))
  const { wire } = server
  const large = sampleBytes(100_000)
  t.equal((await wire.send('PUT', '/limits/large', { body: large })).status, 200)
  t.equal((await wire.send('PUT', '/limits/small', { body: 'small' })).status, 200)
  setLimit(server.process.pid, 'nofile', readdirSync(`/proc/${server.process.pid}/fd`).length + 3)
  const idle = await idleConnections(t, server, 12)
  const slow = { status: 503, code: 'SlowDown' }
  for (let round = 0; round < 3; round += 1) {
    t.match(await wire.send('PUT', '/limits/large', { body: large }), slow, 'an object needs a file')
    t.match(await wire.send('GET', '/limits/large'), slow, 'a read does, and what it reads is not called damaged')
    t.match(await wire.send('GET', '/limits/small'), slow, 'a volume was not open yet')
    t.equal((await wire.send('PUT', '/limits/small', { body: 'small' })).status, 200, 'a small object needs none')
    t.equal((await wire.send('GET', '/limits?list-type=2')).status, 200)
  }
  t.same(
    server.log.filter((line) => line.includes('PayloadDamagedError')),
    [],
  )

  for (const socket of idle) socket.destroy()
  await pause(500)
  t.equal((await wire.send('PUT', '/limits/other', { body: large })).status, 200)
  t.ok((await wire.send('GET', '/limits/large')).body.equals(large))
  t.equal((await wire.send('GET', '/limits/small')).text, 'small')
  t.equal(await server.terminate(), 0)
  await server.stop()
})

function withFewDescriptors({ pid }: ChildProcess): void {
  setLimit(pid, 'nofile', 500)
}

const TRIES_MAXIMUM = 60

/**
 * Sends until there is an answer: a client that was held up has let go of its connection, and a new one finds no place
 * before the server has closed a silent one, after some 12 s.
 */
async function sendAgain(server: ProcessServer, ...request: Parameters<WireClient['send']>): Promise<WireAnswer> {
  for (let tries = 1; tries < TRIES_MAXIMUM && isRunning(server); tries += 1) {
    const answer = await server.wire.send(...request).catch(() => undefined)
    if (answer !== undefined) return answer
    await pause(500)
  }
  return send(server, ...request)
}

test('S25 silent connections do not take the descriptors that segments and volumes need', async (t) => {
  t.setTimeout(120_000)
  const dataDirectory = t.testdir()
  const server = await startProcess({ dataDirectory, environment: SETTINGS, spawned: withFewDescriptors })
  t.teardown(() => server.process.kill('SIGKILL'))
  t.equal((await sendAgain(server, 'PUT', '/limits')).status, 200)
  const idle = await idleConnections(t, server, 700)
  const body = sampleBytes(60_000)
  const large = sampleBytes(100_000)
  const long = 'k'.repeat(700)
  for (let number = 0; number < 90; number += 1) {
    const answers = [
      await sendAgain(server, 'PUT', `/limits/small-${long}`, { body, headers: LONG_METADATA }),
      await sendAgain(server, 'PUT', `/limits/large-${long}`, { body: large, headers: LONG_METADATA }),
      await sendAgain(server, 'GET', `/limits/large-${long}`),
    ]
    const statuses = answers.map(({ status }) => status).join()
    if (statuses !== '200,200,200') t.fail(`round ${number}: ${statuses}`)
  }
  const paths = new StorePaths(dataDirectory)
  const segments = segmentNames(paths).length
  const lastVolume = Math.max(...readdirSync(paths.volumes).map((name) => volumeNumber(name) ?? 0))
  t.ok(segments > 1 && lastVolume > 1, `${segments} segments, and volumes up to ${lastVolume}`)
  const closed = idle.filter((socket) => socket.destroyed).length
  t.ok(closed > 500, `${closed} connections were closed`)
  t.equal(await server.terminate(), 0)
  await server.stop()
})
