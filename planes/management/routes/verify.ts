import { createHash } from 'node:crypto'
import type { HttpResponse } from '../../http/exchange.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { digestOf, type FoundVersion, requireVersion, versionIdOf } from '../object-lookup.ts'
import { integerParameter } from '../query-values.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { requireBucket } from './buckets.ts'
import { openBytes } from './objects.ts'

/** What reading an object back found. `pending`: it is whole block by block, and its digest is not known yet. */
type Verdict = 'verified' | 'damaged' | 'pending'

interface Verification {
  readonly verdict: Verdict
  /** SHA-256 as recorded, undefined when it is not known yet. */
  readonly expected: string | undefined
  /** SHA-256 of what was read, undefined when it could not be read. */
  readonly computed: string | undefined
}

/**
 * Reads the bytes, block by block proved, and holds them against the recorded digest.
 * @throws ManagementError CONFLICT when the version was removed meanwhile
 */
async function verify(found: FoundVersion, services: ManagementServices): Promise<Verification> {
  const expected = digestOf(found, services)
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

function isStillThere({ bucket, key, object }: FoundVersion, { catalog }: ManagementServices): boolean {
  catalog.refresh()
  const version = catalog.version(bucket.id, key, object.isNull ? 'null' : object.sequence)
  return version?.sequence === object.sequence
}

async function hashOf(found: FoundVersion, services: ManagementServices): Promise<string> {
  const body = await openBytes(found, services)
  const hash = createHash('sha256')
  if (typeof body === 'string' || Buffer.isBuffer(body)) return hash.update(body).digest('hex')
  try {
    for (;;) {
      const piece = await body.next()
      if (piece === undefined) return hash.digest('hex')
      hash.update(piece)
    }
  } finally {
    body.close()
  }
}

export async function verifyObject(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const found = requireVersion(request, services)
  const { verdict, expected, computed } = await verify(found, services)
  return jsonResponse(200, {
    bucket: found.bucket.name,
    key: found.key,
    version_id: versionIdOf(found.object, services),
    size: found.object.size,
    status: verdict,
    expected_sha256: expected ?? null,
    computed_sha256: computed ?? null,
  })
}

const ENTRIES = { minimum: 1, maximum: 100_000, standard: 1000 } as const
const PAGE = 100
/** Damaged objects that are named. */
const NAMED_MAXIMUM = 1000

/** Current objects from behind `after` on, at most `maximum_entries`. */
export async function verifyBucket(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const bucket = requireBucket(request, services)
  const maximum = integerParameter(request, 'maximum_entries', ENTRIES)
  const counts = { verified: 0, damaged: 0, pending: 0 }
  const damaged: unknown[] = []
  let after = request.query.get('after')
  let examined = 0
  for (;;) {
    const page = services.catalog.list(bucket.id, {
      prefix: Buffer.alloc(0),
      delimiter: undefined,
      after: after === undefined ? undefined : { kind: 'after-key', bytes: Buffer.from(after) },
      entriesMaximum: Math.min(PAGE, maximum - examined),
    })
    for (const { key } of page.objects) {
      const object = services.catalog.object(bucket.id, key)
      after = key
      examined += 1
      const verdict = object && (await verdictOf({ bucket, key, object }, services))
      // Removed since the page was read.
      if (object === undefined || verdict === undefined) continue
      counts[verdict] += 1
      if (verdict === 'damaged' && damaged.length < NAMED_MAXIMUM) {
        damaged.push({ key, version_id: versionIdOf(object, services) })
      }
    }
    if (page.next === undefined || examined >= maximum) {
      const next = page.next === undefined ? null : (after ?? null)
      return jsonResponse(200, { bucket: bucket.name, examined, ...counts, damaged_objects: damaged, next_after: next })
    }
  }
}

/** Undefined for an object that was removed meanwhile. */
async function verdictOf(found: FoundVersion, services: ManagementServices): Promise<Verdict | undefined> {
  try {
    return (await verify(found, services)).verdict
  } catch (error) {
    if (error instanceof ManagementError && error.code === 'CONFLICT') return undefined
    throw error
  }
}
