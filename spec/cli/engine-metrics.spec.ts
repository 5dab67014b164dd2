/** What the engine thread publishes of its journal is what lies on the disk. */
import tap, { test } from 'tap'
import { EngineMetrics } from '../../cli/server/metrics/engine-metrics.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { segmentFirsts } from '../../engine/journal/segment.ts'
import { MetricSlots } from '../../planes/metrics/metric-slots.ts'
import { startInThread } from '../support/test-server.ts'

const server = await startInThread({ segmentBytes: 1024 ** 2 })
tap.teardown(() => server.stop())
const { paths, store } = server

test('the length of the journal, its last record and what waits', async (t) => {
  const slots = MetricSlots.create([], 1)
  const metrics = new EngineMetrics(slots.shared, 0, nodeDisk, paths, store)
  const published = () => {
    metrics.publish()
    return new Map(slots.read().map(({ row, value }) => [row.name, value]))
  }
  await server.raw('PUT', '/long')
  for (let written = 0; written < 24 || segmentFirsts(nodeDisk, paths).length < 3; written += 1) {
    await server.raw('PUT', `/long/${'k'.repeat(900)}${written}`, { body: 'x' })
    published()
  }
  await store.loop.drained()
  const now = published()
  const [last] = segmentFirsts(nodeDisk, paths).slice(-1)
  const sealed = segmentFirsts(nodeDisk, paths).slice(0, -1)
  const sealedBytes = sealed.reduce((sum, first) => sum + nodeDisk.sizeOf(paths.segment(first)), 0)
  t.equal(store.journal.place.segmentFirstSequence, last)
  t.equal(now.get('object_store_journal_bytes'), sealedBytes + store.journal.place.offset)
  const written = now.get('object_store_journal_written_bytes_total') ?? 0
  t.equal(written, store.journal.statistics.bytes)
  t.ok(written > 24 * 900 && written <= sealedBytes + store.journal.place.offset, 'what this process wrote')
  t.equal(now.get('object_store_journal_head_sequence'), store.journal.position.sequence)
  t.equal(now.get('object_store_journal_waiting_requests'), 0)
  t.equal(now.get('object_store_journal_refused_changes_total'), 0)
  const again = new EngineMetrics(slots.shared, 0, nodeDisk, paths, store)
  again.publish()
  t.same(published(), now, 'the next start counts the same')
})
