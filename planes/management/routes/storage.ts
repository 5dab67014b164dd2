import { boundedText } from '../../../engine/events/bounded-text.ts'
import type { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { jsonResponse } from '../responses.ts'
import { type Answer, command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { queryNumber, queryText } from '../schemas/query.ts'
import { FLAG, listOf, object, orNull, text, whole } from '../schemas/schema.ts'
import { beginScrub, damageOfScrub, scrubRecord } from '../scrub/scrub-record.ts'
import { CHECKPOINTS, checkpointsRecord } from '../checkpoints/storage-checkpoints.ts'
import { SNAPSHOTS, snapshotRecord } from './storage-snapshots.ts'
import { CHAIN, chainRecord, isChainDamaged } from '../storage/chain-record.ts'
import { inspectionCursor, type StorageFindings } from '../storage/storage-inspection.ts'

const getStatus = defineRoute({
  pattern: 'GET /storage/status',
  roles: EVERYONE,
  summary:
    'Capacity, available and temporary bytes, what the last scrub found, snapshots of the projections, checkpoints, and the last verdict on the chain.',
  answer: {
    200: json(
      object({
        capacity_bytes: whole(),
        available_bytes: whole(),
        temporary_upload_bytes: whole(),
        scrub: orNull(component('StorageScrub')),
        snapshots: SNAPSHOTS,
        checkpoints: CHECKPOINTS,
        chain: CHAIN,
      }),
    ),
  },
  handle(_request, { space, catalog, chain, storage, versionIds, snapshots, checkpoints, checkpointFacts }) {
    const { capacityBytes, availableBytes } = space.space
    const snapshot = catalog.snapshot()
    const head = snapshot.journalSequence()
    return jsonResponse(200, {
      capacity_bytes: capacityBytes,
      available_bytes: availableBytes,
      temporary_upload_bytes: storage.arrivingBytes() + snapshot.uploadUsage().bytes,
      scrub: scrubRecord(snapshot, versionIds),
      snapshots: snapshotRecord(snapshots(), head),
      checkpoints: checkpointsRecord(checkpointFacts(), checkpoints.newest()),
      chain: chainRecord(chain.kept(head), head),
    })
  },
  command: command(
    'storage status',
    'show capacity, free space, what the last scrub found, snapshots, checkpoints and the last verdict on the chain',
    {
      exit: ({ scrub, chain }) => (damageOfScrub(scrub) || isChainDamaged(chain) ? 'storeDamaged' : 'ok'),
    },
  ),
})

const getUsage = defineRoute({
  pattern: 'GET /storage/usage',
  roles: EVERYONE,
  summary: 'How many buckets, objects and versions there are, and their bytes.',
  answer: {
    200: json(
      object({
        buckets: whole(),
        objects: whole(),
        versions: whole(),
        delete_markers: whole(),
        logical_bytes: whole(),
        physical_bytes: whole(),
        unused_volume_bytes: whole(),
        multipart_uploads: whole(),
        multipart_bytes: whole(),
        by_bucket: listOf(
          object({
            name: text(),
            objects: whole(),
            logical_bytes: whole(),
            noncurrent_versions: whole(),
            noncurrent_bytes: whole(),
            delete_markers: whole(),
          }),
        ),
      }),
    ),
  },
  handle(_request, { catalog, storage }) {
    const snapshot = catalog.snapshot()
    const physical = storage.physicalBytes(snapshot)
    const totals = snapshot.totals()
    const uploads = snapshot.uploadUsage()
    const buckets = snapshot.buckets().map(({ id, name }) => {
      const usage = snapshot.bucketUsage(id)
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
      physical_bytes: physical.physicalBytes,
      unused_volume_bytes: physical.unusedVolumeBytes,
      multipart_uploads: uploads.uploads,
      multipart_bytes: uploads.bytes,
      by_bucket: buckets,
    })
  },
  command: command('storage usage', 'show how many objects and versions there are, and their bytes'),
})

/** Rows and files to examine. */
const ENTRIES = { minimum: 1, maximum: 10_000_000 } as const
const ENTRIES_STANDARD = 100_000

function findingsRecord(findings: StorageFindings, versionIds: OpaqueIds): Record<string, unknown> {
  const { examined, nextAfter, orphans, foreign } = findings
  const missing = findings.missing.map(({ kind, name, reason, objects }) => {
    const named = objects.map(({ bucket, key, version }) => {
      return { bucket, key, version_id: version === undefined ? null : versionIdOf(version, versionIds) }
    })
    return { kind, name, reason, objects: named }
  })
  const isClean = orphans.length + missing.length + foreign.length === 0
  const truncated = nextAfter !== undefined
  // A part without findings does not prove the whole, so the result is null.
  const consistent = isClean ? (truncated ? null : true) : false
  return { consistent, examined, truncated, next_after: nextAfter ?? null, orphans, missing, foreign }
}

/** @throws ManagementError INVALID_REQUEST */
function cursorOf(after: string | undefined): ReturnType<typeof inspectionCursor> {
  if (after === undefined) return undefined
  const cursor = inspectionCursor(after)
  if (cursor === undefined) throw invalid('after', 'must be the next_after of another page')
  return cursor
}

/** Exit code: damage takes precedence over disorder, and disorder over an incomplete inspection. */
function exitOfFindings({
  missing,
  consistent,
  truncated,
}: Answer): 'ok' | 'partly' | 'doctorFinding' | 'storeDamaged' {
  if (Array.isArray(missing) && missing.length > 0) return 'storeDamaged'
  if (consistent === false) return 'doctorFinding'
  return truncated === true ? 'partly' : 'ok'
}

const inspect = defineRoute({
  pattern: 'GET /storage/inspect',
  roles: EVERYONE,
  summary: 'Finds orphaned files, foreign files, and rows whose files are missing.',
  query: { maximum_entries: queryNumber(ENTRIES_STANDARD, ENTRIES), after: queryText },
  answer: { 200: json(component('StorageFindings')) },
  async handle(request, { storage, versionIds }) {
    const after = cursorOf(request.query('after'))
    const findings = await storage.inspect(request.query('maximum_entries'), after)
    return jsonResponse(200, findingsRecord(findings, versionIds))
  },
  command: command('storage inspect', 'find files without rows, foreign files, and rows without files', {
    options: {
      'maximum-entries': 'files and rows to examine (all)',
      after: 'the next_after of the page before',
    },
    joined: ['orphans', 'missing', 'foreign'],
    exit: exitOfFindings,
  }),
})

/** Of the names of removed files in the record of a repair; longer lists are replaced by a digest. */
const REMOVED_BYTES_MAXIMUM = 4096

const repair = defineRoute({
  pattern: 'POST /storage/repair',
  roles: ADMINISTRATORS,
  summary: 'Removes orphaned files; a dry run by default.',
  request: object({}, { maximum_entries: whole(ENTRIES), after: text(), dry_run: FLAG }),
  answer: { 200: json(component('StorageRepair')) },
  /** Missing files cannot be restored and are only reported. */
  async handle(request, services) {
    const { maximum_entries: maximum = ENTRIES_STANDARD, after, dry_run: dryRun = true } = await request.body()
    const cursor = cursorOf(after)
    request.journal.note('repair', dryRun ? 'dry-run' : 'remove')
    await request.journal.attempt()
    const findings = await services.storage.inspect(maximum, cursor)
    const removed = dryRun ? [] : await services.storage.remove(findings.orphans)
    const names = boundedText(JSON.stringify(removed), REMOVED_BYTES_MAXIMUM)
    request.journal.note('orphans', findings.orphans.length, 'removed', removed.length, 'removed_names', names)
    return jsonResponse(200, { dry_run: dryRun, ...findingsRecord(findings, services.versionIds), removed })
  },
  command: command('storage repair', 'show what a repair would remove, or remove it with --apply', {
    options: {
      apply: { flag: 'remove orphaned files' },
      'maximum-entries': { number: 'files and rows to examine (all)' },
      after: 'the next_after of the page before',
    },
    joined: ['orphans', 'missing', 'foreign', 'removed'],
    call: ({ apply, 'maximum-entries': maximum, after }) => ({
      body: { dry_run: !apply, maximum_entries: maximum, after },
    }),
  }),
})

export const STORAGE_ROUTES: readonly Route[] = [getStatus, getUsage, inspect, repair, beginScrub]
