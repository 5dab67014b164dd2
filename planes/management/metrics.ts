import type { MetricSlots } from '../http/metrics/metric-slots.ts'
import { type MetricRow, type MetricSample, metricTable, type ScrapeValues } from '../http/metrics/metric-table.ts'

/** The text exposition format (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

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

/** The metrics as text. */
export function renderMetrics(readings: readonly MetricReading[]): string {
  return readings
    .map(({ row, samples }) => `${header(row)}${samples.map((one) => line(row.name, one)).join('')}`)
    .join('')
}

function header({ name, type, help }: MetricRow): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
}

function line(name: string, { suffix, labels, value }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${suffix ?? ''}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
