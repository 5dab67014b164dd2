import { type BucketId, bucketIdOf, sequenceOf } from '../../../engine/brands.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import type { LockedPage, LockedPlace, LockedVersion } from '../../../projections/catalog/lock-listing.ts'
import { BUCKET_NAME_LENGTH, overlongKeyBytes } from '../../../engine/domain/names.ts'
import { boundedText } from '../../../engine/events/bounded-text.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { queryForm, queryNumber, queryText } from '../schemas/query.ts'
import { FLAG, form, listOf, object, oneOf, orNull, TIME, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../requests/timestamps.ts'

/** Versions read before other work gets a turn. */
const VERSIONS_AT_ONCE = 500

/** A report ends at about this size: bytes of keys, and an estimate for the rest of each record. */
const REPORT_BYTES_MAXIMUM = 1024 ** 2
const RECORD_BYTES = 256

/** One page of locks, from a cursor on. */
async function lockedVersions(
  { catalog }: ManagementServices,
  bucketId: BucketId | undefined,
  from: LockedPlace | undefined,
  limit: number,
  place: HeavyPlace,
): Promise<LockedPage> {
  const versions: LockedVersion[] = []
  let start = from
  let bytes = 0
  do {
    const most = Math.min(VERSIONS_AT_ONCE, limit - versions.length)
    const page = catalog.snapshot().lockedVersions(bucketId, start, most)
    versions.push(...page.versions)
    for (const { key } of page.versions) bytes += RECORD_BYTES + Buffer.byteLength(key)
    start = page.next
    await place.pause()
  } while (start !== undefined && versions.length < limit && bytes < REPORT_BYTES_MAXIMUM)
  return { versions, next: start }
}

/** Locks examined after the first page to count what is held. */
const COUNTED_LOCKS_MAXIMUM = 100_000

function isHeld({ retention, hold = false }: LockedVersion['lock'], now: number): boolean {
  return hold || (retention !== undefined && retention.untilMilliseconds > now)
}

/** How many of the locks from a place on are held; undefined when there are more than are counted. */
async function heldAfter(
  { catalog }: ManagementServices,
  bucketId: BucketId | undefined,
  from: LockedPlace | undefined,
  now: number,
  place: HeavyPlace,
): Promise<number | undefined> {
  let start = from
  let held = 0
  for (let examined = 0; start !== undefined; examined += VERSIONS_AT_ONCE) {
    if (examined >= COUNTED_LOCKS_MAXIMUM) return undefined
    const page: LockedPage = catalog.snapshot().lockedVersions(bucketId, start, VERSIONS_AT_ONCE)
    for (const { lock } of page.versions) if (isHeld(lock, now)) held += 1
    start = page.next
    await place.pause()
  }
  return held
}

/** Cursor: encrypted bucket id and version id, 22 characters each, then the key in base64url. */
const ID_LENGTH = 22
const CURSOR = '[A-Za-z0-9_-]{46,1410}'

function cursorAfter({ bucketId, sequence, key }: LockedPlace, { versionIds }: ManagementServices): string {
  const ids = versionIds.encodeAll([sequenceOf(bucketId), sequence])
  return `${ids.join('')}${Buffer.from(key).toString('base64url')}`
}

/**
 * Parses a cursor.
 * @throws ManagementError INVALID_REQUEST for an invalid cursor, and for the cursor of a report on another bucket
 */
function placeOf(
  sent: string | undefined,
  bucket: BucketState | undefined,
  services: ManagementServices,
): LockedPlace | undefined {
  if (sent === undefined) return undefined
  const { versionIds } = services
  const owner = versionIds.decode(sent.slice(0, ID_LENGTH))
  const sequence = versionIds.decode(sent.slice(ID_LENGTH, 2 * ID_LENGTH))
  const key = Buffer.from(sent.slice(2 * ID_LENGTH), 'base64url').toString()
  if (owner === undefined || sequence === undefined || key === '' || overlongKeyBytes(key) !== undefined) {
    throw invalid('after', 'must be next_after of a report')
  }
  const place = { bucketId: bucketIdOf(owner), sequence, key }
  // The decoder skips characters that are not base64url, so several texts would be the same cursor.
  if (cursorAfter(place, services) !== sent) throw invalid('after', 'must be next_after of a report')
  if (bucket !== undefined && bucket.id !== place.bucketId) {
    throw invalid('after', 'must be next_after of a report on the same bucket')
  }
  return place
}

const DAYS_PER_YEAR = 365

/** Periods in days, whatever their unit was. */
function bucketRecord({ name, defaultRetention }: BucketState) {
  if (defaultRetention === undefined) return { bucket: name, default_retention: null }
  const { mode, unit, value } = defaultRetention
  const days = unit === 'years' ? value * DAYS_PER_YEAR : value
  return { bucket: name, default_retention: { mode, period: { unit: 'days', value: days } } }
}

function versionRecord(bucket: string, version: LockedVersion, now: number, { versionIds }: ManagementServices) {
  const { retention, hold = false } = version.lock
  return {
    bucket,
    key: version.key,
    version_id: version.isNull ? 'null' : versionIds.encode(version.sequence),
    retention_mode: retention?.mode ?? null,
    retain_until: retention === undefined ? null : new Date(retention.untilMilliseconds).toISOString(),
    legal_hold: hold,
    status: isHeld(version.lock, now) ? 'held' : 'elapsed',
  }
}

const getRetentionReport = defineRoute({
  pattern: 'GET /reports/retention',
  roles: EVERYONE,
  summary: 'Which versions are held, and until when.',
  query: {
    bucket: queryText,
    limit: queryNumber(10_000, { minimum: 1, maximum: 100_000 }),
    after: queryForm(CURSOR),
  },
  answer: {
    200: json(
      object({
        generated_at: TIME,
        buckets: listOf(object({ bucket: text(), default_retention: orNull(component('DefaultRetention')) })),
        versions: listOf(
          object({
            bucket: text(),
            key: text(),
            version_id: text(),
            retention_mode: orNull(oneOf('GOVERNANCE', 'COMPLIANCE')),
            retain_until: orNull(TIME),
            legal_hold: FLAG,
            status: oneOf('held', 'elapsed'),
          }),
        ),
        held_count: whole(),
        held_total: orNull(whole()),
        truncated: FLAG,
        next_after: orNull(form(CURSOR)),
      }),
    ),
  },
  errors: ['BUCKET_NOT_FOUND'],
  /**
   * Each lock, including elapsed ones, and the default retention of each bucket with Object Lock. `held_count` counts the
   * entries of this page, `held_total` the entries of all pages: on the first page, up to 100,000 locks after it.
   */
  async handle(request, services) {
    const { catalog, clock } = services
    const limit = request.query('limit')
    const name = request.query('bucket')
    if (name !== undefined) request.journal.note('bucket', boundedText(name, BUCKET_NAME_LENGTH.maximum))
    const snapshot = catalog.snapshot()
    const bucket = name === undefined ? undefined : snapshot.bucket(name)
    if (name !== undefined && bucket === undefined) throw new ManagementError('BUCKET_NOT_FOUND')
    const buckets = new Map((bucket === undefined ? snapshot.buckets() : [bucket]).map((each) => [each.id, each]))
    const now = clock()
    const after = placeOf(request.query('after'), bucket, services)
    const { versions, next, later } = await services.heavy.run('scan', request, async (place) => {
      const page = await lockedVersions(services, bucket?.id, after, limit, place)
      // Once for each report: counting again for every page would read the whole table as often.
      if (after !== undefined) return { ...page, later: undefined }
      return { ...page, later: await heldAfter(services, bucket?.id, page.next, now, place) }
    })
    const records = versions.flatMap((version) => {
      const owner = buckets.get(version.bucketId)
      // The bucket was created while the table was read.
      return owner === undefined ? [] : [versionRecord(owner.name, version, now, services)]
    })
    const heldCount = records.filter(({ status }) => status === 'held').length
    return jsonResponse(200, {
      generated_at: rfc3339(now * 1000),
      buckets: [...buckets.values()].filter(({ lockEnabled }) => lockEnabled).map(bucketRecord),
      versions: records,
      held_count: heldCount,
      held_total: later === undefined ? null : heldCount + later,
      truncated: next !== undefined,
      next_after: next === undefined ? null : cursorAfter(next, services),
    })
  },
  command: command('report retention', 'show which versions are held, and until when', {
    options: {
      bucket: 'only this bucket',
      limit: 'locks to examine (all)',
      after: 'continue at next_after of a report',
    },
    joined: ['versions'],
    show: {
      list: 'versions',
      columns: ['bucket', 'key', 'version_id', 'retention_mode', 'retain_until', 'legal_hold', 'status'],
      also: ['generated_at', 'held_count', 'held_total', 'truncated', 'next_after', 'buckets'],
    },
  }),
})

export const REPORT_ROUTES: readonly Route[] = [getRetentionReport]
