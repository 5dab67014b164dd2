import type { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ScrapeValues } from '../../../planes/http/metric-table.ts'
import { physicalBytes } from '../../../planes/management/physical-bytes.ts'
import type { DeliveryCounts } from '../../../workers/webhooks/deliver-webhooks.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { processValues, type WatchedThread } from './process-values.ts'

/** What a scrape looks at. */
export interface ScrapeSources {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly catalog: CatalogReader
  readonly concurrencyLimit: number
  readonly eventStreams: { readonly open: number }
  /** Of the program. */
  readonly version: string
  /** By listener. */
  readonly certificates: () => ReadonlyMap<string, X509Certificate>
  readonly threads: () => readonly WatchedThread[]
  readonly deliveries: () => DeliveryCounts
}

/** The metrics that are measured at the time of a scrape. */
export function scrapeValues({ disk, paths, catalog, ...sources }: ScrapeSources): ScrapeValues {
  const space = disk.space(paths.root)
  const snapshot = catalog.snapshot()
  const totals = snapshot.totals()
  const uploads = snapshot.uploadUsage()
  const physical = physicalBytes(disk, paths, snapshot)
  const arriving = disk.list(paths.uploads).reduce((sum, name) => sum + disk.sizeOf(join(paths.uploads, name)), 0)
  return {
    ...processValues(sources.version, sources.threads()),
    object_store_tls_certificate_not_after_seconds: [...sources.certificates()].map(([listener, { validTo }]) => ({
      labels: { listener },
      value: Date.parse(validTo) / 1000,
    })),
    object_store_operations_concurrency_limit: sources.concurrencyLimit,
    object_store_filesystem_available_bytes: space.availableBytes,
    object_store_filesystem_capacity_bytes: space.capacityBytes,
    object_store_temporary_bytes: arriving + uploads.bytes,
    object_store_multipart_uploads: uploads.uploads,
    object_store_multipart_bytes: uploads.bytes,
    object_store_storage_physical_bytes: physical.physicalBytes,
    object_store_storage_unused_volume_bytes: physical.unusedVolumeBytes,
    object_store_storage_logical_bytes: totals.logicalBytes,
    object_store_buckets: totals.buckets,
    object_store_objects: totals.objects,
    object_store_event_streams: sources.eventStreams.open,
    object_store_webhook_deliveries_pending: sources.deliveries().pending,
    object_store_webhook_deliveries_succeeded_total: sources.deliveries().succeeded,
    object_store_webhook_deliveries_failed_total: sources.deliveries().failed,
    object_store_webhook_attempts_failed_total: sources.deliveries().failedAttempts,
  }
}
