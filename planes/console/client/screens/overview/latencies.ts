import { addBuckets, quantileOf, type Step, total, type Which } from './readings.ts'

/** The histogram of requests, by plane and class. */
export const DURATION = 'object_store_request_duration_seconds'

/** Classes of requests in these steps, with count and latencies. */
export function latenciesOf(steps: readonly Step[], bounds: readonly number[]) {
  const kinds = new Map<string, Which>()
  for (const { name, labels } of steps.at(-1)?.after.histograms ?? []) {
    if (name === DURATION) kinds.set(`${labels['plane']} ${labels['class']}`, { name, labels })
  }
  return [...kinds].flatMap(([kind, which]) => {
    const buckets = addBuckets(steps.map((step) => step.buckets(which)))
    const [median, high] = [quantileOf(buckets, bounds, 0.5), quantileOf(buckets, bounds, 0.99)]
    return median === undefined || high === undefined ? [] : [{ kind, count: total(buckets), median, high }]
  })
}
