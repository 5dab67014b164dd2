import { Counter, Gauge, Registry } from 'prom-client'
import type { MetricSlots } from '../http/metric-slots.ts'
import { type MetricRow, metricTable, type ScrapeValues } from '../http/metric-table.ts'

/** The text exposition format. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** One value of a metric. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric as it is at this moment. */
export interface MetricReading {
  readonly row: MetricRow
  readonly samples: readonly MetricSample[]
}

/**
 * Reads every metric of the table, in its order; one whose value is not known is left out.
 * @param slots what the threads counted
 * @param values what is asked for at this moment
 */
export function readMetrics(slots: MetricSlots, values: ScrapeValues): MetricReading[] {
  const counted = new Map<string, MetricSample[]>()
  for (const { row, labels, value } of slots.read()) {
    const samples = counted.get(row.name)
    if (samples === undefined) counted.set(row.name, [{ labels, value }])
    else samples.push({ labels, value })
  }
  const asked: Readonly<Record<string, number | undefined>> = values
  return (metricTable as readonly MetricRow[]).flatMap((row) => {
    if (row.origin === 'threads') return [{ row, samples: counted.get(row.name) ?? [] }]
    const value = asked[row.name]
    return value === undefined ? [] : [{ row, samples: [{ labels: {}, value }] }]
  })
}

/**
 * The metrics as text. The registry lives for one reading: the counts are kept by the threads, and a registry that
 * stayed would have to be set back to what they say each time.
 */
export async function renderMetrics(readings: readonly MetricReading[]): Promise<string> {
  const registry = new Registry()
  for (const { row, samples } of readings) {
    const options = { name: row.name, help: row.help, labelNames: [...row.labels], registers: [registry] }
    if (row.type === 'gauge') {
      const gauge = new Gauge(options)
      for (const { labels, value } of samples) gauge.set(labels, value)
    } else {
      const counter = new Counter(options)
      for (const { labels, value } of samples) counter.inc(labels, value)
    }
  }
  return registry.metrics()
}
