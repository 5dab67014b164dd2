/** Reads are answered before their records are durable: when the journal fails, the next start writes those records. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { AuditContext } from '../../../engine/events/audit.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { createBucket, write } from '../../support/commands.ts'
import { EndingDisk } from '../../support/disks/ending-disk.ts'
import { FaultDisk, inputOutputError } from '../../support/disks/fault-disk.ts'
import { operationPoints } from '../../support/disks/operation-points.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { openTestStore, OTHER_BOOT_ID } from '../../support/test-store.ts'

const SEGMENT = /\/journal\/\d+\.segment$/
const SETTINGS = { segmentBytes: 64 * 1024 }

function readOf(key: string): AuditContext {
  const { audit } = write('photos', key, Buffer.alloc(0))
  const metadata = ['status', 200]
  return { ...audit, principal: 'service_account:a', requestId: `read-${key}`, operation: 's3:GET', metadata }
}

const KEYS = ['a', 'b', 'c']

/** A store whose journal failed at a batch with the records of reads in it, and that has ended. */
async function failedStore(root: string): Promise<StorePaths> {
  const disk = new FaultDisk()
  const store = await openTestStore(root, SETTINGS, disk)
  await store.client.execute(createBucket('photos'))
  disk.fault = ({ name, path }) =>
    name === 'sync' && SEGMENT.test(path) ? { kind: 'error', error: inputOutputError() } : undefined
  for (const key of KEYS) await store.client.record(readOf(key), 'success')
  await store.client.execute(write('photos', 'x', Buffer.from('x'))).catch(() => undefined)
  disk.fault = () => undefined
  await store.kill()
  return store.paths
}

function readsIn({ root }: StorePaths) {
  return journalEntries(root).filter(({ requestId }) => requestId?.startsWith('read-'))
}

test('the records of answered reads are in the journal after the next start, each once', async (t) => {
  const paths = await failedStore(t.testdir())
  t.ok(existsSync(paths.unrecorded))
  await (await openTestStore(paths.root, SETTINGS)).close(true)
  const reads = readsIn(paths)
  t.same(
    reads.map(({ requestId }) => requestId),
    KEYS.map((key) => `read-${key}`),
  )
  t.match(reads[0], { operation: 's3:GET', result: 'success' })
  t.match(reads[0]?.details.get('answered_before'), /^\d{4}-\d\d-\d\dT/)
  t.notOk(existsSync(paths.unrecorded), 'what was kept is gone')
  t.match(await verifyJournal(paths.journal, { threads: 0 }), { intact: true, problems: [] })
})

test('a crash at any operation of that start writes none of them twice and loses none', async (t) => {
  const base = await failedStore(join(t.testdir(), 'base'))
  const copyOf = (name: string): StorePaths => {
    const copy = new StorePaths(join(t.testdirName, name))
    cpSync(base.root, copy.root, { recursive: true })
    return copy
  }
  const dry = new EndingDisk()
  const whole = await openTestStore(copyOf('dry').root, SETTINGS, dry)
  const { counted } = dry
  await whole.kill()
  t.ok(counted.length > 15)
  for (const left of operationPoints(counted, 3)) {
    const copy = copyOf('copy')
    const store = await openTestStore(copy.root, SETTINGS, new EndingDisk(left)).catch(() => undefined)
    await store?.kill()
    await (await openTestStore(copy.root, { ...SETTINGS, bootId: OTHER_BOOT_ID })).close(true)
    const ids = readsIn(copy).map(({ requestId }) => requestId)
    t.same(
      ids.toSorted(),
      KEYS.map((key) => `read-${key}`),
      `after ${left} operations`,
    )
    t.notOk(existsSync(copy.unrecorded))
    rmSync(copy.root, { recursive: true })
  }
})

test('records that were damaged where they were kept stop the start, which says what they are', async (t) => {
  const paths = await failedStore(t.testdir())
  const bytes = readFileSync(paths.unrecorded)
  bytes[40] = (bytes[40] ?? 0) ^ 1
  writeFileSync(paths.unrecorded, bytes)
  const message = /unrecorded is damaged: it holds records of requests that were answered/
  await t.rejects(openTestStore(paths.root, SETTINGS), { name: 'JournalDamagedError', message })
  rmSync(paths.unrecorded)
  await (await openTestStore(paths.root, SETTINGS)).close(true)
})
