/**
 * Every metric with its help text. Counting, rendering and the list of names are made from these tables. A name that
 * ends in `_total` is a counter: like the counts of a histogram, it only grows while the process lives. Names and units
 * follow the rules of Prometheus (https://prometheus.io/docs/practices/naming/): base units, and the unit at the end.
 */

/**
 * Counted by all threads, each in its own slots of shared memory (metric-slots.ts), and summed when read.
 */
const THREAD_METRICS = {
  object_store_requests_total: 'S3 requests answered, by operation and by the result the audit log gives them.',
  object_store_errors_total:
    'Requests that failed in the server: answered with 500 or more, except 501 and SlowDown, or cut off.',
  object_store_operations_rejected_total:
    'Operations refused with SlowDown because too many were running and waiting, on both planes.',
  object_store_operations_active: 'Operations now running, on both planes.',
  object_store_operations_queued: 'Operations waiting for a turn, on both planes.',
  object_store_received_bytes_total: 'Bytes of request bodies received on the S3 data plane.',
  object_store_sent_bytes_total: 'Bytes of response bodies sent on the S3 data plane.',
  object_store_journal_records_total: 'Records written to the journal.',
  object_store_journal_written_bytes_total: 'Bytes of records written to the journal.',
  object_store_journal_syncs_total: 'Syncs of the journal, one per group commit.',
  object_store_journal_sync_seconds_total: 'Time spent in syncs of the journal.',
  object_store_audit_counted_requests_total:
    'Requests without valid credentials that the journal only counts (audit.anonymous_kib_per_second).',
  object_store_audit_missed_requests_total:
    'Requests answered without a record of their own, since the disk had no room for it; one record counts them when there is room again.',
  object_store_request_duration_seconds: 'Time from the head of a request to the last byte of its answer.',
  object_store_journal_bytes: 'Bytes of the journal segments, without preallocated space.',
  object_store_journal_head_sequence: 'Sequence of the last durable record.',
  object_store_journal_waiting_requests:
    'Changes and records waiting for their batch; on a full disk also records of reads waiting for space.',
  object_store_journal_refused_changes_total: 'Changes refused because the disk has no room for their records.',
  object_store_damage_found_total:
    'Damage found while answering: in payloads by reads, in objects by verification, in the journal by audit queries, in the trees of checkpoints by proofs, in rows of the projections by requests.',
  object_store_journal_sync_duration_seconds: 'Time that each sync of the journal took.',
  object_store_share_access_total: 'Requests through share and embed links that were granted.',
  object_store_share_access_denied_total:
    'Requests through share and embed links that were refused, by operation as in the audit log.',
  object_store_share_sent_bytes_total: 'Bytes of response bodies sent through share and embed links.',
  object_store_connections_refused_total:
    'Connections closed because a listener had no place for them, by the reason: every place is taken, a silent one made room for a new one, or its address has more than half.',
  object_store_shared_used: 'Units in use of what requests share, places or bytes.',
  object_store_shared_capacity: 'Units of it that there are, in all threads.',
  object_store_shared_waiting: 'Requests that wait for units of it.',
  object_store_shared_refused_total: 'Requests refused because none of it were left.',
  object_store_shared_evicted_total: 'Times that the owner with the most units lost some to another owner.',
} as const

/** Upper bounds of the buckets of every histogram, in seconds; a bucket without a bound follows. */
export const HISTOGRAM_BOUNDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** Measured when the metrics are read. */
const SCRAPE_METRICS = {
  object_store_build_info:
    'Always 1; the labels are the version and the commit of the program (unknown: built without git) and the version of Node.js.',
  object_store_degraded: '1 for what the server does not do at the moment, as /ready says; otherwise 0.',
  object_store_clock_behind_seconds:
    'How far the clock of the host is behind the last entry of the journal; 0 when it is not.',
  object_store_operations_concurrency_limit:
    'Operations that may run at the same time (limits.maximum_concurrent_operations).',
  object_store_filesystem_available_bytes: 'Bytes still free on the file system of the data directory.',
  object_store_filesystem_reserved_bytes:
    'Bytes that uploads leave free (storage.reserved_mib); with less, every upload is refused.',
  object_store_filesystem_capacity_bytes: 'Size of the file system of the data directory in bytes.',
  object_store_temporary_bytes: 'Bytes held by uploads in progress.',
  object_store_multipart_uploads: 'Multipart uploads that are neither completed nor aborted.',
  object_store_multipart_bytes: 'Bytes of the parts that these multipart uploads hold.',
  object_store_storage_physical_bytes: 'Bytes that payloads take on the disk: whole volumes, and payload files.',
  object_store_storage_unused_volume_bytes:
    'Bytes of volumes that hold no live payload: deleted payloads until compaction, headers, and preallocated space.',
  object_store_storage_logical_bytes: 'Bytes of current object versions.',
  object_store_scrub_read_bytes: 'Bytes read by the latest scrub, which may still be running.',
  object_store_scrub_damaged: 'Payloads and segments found damaged by scrubs and not removed since; at most 256.',
  object_store_scrub_completed_seconds:
    'When the last scrub ended, in seconds since 1970; absent before the first one.',
  object_store_scrub_due_seconds:
    'When a scrub is due, in seconds since 1970, an interval after the last one ended; absent when scrub.interval_days is 0.',
  object_store_backup_completed_seconds:
    'When the last backup of this data directory ended (object-store backup), in seconds since 1970; absent before the first one.',
  object_store_backup_sequence: 'Sequence of the last record in that backup.',
  object_store_buckets: 'Buckets.',
  object_store_objects: 'Objects that have a current version.',
  object_store_event_streams: 'Open streams of storage events.',
  object_store_tls_certificate_not_after_seconds:
    'When the certificate of a listener with TLS expires, in seconds since 1970.',
  nodejs_eventloop_active_seconds_total: 'Time that a thread of the server was busy, not waiting for events.',
  process_cpu_seconds_total: 'Processor time of the process, in the system and in the program.',
  process_resident_memory_bytes: 'Memory of the process that is in RAM.',
  process_open_fds: 'Open file descriptors of the process.',
  process_max_fds: 'File descriptors that the process may have open.',
  process_start_time_seconds: 'When the process started, in seconds since 1970.',
  object_store_webhook_deliveries_pending:
    'Webhook deliveries in memory: waiting for their turn, in flight, or to be retried.',
  object_store_webhook_deliveries_succeeded_total: 'Webhook deliveries answered with 2xx.',
  object_store_webhook_deliveries_failed_total: 'Webhook deliveries that failed permanently, after their last attempt.',
  object_store_webhook_attempts_failed_total: 'Failed attempts of webhook deliveries.',
  object_store_lifecycle_scanned_total: 'Entries that lifecycle passes found due.',
  object_store_lifecycle_removed_total:
    'Objects and versions that lifecycle rules removed or hid with a delete marker.',
  object_store_lifecycle_skipped_total:
    'Due entries that lifecycle passes skipped because of a lock or a clock that is behind.',
  object_store_lifecycle_failed_total: 'Due entries that could not be removed; the next lifecycle pass tries again.',
  object_store_lifecycle_last_pass_timestamp_seconds:
    'When the last complete lifecycle pass ended, in seconds since 1970; absent before the first one.',
  object_store_lifecycle_lag_seconds:
    'How long the oldest entry left over by the last complete lifecycle pass has been due; 0 if none was left.',
  object_store_compaction_volumes_removed_total: 'Volumes that compaction emptied and removed.',
  object_store_compaction_moved_bytes_total: 'Bytes of payloads that compaction moved to another volume.',
  object_store_journal_compressed_segments: 'Segments of the journal that are compressed.',
  object_store_journal_compressed_bytes: 'Uncompressed size of the compressed journal segments.',
  object_store_journal_compressed_disk_bytes: 'Bytes that compressed segments take on the disk.',
  object_store_journal_damaged_segments:
    'Segments left uncompressed since the start because they are damaged or unreadable.',
  object_store_chain_intact:
    'What the last verification of the whole chain found: 1 if all of it is intact, 0 for damage, which is told at once; absent before the first one.',
  object_store_chain_verified_seconds: 'When that was, in seconds since 1970.',
  object_store_chain_verified_sequence: 'Sequence of the last record that it read.',
  object_store_checkpoint_size: 'Records that the last signed checkpoint covers.',
  object_store_checkpoint_age_seconds: 'Time since the last checkpoint was signed.',
  object_store_checkpoint_late_seconds:
    'How long the next checkpoint has been due; 0 when it is not, absent where checkpoints are off.',
  object_store_checkpoint_tree_size: 'Records that the trees of checkpoints cover.',
  object_store_checkpoint_mended_hashes_total:
    'Hashes of the trees of checkpoints that were damaged, and derived again from the journal.',
  object_store_checkpoint_refused: '1 while checkpoints are refused or fail, and the log says why; otherwise 0.',
  object_store_checkpoint_unanchored_age_seconds:
    'Time since the oldest checkpoint was signed that no receipt covers; 0 without one.',
  object_store_checkpoint_timestamp_failures_total: 'Failed requests for time stamps of checkpoints.',
  object_store_checkpoint_witness_failures_total: 'Failed requests to witnesses of checkpoints.',
  object_store_snapshot_age_seconds: 'Time since the newest snapshot of the projections was started.',
  object_store_snapshot_bytes: 'Size of the newest snapshot of the projections, with the changes after it.',
  object_store_snapshot_sequence: 'Sequence of the last record in the newest snapshot; a start replays those after it.',
  object_store_snapshots_made_total: 'Snapshots of the projections made since the start.',
  object_store_snapshot_written_bytes_total: 'Bytes written to files of snapshots since the start.',
  object_store_snapshot_failures_total: 'Snapshots of the projections that failed since the start.',
} as const

/** Names of the labels, where there are any. */
const LABELS = {
  object_store_requests_total: ['operation', 'result'],
  object_store_request_duration_seconds: ['plane', 'class'],
  object_store_damage_found_total: ['found_by'],
  object_store_share_access_total: ['access'],
  object_store_connections_refused_total: ['listener', 'reason'],
  object_store_share_access_denied_total: ['operation'],
  object_store_shared_used: ['resource'],
  object_store_shared_capacity: ['resource'],
  object_store_shared_waiting: ['resource'],
  object_store_shared_refused_total: ['resource'],
  object_store_shared_evicted_total: ['resource'],
  object_store_degraded: ['reason'],
  object_store_build_info: ['version', 'commit', 'node'],
  object_store_tls_certificate_not_after_seconds: ['listener'],
  nodejs_eventloop_active_seconds_total: ['thread'],
} as const satisfies {
  readonly [Name in keyof typeof THREAD_METRICS | keyof typeof SCRAPE_METRICS]?: readonly string[]
}

export interface MetricRow {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly origin: 'threads' | 'scrape'
  /** Names of the labels. Their values do not depend on requests, so that no request can make new series. */
  readonly labels: readonly string[]
  readonly help: string
}

export const REQUESTS_METRIC = 'object_store_requests_total'
export const DAMAGE_METRIC = 'object_store_damage_found_total'
export const DURATION_METRIC = 'object_store_request_duration_seconds'
export const ACCESS_METRIC = 'object_store_share_access_total'
export const ACCESS_DENIED_METRIC = 'object_store_share_access_denied_total'
export const CONNECTIONS_REFUSED_METRIC = 'object_store_connections_refused_total'
export const SYNC_DURATION_METRIC = 'object_store_journal_sync_duration_seconds'
/** Metrics of shared resources, by thread (engine/shares/share-table.ts). */
export const SHARED_METRICS = [
  'object_store_shared_used',
  'object_store_shared_capacity',
  'object_store_shared_waiting',
  'object_store_shared_refused_total',
  'object_store_shared_evicted_total',
] as const
export type SharedMetricName = (typeof SHARED_METRICS)[number]
const HISTOGRAMS: readonly string[] = [DURATION_METRIC, SYNC_DURATION_METRIC]

function rows(origin: MetricRow['origin'], metrics: Readonly<Record<string, string>>): MetricRow[] {
  const labels: Readonly<Record<string, readonly string[]>> = LABELS
  return Object.entries(metrics).map(([name, help]) => {
    return { name, type: typeOf(name), origin, labels: labels[name] ?? [], help }
  })
}

function typeOf(name: string): MetricRow['type'] {
  if (HISTOGRAMS.includes(name)) return 'histogram'
  return name.endsWith('_total') ? 'counter' : 'gauge'
}

/** Every metric, in the order in which they are shown. */
export const metricTable: readonly MetricRow[] = [...rows('threads', THREAD_METRICS), ...rows('scrape', SCRAPE_METRICS)]

/** Values of the label `result`, as the audit log names outcomes. */
export const requestResults = ['success', 'denied', 'failure'] as const
export type RequestResult = (typeof requestResults)[number]

/** Kinds of requests whose duration is counted apart, by plane. */
export const requestClasses = {
  s3: ['read', 'list', 'write', 'delete', 'other'],
  management: ['read', 'write', 'delete', 'other'],
  sharing: ['share-page', 'share-unlock', 'share-content', 'embed-content', 'other'],
} as const
export type Plane = keyof typeof requestClasses
export type RequestClass<P extends Plane = Plane> = (typeof requestClasses)[P][number]

/** Functions that can fail while the server works otherwise; values of the label `reason`. */
export const degradationNames = [
  'uploads',
  'records',
  'changes',
  'scrub',
  'journal',
  'projections',
  'clock',
  'checkpoints',
] as const
export type Degradation = (typeof degradationNames)[number]

/** Where damage is found; values of the label `found_by`. */
export const damageFinders = ['read', 'verification', 'audit', 'trees', 'rows'] as const
export type DamageFinder = (typeof damageFinders)[number]

/** Kinds of requests by links; values of the label `access`. */
export const linkAccesses = ['share-page', 'share-unlock', 'share-content', 'embed-content'] as const
export type LinkAccess = (typeof linkAccesses)[number]

/** Listeners; values of the label `listener`. */
export const listenerNames = ['s3', 'api', 'console'] as const
export type ListenerName = (typeof listenerNames)[number]

/** Why connections are closed for want of places (planes/http/limits/connection-rules.ts); values of the label `reason`. */
export const connectionRefusals = ['full', 'silent', 'share'] as const
export type RefusedConnection = (typeof connectionRefusals)[number]

/** Operations in records of refused requests by links; values of the label `operation` of their counter. */
export const linkRefusals = [
  'share.denied',
  'share.password_failed',
  'share.password_throttled',
  'embed.denied',
] as const
export type LinkRefusal = (typeof linkRefusals)[number]

/** Name of a number counted by threads that has no labels. */
export type ThreadMetricName = Exclude<
  keyof typeof THREAD_METRICS,
  | typeof REQUESTS_METRIC
  | typeof DURATION_METRIC
  | typeof SYNC_DURATION_METRIC
  | typeof DAMAGE_METRIC
  | typeof ACCESS_METRIC
  | typeof ACCESS_DENIED_METRIC
  | typeof CONNECTIONS_REFUSED_METRIC
  | SharedMetricName
>

/** One value of a metric. */
export interface MetricSample {
  /** Suffix after the name of the metric; only in histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Values for one reading; undefined leaves a metric out, which is better than a false zero. */
export type ScrapeValues = {
  readonly [Name in keyof typeof SCRAPE_METRICS]: Name extends keyof typeof LABELS
    ? readonly MetricSample[]
    : number | undefined
}
