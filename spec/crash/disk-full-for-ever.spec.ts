/**
 * A disk that something else has filled and goes on filling: reads go on and are counted, changes end, and the store starts.
 * Proves: DO-ACC-04.
 */
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { journalEntries } from '../support/journal-entries.ts'
import { fill, smallDisk } from '../support/disks/small-disk.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import type { WireAnswer } from '../support/wire-client.ts'

const SETTINGS = { OBJECT_STORE_STORAGE_SEGMENT_MIB: '1', OBJECT_STORE_STORAGE_VOLUME_MIB: '1' }
/** Enough for the projections to grow, too little for another segment beside them. */
const LEFT_BYTES = 6 * 1024 ** 2
const REQUESTS_MAXIMUM = 20_000
const FULL = { status: 503, code: 'ServiceUnavailable' }

/** Sends the same request until it is refused; gives how often it was answered, their ids, and the refusal. */
async function untilRefused(server: ProcessServer, method: string, path: string) {
  const ids: string[] = []
  for (let sent = 0; sent < REQUESTS_MAXIMUM; sent += 1) {
    const answer: WireAnswer = await server.wire.send(method, path)
    if (answer.status >= 500) return { ids, refusal: answer }
    ids.push(String(answer.headers['x-amz-request-id']))
  }
  throw new Error(`${method} ${path} was never refused`)
}

/** Reads until the server is degraded for a reason, and ten times more; gives the ids of those before. */
async function readUntil(server: ProcessServer, reason: string): Promise<string[]> {
  const ids: string[] = []
  const isDegraded = async () =>
    JSON.stringify(await (await fetch(`${server.apiEndpoint}/ready`)).json()).includes(`"${reason}"`)
  const read = async () => {
    const { status, headers } = await server.wire.send('GET', '/disk/key')
    if (status !== 200) throw new Error(`a read was answered ${status}`)
    return String(headers['x-amz-request-id'])
  }
  while (ids.length < REQUESTS_MAXIMUM) {
    const batch: string[] = []
    for (let sent = 0; sent < 20; sent += 1) batch.push(await read())
    if (await isDegraded()) {
      for (let sent = 0; sent < 10; sent += 1) await read()
      return ids
    }
    ids.push(...batch)
  }
  throw new Error(`the server was never degraded by ${reason}`)
}

/** Every byte of the disk, also those that the store gives back. */
async function fillWholly(disk: string): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    fill(join(disk, `filler-${round}`))
    await pause(1200)
  }
  fill(join(disk, 'filler-last'))
}

test('J12 J20 on a disk without a free byte reads go on, changes end in 503 before the journal does, and the store starts again', async (t) => {
  t.setTimeout(300_000)
  const disk = smallDisk(t)
  const dataDirectory = join(disk, 'data')
  const environment = { ...SETTINGS, OBJECT_STORE_STORAGE_RESERVED_MIB: '64' }
  const server = await startProcess({ dataDirectory, environment })
  t.teardown(() => server.process.kill('SIGKILL'))
  t.equal((await server.wire.send('PUT', '/disk')).status, 200)
  t.equal((await server.wire.send('PUT', '/disk/key', { body: 'bytes' })).status, 200)
  // What the store gives back for its projections is taken as well, but for a little.
  fill(join(disk, 'filler'))
  await pause(2500)
  writeFileSync(join(disk, 'pad'), Buffer.alloc(LEFT_BYTES, 1))
  fill(join(disk, 'filler-more'))
  rmSync(join(disk, 'pad'))
  await pause(1500)

  const readIds = await readUntil(server, 'records')
  t.ok(readIds.length > 100)
  const changes = await untilRefused(server, 'DELETE', '/disk/none')
  t.match(changes.refusal, FULL, `after ${changes.ids.length} changes`)
  t.match(changes.refusal.text, /the journal has no room/)
  t.ok(changes.ids.length > 10)
  t.match(server.log.join('\n'), /the disk is full/)

  await fillWholly(disk)
  t.equal(statfsSync(disk).bavail, 0)
  server.process.kill('SIGKILL')
  await server.stop()
  const recorded = new Set(journalEntries(dataDirectory).map(({ requestId }) => requestId))
  const lost = [...readIds, ...changes.ids].filter((id) => !recorded.has(id))
  t.same(lost, [], 'what was answered is in the journal')

  const again = await startProcess({ dataDirectory, environment })
  t.teardown(() => again.process.kill('SIGKILL'))
  t.equal((await again.wire.send('GET', '/disk/key')).text, 'bytes', 'it starts without a free byte, and reads go on')
  t.match(await again.wire.send('DELETE', '/disk/none'), FULL)
  for (const name of readdirSync(disk)) if (name.startsWith('filler')) rmSync(join(disk, name))
  await pause(2500)
  t.equal((await again.wire.send('GET', '/disk/key')).text, 'bytes')
  t.same(await (await fetch(`${again.apiEndpoint}/ready`)).json(), { status: 'ready' })
  t.equal((await again.wire.send('PUT', '/disk/more', { body: 'more' })).status, 200)
  t.equal(await again.terminate(), 0)
  await again.stop()
  const counted = journalEntries(dataDirectory).filter(({ operation }) => operation === 'requests.unrecorded')
  t.ok(counted.length > 0, 'what was only counted is in the journal when there is room again')
  t.ok(counted.every(({ details, principal }) => Number(details.get('count')) > 0 && principal === 'system:root'))
  t.match(await verifyJournal(new StorePaths(dataDirectory).journal, { threads: 0 }), { intact: true, problems: [] })
})
