import type { BucketState } from '../../../engine/state-ports.ts'
import type { LockedVersion } from '../../../projections/lock-reader.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { integerParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../timestamps.ts'

const LIMIT = { minimum: 1, maximum: 100_000, standard: 10_000 } as const
/** Versions looked at before others get their turn. */
const VERSIONS_AT_ONCE = 500

/**
 * Which versions are held, and until when (specification, Retention report): a row for each lock record, elapsed ones
 * included, and the default retention of each bucket with Object Lock.
 */
export async function getRetentionReport(
  request: ManagementRequest,
  services: ManagementServices,
): Promise<HttpResponse> {
  const { catalog, clock } = services
  const limit = integerParameter(request, 'limit', LIMIT)
  const name = request.query.get('bucket')
  const bucket = name === undefined ? undefined : catalog.bucket(name)
  if (name !== undefined && bucket === undefined) throw new ManagementError('BUCKET_NOT_FOUND')
  const buckets = new Map((bucket === undefined ? catalog.buckets() : [bucket]).map((each) => [each.id, each]))
  const now = clock()
  const { versions, truncated } = await lockedVersions(services, bucket?.id, limit)
  const records = versions.flatMap((version) => {
    const owner = buckets.get(version.bucketId)
    // A bucket that was made while the table was read.
    return owner === undefined ? [] : [versionRecord(owner.name, version, now, services)]
  })
  return jsonResponse(200, {
    generated_at: rfc3339(now * 1000),
    buckets: [...buckets.values()].filter(({ lockEnabled }) => lockEnabled).map(bucketRecord),
    versions: records,
    held_count: records.filter(({ status }) => status === 'held').length,
    truncated,
  })
}

async function lockedVersions(
  { locks }: ManagementServices,
  bucketId: number | undefined,
  limit: number,
): Promise<{ readonly versions: readonly LockedVersion[]; readonly truncated: boolean }> {
  const versions: LockedVersion[] = []
  let start: Buffer | undefined
  do {
    const page = locks.page(bucketId, start, Math.min(VERSIONS_AT_ONCE, limit - versions.length))
    versions.push(...page.versions)
    start = page.next
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  } while (start !== undefined && versions.length < limit)
  return { versions, truncated: start !== undefined }
}

const DAYS_PER_YEAR = 365

/** Periods are in days here, whatever they were set in. */
function bucketRecord({ name, defaultRetention }: BucketState) {
  if (defaultRetention === undefined) return { bucket: name, default_retention: null }
  const { mode, unit, value } = defaultRetention
  const days = unit === 'years' ? value * DAYS_PER_YEAR : value
  return { bucket: name, default_retention: { mode, period: { unit: 'days', value: days } } }
}

function versionRecord(bucket: string, version: LockedVersion, now: number, { versionIds }: ManagementServices) {
  const { retention, hold = false } = version.lock
  const retained = retention !== undefined && retention.untilMilliseconds > now
  return {
    bucket,
    key: version.key,
    version_id: version.isNull ? 'null' : versionIds.encode(version.sequence),
    retention_mode: retention?.mode ?? null,
    retain_until: retention === undefined ? null : new Date(retention.untilMilliseconds).toISOString(),
    legal_hold: hold,
    status: retained || hold ? 'held' : 'elapsed',
  }
}
