/** The metrics that are measured at the time of a scrape are what the store and the system say. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import tap, { test } from 'tap'
import { scrapeValues } from '../../cli/server/metrics/scrape-values.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { abort, complete, createUpload, sendPart } from '../support/multipart.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { startInThread } from '../support/test-server.ts'

const DELIVERIES = { pending: 3, succeeded: 5, failed: 1, failedAttempts: 8 }
const server = await startInThread()
tap.teardown(() => server.stop())
const sources = {
  disk: nodeDisk,
  paths: server.paths,
  catalog: server.store.catalog,
  concurrencyLimit: 7,
  eventStreams: { open: 3 },
  version: '1.2.3',
  certificates: () => new Map(),
  threads: () => [{ name: 'engine', activeMilliseconds: () => 1500 }],
  deliveries: () => DELIVERIES,
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
  t.same(before.object_store_build_info, [{ labels: { version: '1.2.3', node: process.version }, value: 1 }])
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
