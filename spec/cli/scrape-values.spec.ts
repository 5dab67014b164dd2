/** The metrics that are measured at the time of a scrape are what the store and the system say. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import tap, { test } from 'tap'
import { scrapeValues } from '../../cli/server/metrics/scrape-values.ts'
import { millisecondsOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { ChainVerdict } from '../../engine/journal/chain-verdicts.ts'
import type { SnapshotFacts } from '../../projections/snapshots/snapshot-facts.ts'
import { abort, complete, createUpload, sendPart } from '../support/multipart.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { startInThread } from '../support/test-server.ts'

const DELIVERIES = { pending: 3, succeeded: 5, failed: 1, failedAttempts: 8 }
const SNAPSHOTS: SnapshotFacts = {
  state: 'waiting',
  newest: { sequence: 99, bytes: 8192, createdMilliseconds: 1_000_000_000 },
  count: 2,
  changes: 3,
  bytes: 20_000,
  made: 4,
  writtenBytes: 12_345,
  failures: 1,
}
const server = await startInThread()
tap.teardown(() => server.stop())
const sources = {
  disk: nodeDisk,
  paths: server.paths,
  catalog: server.store.catalog,
  concurrencyLimit: 7,
  eventStreams: { open: 3 },
  version: '1.2.3',
  commit: undefined,
  chain: () => ({ whole: undefined, part: undefined, ignored: undefined }),
  degradations: () => [],
  clockBehind: () => ({ milliseconds: 2500, untilMilliseconds: 0 }),
  certificates: () => new Map(),
  threads: () => [{ name: 'engine', activeMilliseconds: () => 1500 }],
  workers: () => ({ deliveries: DELIVERIES, workers: undefined }),
  snapshots: () => SNAPSHOTS,
  checkpoints: {
    facts: () => ({ isOn: true, treeSize: 7, signed: 1, mendedHashes: 3, refusal: undefined, refusalCode: undefined }),
    last: () => undefined,
    lateSeconds: () => 12.5,
  },
  backup: () => undefined,
  reservedBytes: 4096,
  clock: () => millisecondsOf(1_000_060_000),
}

function held(): readonly (number | undefined)[] {
  const values = scrapeValues(sources)
  return [values.object_store_multipart_uploads, values.object_store_multipart_bytes]
}

test('multipart uploads are counted with their parts until they are completed or aborted', async (t) => {
  await server.raw('PUT', '/parts')
  t.same(held(), [0, 0])
  const [first, second] = [await createUpload(server, '/parts/first'), await createUpload(server, '/parts/second')]
  t.same(held(), [2, 0])
  const part = await sendPart(server, '/parts/first', first, 1, 'x'.repeat(300))
  await sendPart(server, '/parts/second', second, 1, 'y'.repeat(50))
  t.same(held(), [2, 350])
  await sendPart(server, '/parts/second', second, 1, 'y'.repeat(70))
  t.same(held(), [2, 370], 'a part that is sent again takes the place of the one before')
  await complete(server, '/parts/first', first, [part])
  t.same(held(), [1, 70])
  await abort(server, '/parts/second', second)
  t.same(held(), [0, 0])
})

test('a certificate has its last second', async (t) => {
  const certificate = new X509Certificate(selfSignedCertificate({ until: '20300102030405' }).certificate)
  const values = scrapeValues({ ...sources, certificates: () => new Map([['api', certificate]]) })
  t.same(values.object_store_tls_certificate_not_after_seconds, [
    { labels: { listener: 'api' }, value: Date.UTC(2030, 0, 2, 3, 4, 5) / 1000 },
  ])
})

test('the process is as the system has it', async (t) => {
  const before = scrapeValues(sources)
  const files = [openSync('/dev/null', 'r'), openSync('/dev/null', 'r')]
  t.equal(scrapeValues(sources).process_open_fds, (before.process_open_fds ?? 0) + 2)
  for (const file of files) closeSync(file)
  const status = readFileSync('/proc/self/status', 'utf8')
  const peakBytes = 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1])
  const resident = before.process_resident_memory_bytes ?? 0
  t.ok(resident > 10_000_000 && resident <= peakBytes)
  t.ok((before.process_cpu_seconds_total ?? 0) > 0)
  t.ok((before.process_max_fds ?? 0) >= (before.process_open_fds ?? 0))
  const startedSeconds = before.process_start_time_seconds ?? 0
  t.equal(scrapeValues(sources).process_start_time_seconds, startedSeconds, 'the start does not move')
  t.ok(startedSeconds < Date.now() / 1000)
  const labels = { version: '1.2.3', commit: 'unknown', node: process.version }
  t.same(before.object_store_build_info, [{ labels, value: 1 }])
  const named = scrapeValues({ ...sources, commit: '0123456789a+' })
  t.same(named.object_store_build_info, [{ labels: { ...labels, commit: '0123456789a+' }, value: 1 }])
  t.same(before.nodejs_eventloop_active_seconds_total, [{ labels: { thread: 'engine' }, value: 1.5 }])
})

test('deliveries to webhooks are what their worker counted', async (t) => {
  t.match(scrapeValues(sources), {
    object_store_webhook_deliveries_pending: 3,
    object_store_webhook_deliveries_succeeded_total: 5,
    object_store_webhook_deliveries_failed_total: 1,
    object_store_webhook_attempts_failed_total: 8,
  })
})

test('workers that are not started yet have no values, and then those that they counted', async (t) => {
  const before = scrapeValues(sources)
  t.equal(before.object_store_lifecycle_removed_total, undefined)
  t.equal(before.object_store_compaction_volumes_removed_total, undefined)
  const totals = { scanned: 9, expired: 6, held: 2, failed: 1 }
  const lastPass = { endedMilliseconds: millisecondsOf(1_780_000_000_500), lagSeconds: 60 }
  const workers = (last: typeof lastPass | undefined) => () => ({
    deliveries: DELIVERIES,
    workers: {
      lifecycle: { totals, lastPass: last },
      compaction: { removed: 2, movedBytes: 700 },
      scrub: { dueSeconds: 1_790_000_000 },
      timeStamps: { facts: { failures: 2, unanchoredSeconds: 60 } },
      witnesses: { facts: { failures: 4 } },
      compression: { totals: { segments: 3, plainBytes: 5000, storedBytes: 1000, kept: 1 } },
    },
  })
  t.match(scrapeValues({ ...sources, workers: workers(lastPass) }), {
    object_store_lifecycle_scanned_total: 9,
    object_store_lifecycle_removed_total: 6,
    object_store_lifecycle_skipped_total: 2,
    object_store_lifecycle_failed_total: 1,
    object_store_lifecycle_last_pass_timestamp_seconds: 1_780_000_000.5,
    object_store_lifecycle_lag_seconds: 60,
    object_store_compaction_volumes_removed_total: 2,
    object_store_compaction_moved_bytes_total: 700,
    object_store_journal_compressed_segments: 3,
    object_store_journal_compressed_bytes: 5000,
    object_store_journal_compressed_disk_bytes: 1000,
    object_store_journal_damaged_segments: 1,
    object_store_scrub_due_seconds: 1_790_000_000,
  })
  const unpassed = scrapeValues({ ...sources, workers: workers(undefined) })
  t.equal(unpassed.object_store_lifecycle_lag_seconds, undefined, 'no lag before a pass')
  t.equal(unpassed.object_store_lifecycle_removed_total, 6)
})

/** Values of the metrics of the chain. */
function chainValues(whole: ChainVerdict | undefined): unknown[] {
  const values = scrapeValues({ ...sources, chain: () => ({ whole, part: undefined, ignored: undefined }) })
  return Object.entries(values).flatMap(([name, value]) => (name.includes('_chain_') ? [value as unknown] : []))
}

test('the last verdict on the whole chain is measured, and nothing before the first one', (t) => {
  t.same(chainValues(undefined), [undefined, undefined, undefined])
  const intact: ChainVerdict = {
    from: 0,
    through: 7,
    headHash: undefined,
    atMilliseconds: millisecondsOf(1_780_000_000_500),
    by: 'root',
    program: 'audit chain',
    problem: undefined,
  }
  t.same(chainValues(intact), [1, 1_780_000_000.5, 7])
  const problem = { sequence: 3, segment: undefined, offset: undefined, verdict: 'record-hash', detail: 'd' }
  t.same(chainValues({ ...intact, problem, atMilliseconds: millisecondsOf(1000), through: undefined }), [
    0,
    1,
    undefined,
  ])
  t.end()
})

test('of snapshots the newest is measured, and nothing is made up where there is none', (t) => {
  t.match(scrapeValues(sources), {
    object_store_snapshot_age_seconds: 60,
    object_store_snapshot_bytes: 8192,
    object_store_snapshot_sequence: 99,
    object_store_snapshots_made_total: 4,
    object_store_snapshot_written_bytes_total: 12_345,
    object_store_snapshot_failures_total: 1,
  })
  const none = scrapeValues({ ...sources, snapshots: () => ({ ...SNAPSHOTS, newest: undefined }) })
  t.equal(none.object_store_snapshot_age_seconds, undefined)
  t.equal(none.object_store_snapshot_bytes, undefined)
  t.end()
})

test('what a backup, the next checkpoint and the reserve of the disk have to say', async (t) => {
  const none = scrapeValues(sources)
  t.match(none, { object_store_checkpoint_late_seconds: 12.5, object_store_filesystem_reserved_bytes: 4096 })
  t.equal(none.object_store_backup_completed_seconds, undefined, 'absent before the first one')
  let asked = -1
  const backup = (head: number) => {
    asked = head
    return { atMilliseconds: millisecondsOf(1_780_000_000_500), sequence: 41, directory: '/backup', missing: 0 }
  }
  t.match(scrapeValues({ ...sources, backup }), {
    object_store_backup_completed_seconds: 1_780_000_000.5,
    object_store_backup_sequence: 41,
  })
  t.equal(asked, server.store.catalog.snapshot().journalSequence())
})
