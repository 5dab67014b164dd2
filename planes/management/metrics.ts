import type { MetricSlots } from '../http/metric-slots.ts'
import { type MetricRow, metricTable, type ScrapeValues } from '../http/metric-table.ts'

/** The text exposition format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** One value of a metric. */
interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric as it is at this moment. */
export interface MetricReading {
  readonly row: MetricRow
  readonly samples: readonly MetricSample[]
}

/**
 * Reads every metric in the order of the table; leaves out those whose value is unknown.
 * @param slots what the threads counted
 * @param values what is measured at the time of the scrape
 */
export function readMetrics(slots: MetricSlots, values: ScrapeValues): MetricReading[] {
  const counted = new Map<string, MetricSample[]>()
  for (const { row, labels, value } of slots.read()) {
    const samples = counted.get(row.name)
    if (samples === undefined) counted.set(row.name, [{ labels, value }])
    else samples.push({ labels, value })
  }
  const asked: Readonly<Record<string, number | undefined>> = values
  return metricTable.flatMap((row) => {
    if (row.origin === 'threads') return [{ row, samples: counted.get(row.name) ?? [] }]
    const value = asked[row.name]
    return value === undefined ? [] : [{ row, samples: [{ labels: {}, value }] }]
  })
}

/**
 * The metrics as text. Each reading makes a registry of its own: the threads keep the counts, and a lasting registry
 * would have to be reset to them each time.
 */
export async function renderMetrics(readings: readonly MetricReading[]): Promise<string> {
  // Loaded on first use: the commands import the routes and never need it.
  const { Counter, Gauge, Registry } = await import('prom-client')
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
