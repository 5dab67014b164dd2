/** `server doctor` on stores that something is wrong with: what it found, and what to do next. */
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { crc32 } from 'node:zlib'
import { openFiles } from '../../cli/commands/server/doctor/settings-checks.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { CONFIGURED, early, report, root } from '../support/doctor-report.ts'
import { ApiClient, basic } from '../support/api-client.ts'
import { segmentNames } from '../support/journal-files.ts'
import { startProcess } from '../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { sleep } from '../support/waiting.ts'

test('a data directory that takes no writes, whatever its attributes say', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  writeFileSync(join(copy, 'probe-1'), 'of a doctor that was killed')
  t.equal((await report({ OBJECT_STORE_DATA_DIR: copy })).exitCode, 0)
  t.notOk(existsSync(join(copy, 'probe-1')))
  const { create } = nodeDisk
  t.teardown(() => Object.assign(nodeDisk, { create }))
  const refuses = (code: string) => {
    const refuse = () => {
      throw Object.assign(new Error(`${code}: write`), { code })
    }
    const refusing = (path: string) => {
      const file = create(path)
      return new Proxy(file, {
        get: (of, name) =>
          name === 'sync' ? refuse : (Reflect.get(of, name, of).bind?.(of) ?? Reflect.get(of, name, of)),
      })
    }
    Object.assign(nodeDisk, { create: refusing })
  }
  for (const [code, next] of [
    ['EROFS', /dmesg.*mount it for writing/],
    ['EIO', /the disk fails/],
    ['EACCES', /account of the server/],
  ] as const) {
    refuses(code)
    const { exitCode, checks } = await report({ OBJECT_STORE_DATA_DIR: copy })
    t.equal(exitCode, 7)
    t.match(
      checks.find(({ status }) => status === 'failed'),
      { check: 'data directory', detail: `${code}: write`, next },
    )
  }
  Object.assign(nodeDisk, { create })
  t.same(
    readdirSync(copy).filter((name) => name.startsWith('probe')),
    [],
  )
})

test('a row that was met damaged', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  const row = `0000000000000003${Buffer.from('2026/cat.jpg').toString('hex')}`
  writeFileSync(new StorePaths(copy).projectionsDamaged, `table objects, key ${row}`)
  const { of, checks } = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.match(
    of('projections'),
    /^warning: a row is damaged \(table objects, key 0{15}3[0-9a-f]+, of 2026\/cat\.jpg in bucket 3\)/,
  )
  t.match(checks.find(({ check }) => check === 'projections')?.next, /start it again/)
  rmSync(new StorePaths(copy).projections, { recursive: true })
  t.match(
    (await report({ OBJECT_STORE_DATA_DIR: copy })).of('projections'),
    /^skipped: .*derives them from the journal/,
  )
})

test('open files bound the connections', async (t) => {
  const { config } = readConfig({ environment: CONFIGURED, workingDirectory: '/data' })
  t.match(await openFiles(config, 1_048_576), /each front end takes \d{4,} connections/)
  t.match(await openFiles(config, 256), { status: 'warning', detail: /takes 8 connections.*more are closed/ })
  t.equal(await openFiles(config, Number.POSITIVE_INFINITY), 'there is no limit')
})

test('a journal that ends before its high-water mark', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  const old = new StorePaths(copy)
  for (const name of segmentNames(old)) rmSync(join(old.journal, name), { force: true })
  for (const name of readdirSync(early).filter((one) => one.endsWith('.segment'))) {
    writeFileSync(join(old.journal, name), readFileSync(join(early, name)))
  }
  const restored = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.match(restored, { exitCode: 7, failed: ['restore state'] })
  t.match(restored.of('restore state'), /the journal ends at \d+, but \d+ was acknowledged/)
  t.match(restored.checks.find(({ check }) => check === 'restore state')?.next, /restore the newest backup/)
  writeFileSync(old.head, Buffer.alloc(readFileSync(old.head).length))
  const unmarked = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.equal(unmarked.exitCode, 0)
  t.match(unmarked.of('restore state'), /^warning: the high-water mark cannot be read/)
})

test('a journal that is damaged before what was acknowledged is not one that was lost', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  const damaged = new StorePaths(copy)
  const path = join(damaged.journal, segmentNames(damaged).at(-1) ?? '')
  const bytes = readFileSync(path)
  const at = bytes.indexOf('bucket')
  t.ok(at > 0)
  bytes[at] = 0
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
  const { exitCode, of, checks } = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.equal(exitCode, 7)
  t.match(
    of('restore state'),
    /^failed: the journal is damaged at record \d+ \(.*segment, offset \d+: .*was acknowledged$/,
  )
  t.match(
    checks.find(({ check }) => check === 'restore state')?.next,
    /journal verify; object-store storage heal --from/,
  )
})

test('a journal that cannot be read', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  const damaged = new StorePaths(copy)
  for (const name of segmentNames(damaged)) {
    rmSync(join(damaged.journal, name), { force: true })
    writeFileSync(join(damaged.journal, name), 'no segment')
  }
  const { exitCode, failed } = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.equal(exitCode, 7)
  t.same(failed, ['storage format', 'restore state'])
})

test('a journal whose last entry is another one than the one that was marked', async (t) => {
  const copy = t.testdir()
  cpSync(root, copy, { recursive: true })
  const { head } = new StorePaths(copy)
  const slots = readFileSync(head)
  for (const slot of [slots.subarray(0, 4096), slots.subarray(4096)]) {
    slot.fill(1, 32, 64)
    slot.writeUInt32BE(crc32(slot.subarray(0, 128)), 128)
  }
  writeFileSync(head, slots)
  const replaced = await report({ OBJECT_STORE_DATA_DIR: copy })
  t.match(replaced, { exitCode: 7, failed: ['restore state'] })
  t.match(replaced.of('restore state'), /entry \d+ is not the one that was acknowledged/)
})

test('damage that a scrub of the running server has found is named by its objects', async (t) => {
  const server = await startProcess({ dataDirectory: t.testdir() })
  t.teardown(() => server.kill9())
  t.equal((await server.wire.send('PUT', '/photos')).status, 200)
  t.equal((await server.wire.send('PUT', '/photos/2026/cat.jpg', { body: Buffer.alloc(300_000, 7) })).status, 200)
  const environment = {
    OBJECT_STORE_DATA_DIR: server.dataDirectory,
    OBJECT_STORE_API_BIND: server.apiEndpoint.slice('http://'.length),
  }
  t.equal((await report(environment)).of('found damage'), 'ok: scrubs have found none')
  const { files } = new StorePaths(server.dataDirectory)
  const [name = ''] = readdirSync(files, { recursive: true, encoding: 'utf8' }).filter((one) => one.includes('/'))
  const path = join(files, name)
  const bytes = readFileSync(path)
  bytes[1000] = 8
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  await api.get('POST', '/storage/scrub')
  while ((await api.get<Status>('GET', '/storage/status')).scrub.damage.length === 0) await sleep(50)
  const { of, checks, exitCode } = await report(environment)
  t.equal(exitCode, 0, 'the server serves everything else')
  t.match(of('found damage'), /^warning: a scrub found damage: photos\/2026\/cat\.jpg \(payload \d+: /)
  t.match(checks.find(({ check }) => check === 'found damage')?.next, /storage heal --from BACKUP/)
  t.match(of('running server'), /degraded: scrub: .*object-store storage status names the objects/)
  const other = await report({ ...environment, OBJECT_STORE_ROOT_SECRET_KEY: 'another-secret-of-root' })
  t.match(other.of('found damage'), /^skipped: the server did not say \(HTTP 401\)/)
})

interface Status {
  readonly scrub: { readonly damage: readonly unknown[] }
}
