import { Counter, Gauge, Registry } from 'prom-client'
import type { MetricSlots } from '../http/metric-slots.ts'
import { type MetricRow, metricTable, type ScrapeValues } from '../http/metric-table.ts'

/** The text exposition format. */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** A metric in a registry that takes the value of one series. */
type SetValue = (labels: Readonly<Record<string, string>>, value: number) => void

function register(registry: Registry, row: MetricRow): SetValue {
  const options = { name: row.name, help: row.help, labelNames: [...row.labels], registers: [registry] }
  if (row.type === 'gauge') {
    const gauge = new Gauge(options)
    return (labels, value) => gauge.set(labels, value)
  }
  const counter = new Counter(options)
  return (labels, value) => counter.inc(labels, value)
}

/**
 * The metrics as text. The registry lives for one reading: the counts are kept by the threads, and a registry that
 * stayed would have to be set back to what they say each time.
 * @param slots what the threads counted
 * @param values what is asked for at this moment
 */
export async function renderMetrics(slots: MetricSlots, values: ScrapeValues): Promise<string> {
  const registry = new Registry()
  const setters = new Map<string, SetValue>()
  const scraped: Readonly<Record<string, number | undefined>> = values
  for (const row of metricTable as readonly MetricRow[]) {
    if (row.origin === 'threads') setters.set(row.name, register(registry, row))
    else {
      const value = scraped[row.name]
      if (value !== undefined) register(registry, row)({}, value)
    }
  }
  for (const series of slots.read()) setters.get(series.row.name)?.(series.labels, series.value)
  return registry.metrics()
}
