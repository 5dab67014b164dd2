import { shareNames } from '../../../engine/shares/share-table.ts'
import { type Shares, sharesOfThread } from '../../../engine/shares/shares.ts'
import type { ConcurrencyGate } from '../../../planes/http/limits/concurrency-gate.ts'
import { SHARED_METRICS } from '../../../planes/metrics/metric-table.ts'
import { MetricSlots, type SharedMetrics } from '../../../planes/metrics/metric-slots.ts'

/** Interval of publishing values that a thread does not count one by one. */
export const PUBLISH_MILLISECONDS = 250

/**
 * Publishes a thread's values of the gate and of all other shared resources, for scrapes; `thread` is its region of the
 * metrics.
 */
export function publishGate(gate: ConcurrencyGate, metrics: SharedMetrics, thread: number): void {
  const slots = new MetricSlots(metrics)
  const region = slots.region(thread)
  const active = slots.slot('object_store_operations_active')
  const queued = slots.slot('object_store_operations_queued')
  const rejected = slots.slot('object_store_operations_rejected_total')
  const publish = publishShares(slots, thread)
  setInterval(() => {
    region[active] = gate.active
    region[queued] = gate.queued
    region[rejected] = gate.rejected
    publish()
  }, PUBLISH_MILLISECONDS).unref()
}

/** Publishes how many requests of a thread have no record; `thread` is its region of the metrics. */
export function publishMissed(client: { readonly missedTotal: number }, metrics: SharedMetrics, thread: number): void {
  const slots = new MetricSlots(metrics)
  const region = slots.region(thread)
  const slot = slots.slot('object_store_audit_missed_requests_total')
  setInterval(() => {
    region[slot] = client.missedTotal
  }, PUBLISH_MILLISECONDS).unref()
}

const SHARED_VALUES = {
  object_store_shared_used: (shares: Shares) => shares.used,
  object_store_shared_capacity: (shares: Shares) => shares.capacity,
  object_store_shared_waiting: (shares: Shares) => shares.waiting,
  object_store_shared_refused_total: (shares: Shares) => shares.refused,
  object_store_shared_evicted_total: (shares: Shares) => shares.evicted,
} as const

/** Makes what writes the values of everything that this thread shares out into its region. */
export function publishShares(slots: MetricSlots, thread: number): () => void {
  const region = slots.region(thread)
  const series = SHARED_METRICS.flatMap((metric) =>
    shareNames.map((name) => ({ name, slot: slots.sharedSlot(metric, name), value: SHARED_VALUES[metric] })),
  )
  return () => {
    const all = [...sharesOfThread()]
    for (const { name, slot, value } of series) {
      region[slot] = all.reduce((sum, shares) => (shares.name === name ? sum + value(shares) : sum), 0)
    }
  }
}
