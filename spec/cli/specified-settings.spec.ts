/**
 * Defaults and bounds of settings that the customer's specification names.
 * Proves: DO-LIS-06, DO-CAP-15, LIM-VAL-02, LIM-VAL-03, LIM-VAL-10, LIM-VAL-11, LIM-VAL-12, LIM-VAL-13, LIM-VAL-14,
 * LIM-VAL-15, LIM-VAL-16.
 */
import { test } from 'tap'
import type { ConfigRow } from '../../cli/config/config-row.ts'
import { configTable } from '../../cli/config/config-table.ts'
import { read } from './config-inputs.ts'

const rows: readonly ConfigRow[] = configTable

test('defaults and bounds that the specification names', async (t) => {
  const named: readonly [name: string, value: unknown, bounds?: readonly [number, number]][] = [
    ['storage.encryption_enabled', false],
    ['storage.metadata_cache_mib', 128],
    ['lifecycle.interval_seconds', 3600, [1, 86_400]],
    ['lifecycle.batch_size', 100, [1, 1000]],
    ['webhooks.allow_http', false],
    ['webhooks.allow_private_networks', false],
    ['webhooks.request_timeout_seconds', 10],
    ['webhooks.maximum_attempts', 6],
    ['webhooks.poll_interval_seconds', 2],
    ['server.shutdown_grace_period_seconds', 30, [1, 300]],
    ['object_lock.clock_watermark_interval_seconds', 60],
    ['object_lock.clock_backwards_tolerance_seconds', 5],
  ]
  const defaults = read({}).config as Readonly<Record<string, unknown>>
  for (const [name, value, bounds] of named) {
    t.equal(defaults[name], value, name)
    const [minimum, maximum] = bounds ?? []
    if (bounds !== undefined) t.same(rows.find((row) => row.name === name)?.bounds, { minimum, maximum }, name)
  }
  const listeners = rows.filter(({ kind }) => kind === 'address').map(({ name }) => name)
  t.same(listeners, ['s3.bind', 'api.bind', 'console.bind'], 'nothing listens on port 7603')
  const cache = rows.find(({ name }) => name === 'storage.metadata_cache_mib')
  t.match(cache?.sentence, 'It has no effect now')
})
