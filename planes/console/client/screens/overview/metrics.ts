/** The values of the metrics as they are now. */

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

/** How long requests of a kind took: the bounds in seconds that a half and 99 of 100 of them stayed below. */
interface Latency {
  readonly kind: string
  readonly count: number
  readonly median: number
  readonly high: number
}

const DURATION = 'object_store_request_duration_seconds'

/** Of all requests since the start, by plane and class; kinds that nobody asked for are left out. */
export function latenciesOf(metrics: readonly Metric[]): Latency[] {
  const samples = metrics.find(({ name }) => name === DURATION)?.samples ?? []
  const kinds = new Map<string, { readonly bound: number; readonly count: number }[]>()
  for (const { name, labels, value } of samples) {
    if (name !== `${DURATION}_bucket`) continue
    const kind = `${labels['plane']} ${labels['class']}`
    const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le'])
    kinds.set(kind, [...(kinds.get(kind) ?? []), { bound, count: value }])
  }
  return [...kinds].flatMap(([kind, buckets]) => {
    const count = Math.max(...buckets.map((bucket) => bucket.count))
    const boundOf = (part: number) => {
      return Math.min(...buckets.filter((bucket) => bucket.count >= part * count).map(({ bound }) => bound))
    }
    return count === 0 ? [] : [{ kind, count, median: boundOf(0.5), high: boundOf(0.99) }]
  })
}
