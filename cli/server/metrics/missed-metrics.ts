import { MetricSlots, type SharedMetrics } from '../../../planes/metrics/metric-slots.ts'
import { PUBLISH_MILLISECONDS } from './gate-metrics.ts'

/** Publishes how many requests of a thread have no record; `thread` is its region of the metrics. */
export function publishMissed(client: { readonly missedTotal: number }, metrics: SharedMetrics, thread: number): void {
  const slots = new MetricSlots(metrics)
  const region = slots.region(thread)
  const slot = slots.slot('object_store_audit_missed_requests_total')
  setInterval(() => {
    region[slot] = client.missedTotal
  }, PUBLISH_MILLISECONDS).unref()
}
