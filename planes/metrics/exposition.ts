import { type Metric, Registry, type RegistryContentType } from 'prom-client'
import type { MetricSlots } from './metric-slots.ts'
import { type MetricRow, type MetricSample, metricTable, type ScrapeValues } from './metric-table.ts'

/** The text exposition format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** A metric with its current values. */
export interface MetricReading {
  readonly row: MetricRow
  readonly samples: readonly MetricSample[]
}

/**
 * Reads every metric in the order of the table; leaves out those whose value is unknown.
 * @param slots counters of the threads
 * @param values values measured at the time of the scrape
 */
export function readMetrics(slots: MetricSlots, values: ScrapeValues): MetricReading[] {
  const counted = new Map<string, MetricSample[]>()
  for (const { row, ...sample } of slots.read()) {
    const samples = counted.get(row.name)
    if (samples === undefined) counted.set(row.name, [sample])
    else samples.push(sample)
  }
  const asked: Readonly<Record<string, number | readonly MetricSample[] | undefined>> = values
  return metricTable.flatMap((row) => {
    const samples = row.origin === 'threads' ? counted.get(row.name) : samplesOf(asked[row.name])
    return samples === undefined || samples.length === 0 ? [] : [{ row, samples }]
  })
}

function samplesOf(value: number | readonly MetricSample[] | undefined): readonly MetricSample[] {
  if (value === undefined) return []
  return typeof value === 'number' ? [{ labels: {}, value }] : value
}

/** The metrics as text, and its content type. */
interface Exposition {
  readonly contentType: string
  readonly text: string
}

/**
 * The metrics as text, in the format of OpenMetrics if the scraper asks for it, else in the format of Prometheus.
 * @param accept the header `Accept` of the scraper
 */
export async function renderMetrics(readings: readonly MetricReading[], accept = ''): Promise<Exposition> {
  const contentType = asksForOpenMetrics(accept) ? Registry.OPENMETRICS_CONTENT_TYPE : METRICS_CONTENT_TYPE
  // A new registry for each scrape costs little, and leaves out metrics without a value.
  const registry = new Registry<RegistryContentType>()
  registry.setContentType(contentType)
  for (const reading of readings) registry.registerMetric(metricOf(reading))
  // The library puts an empty line between two metrics, which the format ignores.
  return { contentType, text: (await registry.metrics()).replaceAll('\n\n', '\n') }
}

/** Whether `Accept` lists OpenMetrics, with any version and preference. */
function asksForOpenMetrics(accept: string): boolean {
  return accept.split(',').some((range) => range.trim().toLowerCase().startsWith('application/openmetrics-text'))
}

/** A metric for the library, which only calls `get`; its type asks for a class that counts by itself. */
function metricOf({ row: { name, type, help }, samples }: MetricReading): Metric<string> {
  // The library keeps the text of shared labels, by their object.
  const values = samples.map(({ suffix, labels, value }) => {
    return { sharedLabels: labels, value, metricName: suffix === undefined ? undefined : `${name}${suffix}` }
  })
  const metric = { name, help, type, get: () => ({ name: metric.name, help, type, values }) }
  return metric as unknown as Metric<string>
}
