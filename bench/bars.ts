import type { Figure, Unit } from './figure.ts'

/** Required figures on a machine with two cores that also runs the load generator. */
export interface Bar {
  /** Name of the figure. */
  readonly figure: string
  readonly value: number
  readonly unit: Unit
  readonly better: 'higher' | 'lower'
  /** The bar applies to a store with this many objects or more. */
  readonly objects?: number
}

const MILLION = 1_000_000
/** Few enough are overwritten in a minute, and the two volumes made ahead do not dominate. */
export const COMPACTION_OBJECTS = 200_000

export const bars: readonly Bar[] = [
  { figure: 'put-4-kib-c32', value: 5000, unit: 'per second', better: 'higher' },
  { figure: 'get-4-kib-c32', value: 20_000, unit: 'per second', better: 'higher' },
  { figure: 'get-4-kib-c32-processor', value: 0.04, unit: 'ms', better: 'lower' },
  { figure: 'list-1000-c32-processor', value: 1.5, unit: 'ms', better: 'lower' },
  { figure: 'get-1-mib-c8-processor', value: 0.63, unit: 'ms', better: 'lower' },
  { figure: 'get-64-mib-c8-processor', value: 25, unit: 'ms', better: 'lower' },
  { figure: 'list-1000-c32', value: 300, unit: 'per second', better: 'higher' },
  { figure: 'put-1-mib-c8', value: 570, unit: 'MiB/s', better: 'higher' },
  { figure: 'put-64-mib-c4-hash-ratio', value: 1.3, unit: 'ratio', better: 'lower' },
  { figure: 'put-64-mib-c4-limit-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'put-64-mib-c8', value: 250, unit: 'MiB/s', better: 'higher' },
  { figure: 'get-64-mib-c8', value: 800, unit: 'MiB/s', better: 'higher' },
  { figure: 'list-versions-1000-c32', value: 200, unit: 'per second', better: 'higher' },
  { figure: 'versioned-overwrite-ratio', value: 1.15, unit: 'ratio', better: 'lower' },
  { figure: 'multipart-16-mib-c8', value: 250, unit: 'MiB/s', better: 'higher' },
  { figure: 'complete-10000-parts', value: 500, unit: 'ms', better: 'lower' },
  { figure: 'list-parts-1000', value: 10, unit: 'ms', better: 'lower' },
  { figure: 'encryption-put-4-kib-ratio', value: 0.85, unit: 'ratio', better: 'higher' },
  { figure: 'encryption-get-4-kib-ratio', value: 0.85, unit: 'ratio', better: 'higher' },
  { figure: 'encryption-put-64-mib-ratio', value: 0.6, unit: 'ratio', better: 'higher' },
  { figure: 'encryption-get-64-mib-ratio', value: 0.6, unit: 'ratio', better: 'higher' },
  { figure: 'signed-chunks-ratio', value: 0.75, unit: 'ratio', better: 'higher' },
  { figure: 'http-driver-put-4-kib-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'http-driver-get-4-kib-ratio', value: 0.6, unit: 'ratio', better: 'higher' },
  { figure: 'http-driver-put-64-mib-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'http-driver-get-64-mib-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'policies-get-4-kib-ratio', value: 0.95, unit: 'ratio', better: 'higher' },
  { figure: 'flood-journal-growth', value: 1, unit: 'MiB/s', better: 'lower' },
  { figure: 'flood-processor-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'management-upload-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'management-download-ratio', value: 0.8, unit: 'ratio', better: 'higher' },
  { figure: 'share-delivery-4-kib-ratio', value: 0.9, unit: 'ratio', better: 'higher' },
  { figure: 'share-delivery-64-mib-ratio', value: 0.9, unit: 'ratio', better: 'higher' },
  { figure: 'embed-delivery-4-kib-ratio', value: 0.9, unit: 'ratio', better: 'higher' },
  { figure: 'embed-delivery-64-mib-ratio', value: 0.9, unit: 'ratio', better: 'higher' },
  { figure: 'audit-query-hour', value: 50, unit: 'ms', better: 'lower', objects: MILLION },
  { figure: 'audit-chain', value: 200_000, unit: 'per second', better: 'higher' },
  { figure: 'audit-export-json', value: 100_000, unit: 'per second', better: 'higher', objects: MILLION },
  { figure: 'audit-export-csv', value: 100_000, unit: 'per second', better: 'higher', objects: MILLION },
  { figure: 'audit-export-json-memory', value: 300, unit: 'MiB', better: 'lower', objects: MILLION },
  { figure: 'audit-export-csv-memory', value: 300, unit: 'MiB', better: 'lower', objects: MILLION },
  { figure: 'events-stream', value: 50_000, unit: 'per second', better: 'higher' },
  { figure: 'events-stream-memory', value: 150, unit: 'MiB', better: 'lower' },
  { figure: 'events-visible', value: 1500, unit: 'ms', better: 'lower' },
  { figure: 'webhooks-delivered', value: 3, unit: 's', better: 'lower' },
  { figure: 'webhooks-deliveries', value: 500, unit: 'per second', better: 'higher' },
  { figure: 'webhooks-put-4-kib-ratio', value: 0.97, unit: 'ratio', better: 'higher' },
  { figure: 'compaction-put-p99-ratio', value: 2, unit: 'ratio', better: 'lower', objects: COMPACTION_OBJECTS },
  { figure: 'compaction-space-ratio', value: 1.5, unit: 'ratio', better: 'lower', objects: COMPACTION_OBJECTS },
  { figure: 'lifecycle-pass', value: 50, unit: 'ms', better: 'lower', objects: MILLION },
  { figure: 'lifecycle-removals', value: 2000, unit: 'per second', better: 'higher' },
  { figure: 'delete-objects', value: 5000, unit: 'per second', better: 'higher' },
  { figure: 'get-beside-delete-objects-p99', value: 25, unit: 'ms', better: 'lower' },
  { figure: 'get-beside-uploads-p99', value: 25, unit: 'ms', better: 'lower' },
  { figure: 'get-beside-uploads-memory', value: 400, unit: 'MiB', better: 'lower' },
  { figure: 'transfers-peak-memory', value: 400, unit: 'MiB', better: 'lower' },
  { figure: 'scale-put-ratio', value: 1.3, unit: 'ratio', better: 'lower', objects: MILLION },
  { figure: 'scale-get-ratio', value: 1.3, unit: 'ratio', better: 'lower', objects: MILLION },
  { figure: 'start-clean', value: 2, unit: 's', better: 'lower', objects: MILLION },
  { figure: 'start-killed', value: 5, unit: 's', better: 'lower', objects: MILLION },
  { figure: 'checkpoints-put-4-kib-ratio', value: 0.97, unit: 'ratio', better: 'higher' },
  { figure: 'checkpoints-get-4-kib-ratio', value: 0.97, unit: 'ratio', better: 'higher' },
  { figure: 'trees-inclusion-p99', value: 5, unit: 'ms', better: 'lower' },
  { figure: 'trees-consistency-p99', value: 5, unit: 'ms', better: 'lower' },
  { figure: 'trees-rebuild', value: 200_000, unit: 'per second', better: 'higher' },
  { figure: 'journal-verify', value: 250_000, unit: 'per second', better: 'higher', objects: MILLION },
  { figure: 'journal-verify-cold', value: 300_000, unit: 'per second', better: 'higher', objects: MILLION },
  { figure: 'replay-cold', value: 300_000, unit: 'per second', better: 'higher', objects: MILLION },
  { figure: 'replay', value: 200_000, unit: 'per second', better: 'higher', objects: MILLION },
]

export type Verdict = 'met' | 'missed' | 'not judged'

/** A figure compared with its bar; undefined without a bar. */
export function judge(figure: Figure, objects: number): { readonly bar: Bar; readonly verdict: Verdict } | undefined {
  const bar = bars.find((candidate) => candidate.figure === figure.name)
  if (bar === undefined) return undefined
  if (bar.unit !== figure.unit) throw new TypeError(`${figure.name} is in ${figure.unit}, its bar in ${bar.unit}`)
  if (bar.objects !== undefined && objects < bar.objects) return { bar, verdict: 'not judged' }
  const met = bar.better === 'higher' ? figure.value >= bar.value : figure.value <= bar.value
  return { bar, verdict: met ? 'met' : 'missed' }
}
