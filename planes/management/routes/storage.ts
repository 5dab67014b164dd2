import type { HttpResponse } from '../../http/exchange.ts'
import { invalid } from '../errors.ts'
import { readJson, requiredBoolean, requiredInteger } from '../json-body.ts'
import { auditOf, type ManagementRequest } from '../management-request.ts'
import { integerParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import type { StorageFindings } from '../storage-inspection.ts'

export function getStatus(_request: ManagementRequest, { space, catalog, storage }: ManagementServices): HttpResponse {
  const { capacityBytes, availableBytes } = space.space
  return jsonResponse(200, {
    capacity_bytes: capacityBytes,
    available_bytes: availableBytes,
    temporary_upload_bytes: storage.arrivingBytes() + catalog.uploadUsage().bytes,
  })
}

export function getUsage(_request: ManagementRequest, { catalog }: ManagementServices): HttpResponse {
  const totals = catalog.totals()
  const uploads = catalog.uploadUsage()
  const buckets = catalog.buckets().map(({ id, name }) => {
    const usage = catalog.bucketUsage(id)
    return {
      name,
      objects: usage.objects,
      logical_bytes: usage.bytes,
      noncurrent_versions: usage.noncurrent,
      noncurrent_bytes: usage.noncurrentBytes,
      delete_markers: usage.markers,
    }
  })
  const sum = (count: (bucket: (typeof buckets)[number]) => number) =>
    buckets.reduce((total, bucket) => total + count(bucket), 0)
  return jsonResponse(200, {
    buckets: totals.buckets,
    objects: totals.objects,
    versions: totals.objects + sum((bucket) => bucket.noncurrent_versions),
    delete_markers: sum((bucket) => bucket.delete_markers),
    logical_bytes: totals.logicalBytes,
    physical_bytes: totals.physicalBytes,
    multipart_uploads: uploads.uploads,
    multipart_bytes: uploads.bytes,
    by_bucket: buckets,
  })
}

/** Entries looked at: rows and files. */
const ENTRIES = { minimum: 1, maximum: 10_000_000, standard: 100_000 } as const

function findingsRecord(findings: StorageFindings): Record<string, unknown> {
  const { examined, truncated, orphans, missing } = findings
  return { consistent: orphans.length === 0 && missing.length === 0, examined, truncated, orphans, missing }
}

export async function inspect(request: ManagementRequest, { storage }: ManagementServices): Promise<HttpResponse> {
  const maximum = integerParameter(request, 'maximum_entries', ENTRIES)
  return jsonResponse(200, findingsRecord(await storage.inspect(maximum)))
}

/** Removes orphans when `dry_run` is false; what is missing cannot be made again and is only named. */
export async function repair(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['maximum_entries', 'dry_run'])
  const maximum = members.has('maximum_entries')
    ? requiredInteger(members, 'maximum_entries', ENTRIES)
    : ENTRIES.standard
  const dryRun = members.has('dry_run') ? requiredBoolean(members, 'dry_run') : true
  if (maximum > ENTRIES.maximum) throw invalid('maximum_entries', 'is too large')
  const audit = auditOf(request, ['dry_run', String(dryRun)])
  const { sequence } = await services.engine.execute({ kind: 'record-attempt', audit })
  request.journaled = { kind: 'attempt', sequence }
  const findings = await services.storage.inspect(maximum)
  const removed = dryRun ? [] : await services.storage.remove(findings.orphans)
  return jsonResponse(200, { dry_run: dryRun, ...findingsRecord(findings), removed })
}
