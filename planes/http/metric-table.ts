/**
 * Every metric, one row each. Counting, rendering and the list of names are all made from this table.
 *
 * Metrics of origin `threads` are counted by many threads at once, each in numbers of its own in shared memory
 * (metric-slots.ts), and summed when they are read. Those of origin `scrape` are asked for when they are read.
 */

export type MetricOrigin = 'threads' | 'scrape'

export interface MetricRow {
  readonly name: string
  /** A counter only grows while the process lives; a gauge goes both ways. */
  readonly type: 'counter' | 'gauge'
  readonly origin: MetricOrigin
  /** Names of the labels; only metrics of origin `threads` have any. */
  readonly labels: readonly MetricLabel[]
  readonly help: string
}

/** The labels. The values of each are fixed when the process starts, so that no request can make new series. */
export type MetricLabel = 'operation' | 'result'

/** Values of the label `result`, as the audit log names outcomes. */
export const requestResults = ['success', 'denied', 'failure'] as const
export type RequestResult = (typeof requestResults)[number]

export const metricTable = [
  {
    name: 'object_store_requests_total',
    type: 'counter',
    origin: 'threads',
    labels: ['operation', 'result'],
    help: 'S3 requests answered, by operation and by the result the audit log gives them.',
  },
  {
    name: 'object_store_errors_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Requests answered with a status of 500 or more.',
  },
  {
    name: 'object_store_operations_rejected_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Operations refused with SlowDown because too many were running and waiting.',
  },
  {
    name: 'object_store_operations_active',
    type: 'gauge',
    origin: 'threads',
    labels: [],
    help: 'Operations that are running.',
  },
  {
    name: 'object_store_operations_queued',
    type: 'gauge',
    origin: 'threads',
    labels: [],
    help: 'Operations that wait for a turn.',
  },
  {
    name: 'object_store_received_bytes_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Bytes of request bodies received on the S3 data plane.',
  },
  {
    name: 'object_store_sent_bytes_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Bytes of response bodies sent on the S3 data plane.',
  },
  {
    name: 'object_store_journal_records_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Records written to the journal.',
  },
  {
    name: 'object_store_journal_syncs_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Syncs of the journal, one for each group commit.',
  },
  {
    name: 'object_store_journal_sync_seconds_total',
    type: 'counter',
    origin: 'threads',
    labels: [],
    help: 'Time spent in syncs of the journal.',
  },
  {
    name: 'object_store_operations_concurrency_limit',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Operations that may run at the same time (limits.maximum_concurrent_operations).',
  },
  {
    name: 'object_store_filesystem_available_bytes',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Bytes still free on the file system of the data directory.',
  },
  {
    name: 'object_store_filesystem_capacity_bytes',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Size of the file system of the data directory in bytes.',
  },
  {
    name: 'object_store_temporary_bytes',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Bytes held by uploads in progress.',
  },
  {
    name: 'object_store_storage_physical_bytes',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Bytes of stored payloads, each counted once; space that is free in a volume is not in it.',
  },
  {
    name: 'object_store_storage_logical_bytes',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Bytes of current object versions.',
  },
  {
    name: 'object_store_buckets',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Buckets.',
  },
  {
    name: 'object_store_objects',
    type: 'gauge',
    origin: 'scrape',
    labels: [],
    help: 'Objects, counted by their current version.',
  },
] as const satisfies readonly MetricRow[]

type Row = (typeof metricTable)[number]

/** Name of a metric counted by threads that has no labels. */
export type ThreadMetricName = Extract<Row, { origin: 'threads'; labels: readonly [] }>['name']

/** Name of a metric that is asked for when the metrics are read. */
export type ScrapeMetricName = Extract<Row, { origin: 'scrape' }>['name']

/** Values for one reading; undefined leaves a metric out, which is better than a false zero. */
export type ScrapeValues = { readonly [Name in ScrapeMetricName]: number | undefined }
