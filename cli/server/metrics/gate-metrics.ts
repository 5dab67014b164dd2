import type { ConcurrencyGate } from '../../../planes/http/limits/concurrency-gate.ts'
import { MetricSlots, type SharedMetrics } from '../../../planes/http/metrics/metric-slots.ts'

/** How often a thread publishes what it does not count one by one. */
export const PUBLISH_MILLISECONDS = 250

/** Publishes what a thread knows of the gate, for scrapes; `thread` is its region of the metrics. */
export function publishGate(gate: ConcurrencyGate, metrics: SharedMetrics, thread: number): void {
  const slots = new MetricSlots(metrics)
  const region = slots.region(thread)
  const active = slots.slot('object_store_operations_active')
  const queued = slots.slot('object_store_operations_queued')
  const rejected = slots.slot('object_store_operations_rejected_total')
  setInterval(() => {
    region[active] = gate.active
    region[queued] = gate.queued
    region[rejected] = gate.rejected
  }, PUBLISH_MILLISECONDS).unref()
}
