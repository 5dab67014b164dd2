/** Current values of metrics. */

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Metric {
  readonly name: string
  readonly samples: readonly Sample[]
}

/** The sum of a metric over its labels; undefined when the server does not know it. */
export function valueOf(metrics: readonly Metric[], name: string): number | undefined {
  const samples = metrics.find((metric) => metric.name === name)?.samples
  return samples?.reduce((sum, { value }) => sum + value, 0)
}

/** The smallest value of a metric over its labels. */
export function leastOf(metrics: readonly Metric[], name: string): number | undefined {
  const samples = metrics.find((metric) => metric.name === name)?.samples ?? []
  return samples.length === 0 ? undefined : Math.min(...samples.map(({ value }) => value))
}
