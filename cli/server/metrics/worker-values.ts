import type { ScrapeValues } from '../../../planes/metrics/metric-table.ts'
import type { DeliveryCounts } from '../../../workers/webhooks/deliver-webhooks.ts'
import type { RunningWorkers } from '../background-workers.ts'

/** Where the workers' values come from; all but the deliveries are undefined until the workers are started. */
export interface WorkerSources {
  readonly deliveries: DeliveryCounts
  readonly workers:
    | Pick<RunningWorkers, 'lifecycle' | 'compaction' | 'compression' | 'scrub' | 'timeStamps' | 'witnesses'>
    | undefined
}

/** The counters of the workers, which are read often and cost nothing. */
export function workerCounters({ deliveries, workers }: WorkerSources) {
  const totals = workers?.lifecycle.totals
  return {
    object_store_webhook_deliveries_succeeded_total: deliveries.succeeded,
    object_store_webhook_deliveries_failed_total: deliveries.failed,
    object_store_webhook_attempts_failed_total: deliveries.failedAttempts,
    object_store_lifecycle_scanned_total: totals?.scanned,
    object_store_lifecycle_removed_total: totals?.expired,
    object_store_lifecycle_skipped_total: totals?.held,
    object_store_lifecycle_failed_total: totals?.failed,
    object_store_compaction_volumes_removed_total: workers?.compaction.removed,
    object_store_compaction_moved_bytes_total: workers?.compaction.movedBytes,
  } satisfies Partial<ScrapeValues>
}

/** Every metric of the workers. */
export function workerValues(sources: WorkerSources) {
  const lastPass = sources.workers?.lifecycle.lastPass
  const cold = sources.workers?.compression.totals
  const stamps = sources.workers?.timeStamps.facts
  return {
    ...workerCounters(sources),
    object_store_scrub_due_seconds: sources.workers?.scrub.dueSeconds,
    object_store_webhook_deliveries_pending: sources.deliveries.pending,
    object_store_lifecycle_last_pass_timestamp_seconds: lastPass && lastPass.endedMilliseconds / 1000,
    object_store_lifecycle_lag_seconds: lastPass?.lagSeconds,
    object_store_journal_compressed_segments: cold?.segments,
    object_store_journal_compressed_bytes: cold?.plainBytes,
    object_store_journal_compressed_disk_bytes: cold?.storedBytes,
    object_store_journal_damaged_segments: cold?.kept,
    object_store_checkpoint_unanchored_age_seconds: stamps?.unanchoredSeconds,
    object_store_checkpoint_timestamp_failures_total: stamps?.failures,
    object_store_checkpoint_witness_failures_total: sources.workers && (sources.workers.witnesses?.facts.failures ?? 0),
  } satisfies Partial<ScrapeValues>
}
