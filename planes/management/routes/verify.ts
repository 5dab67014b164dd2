import { createHash } from 'node:crypto'
import { findObject, type FoundObject } from '../../objects/find-object.ts'
import { piecesOf, readObject } from '../../objects/read-object.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { defineRoute, EVERYONE, json, type Route } from '../define-route.ts'
import { ManagementError } from '../errors.ts'
import { digestOf, requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../route-command.ts'
import { queryNumber, queryText } from '../schemas/query.ts'
import { listOf, object, oneOf, orNull, SHA256, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { requireBucket } from './buckets.ts'

/** `pending`: every block is intact, and the digest of the whole is not known yet. */
type Verdict = 'verified' | 'damaged' | 'pending'

interface Verification {
  readonly verdict: Verdict
  /** Recorded SHA-256; undefined if not known yet. */
  readonly expected: string | undefined
  /** SHA-256 of the bytes; undefined if they cannot be read. */
  readonly computed: string | undefined
}

/**
 * Reads the bytes, checks each block, and compares the whole with the recorded digest.
 * @throws ManagementError CONFLICT if the version was removed meanwhile
 */
async function verify(found: FoundObject, services: ManagementServices): Promise<Verification> {
  const expected = digestOf(found)
  let computed: string
  try {
    computed = await hashOf(found, services)
  } catch {
    if (!isStillThere(found, services)) throw new ManagementError('CONFLICT')
    return { verdict: 'damaged', expected, computed: undefined }
  }
  if (expected === undefined) return { verdict: 'pending', expected, computed }
  return { verdict: computed === expected ? 'verified' : 'damaged', expected, computed }
}

function isStillThere({ bucket, key, object: { isNull, sequence } }: FoundObject, { catalog }: ManagementServices) {
  return catalog.snapshot().version(bucket.id, key, isNull ? 'null' : sequence)?.sequence === sequence
}

async function hashOf(found: FoundObject, services: ManagementServices): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(await readObject(services, found, 0, found.object.size))) hash.update(piece)
  return hash.digest('hex')
}

/** Undefined if the object was removed meanwhile. */
async function verdictOf(found: FoundObject, services: ManagementServices): Promise<Verdict | undefined> {
  try {
    return (await verify(found, services)).verdict
  } catch (error) {
    if (error instanceof ManagementError && error.code === 'CONFLICT') return undefined
    throw error
  }
}

const verifyObject = defineRoute({
  pattern: 'POST /verify/objects/{bucket}/{key}',
  roles: EVERYONE,
  summary: 'Reads one object and compares it with its digest.',
  changes: false,
  query: VERSION_QUERY,
  answer: {
    200: json(
      object({
        bucket: text(),
        key: text(),
        version_id: text(),
        size: whole(),
        status: oneOf('verified', 'damaged', 'pending'),
        expected_sha256: orNull(SHA256),
        computed_sha256: orNull(SHA256),
      }),
    ),
  },
  errors: [...VERSION_ERRORS, 'CONFLICT'],
  async handle(request, services) {
    const found = requireVersion(request, services)
    const { verdict, expected, computed } = await verify(found, services)
    return jsonResponse(200, {
      bucket: found.bucket.name,
      key: found.key,
      version_id: versionIdOf(found.object, services.versionIds),
      size: found.object.size,
      status: verdict,
      expected_sha256: expected ?? null,
      computed_sha256: computed ?? null,
    })
  },
  command: command('verify object', 'read an object and compare it with its digest', {
    arguments: { bucket: 'text', key: 'text' },
    options: { 'version-id': 'this version instead of the current one' },
    exit: ({ status }) => (status === 'damaged' ? 'storeDamaged' : 'ok'),
  }),
})

const PAGE = 100
/** Damaged objects listed in the answer; all are counted. */
const NAMED_MAXIMUM = 1000

const verifyBucket = defineRoute({
  pattern: 'POST /verify/buckets/{bucket}',
  roles: EVERYONE,
  summary: 'Reads every object of a bucket and compares it with its digest.',
  changes: false,
  query: { maximum_entries: queryNumber(1000, { minimum: 1, maximum: 100_000 }), after: queryText },
  answer: {
    200: json(
      object({
        bucket: text(),
        examined: whole(),
        verified: whole(),
        damaged: whole(),
        pending: whole(),
        damaged_objects: listOf(object({ key: text(), version_id: text() })),
        next_after: orNull(text()),
      }),
    ),
  },
  errors: ['CONFLICT'],
  /** Current objects after `after`, at most `maximum_entries`. */
  async handle(request, services) {
    const bucket = requireBucket(request, services)
    const maximum = request.query('maximum_entries')
    const counts = { verified: 0, damaged: 0, pending: 0 }
    const damaged: unknown[] = []
    let after = request.query('after')
    let examined = 0
    for (;;) {
      const page = services.catalog.snapshot().list(bucket.id, {
        prefix: Buffer.alloc(0),
        delimiter: undefined,
        after: after === undefined ? undefined : { kind: 'after-key', bytes: Buffer.from(after) },
        entriesMaximum: Math.min(PAGE, maximum - examined),
      })
      for (const { key } of page.objects) {
        const found = findObject(services.catalog.snapshot(), bucket, key, undefined)
        after = key
        examined += 1
        const verdict = found.kind === 'found' ? await verdictOf(found, services) : undefined
        // Removed since the page was read.
        if (found.kind !== 'found' || verdict === undefined) continue
        counts[verdict] += 1
        if (verdict === 'damaged' && damaged.length < NAMED_MAXIMUM) {
          damaged.push({ key, version_id: versionIdOf(found.object, services.versionIds) })
        }
      }
      if (page.next === undefined || examined >= maximum) {
        const next = page.next === undefined ? null : (after ?? null)
        return jsonResponse(200, {
          bucket: bucket.name,
          examined,
          ...counts,
          damaged_objects: damaged,
          next_after: next,
        })
      }
    }
  },
  command: command('verify bucket', 'read the objects of a bucket and compare them with their digests', {
    arguments: { bucket: 'text' },
    options: { 'maximum-entries': 'maximum number of objects to read', after: 'continue after this key' },
    exit: ({ damaged }) => (Number(damaged) > 0 ? 'storeDamaged' : 'ok'),
  }),
})

export const VERIFY_ROUTES: readonly Route[] = [verifyObject, verifyBucket]
