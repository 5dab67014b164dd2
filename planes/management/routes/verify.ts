import type { BucketState } from '../../../engine/state-ports.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { orderedPositionAfter } from '../../objects/list-pages.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { defineRoute, EVERYONE, json, type Route, type RouteRequest } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import { bucketIn, requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'
import type { HeavyPlace } from '../heavy-work.ts'
import { JSON_HEADERS, jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { queryCount, queryText, queryWord } from '../schemas/query.ts'
import { FLAG, listOf, object, oneOf, orNull, SHA256, text, whole } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { VerificationSource } from '../verification/verification-source.ts'
import { type BucketSpan, BucketVerification, DAMAGED_MAXIMUM } from '../verification/verify-bucket.ts'
import { type Verification, verifyVersion } from '../verification/verify-version.ts'
import { orderOf } from './object-lists.ts'
import type { FoundObject } from '../../objects/find-object.ts'

/** @throws ClientGoneError, BodyRemovedError, UnreadableVersionError */
async function verify(found: FoundObject, place: HeavyPlace, services: ManagementServices): Promise<Verification> {
  const reading = verifyVersion(found, services)
  try {
    for (;;) {
      const step = await reading.next()
      if (step.done === true) return step.value
      await place.pause()
    }
  } finally {
    await reading.return({ verdict: 'pending', expected: undefined, computed: undefined })
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
  handle(request, services) {
    return services.heavy.run('verify-object', request, async (place) => {
      // Looked up after the wait for a place: a snapshot is valid for one turn of the event loop.
      const found = requireVersion(request, services)
      const { verdict, expected, computed } = await verify(found, place, services)
      return jsonResponse(200, {
        bucket: found.bucket.name,
        key: found.key,
        version_id: versionIdOf(found.object, services.versionIds),
        size: found.object.size,
        status: verdict,
        expected_sha256: expected ?? null,
        computed_sha256: computed ?? null,
      })
    })
  },
  command: command('verify object', 'read an object and compare it with its digest', {
    arguments: { bucket: 'text', key: 'text' },
    options: { 'version-id': 'this version instead of the current one' },
    exit: ({ status }) => (status === 'damaged' ? 'storeDamaged' : 'ok'),
  }),
})

const BUCKET_QUERY = {
  versions: queryWord('all', 'current'),
  maximum_entries: queryCount,
  after: queryText,
  after_version_id: queryText,
}
type BucketRequest = RouteRequest<string, typeof BUCKET_QUERY, never>

/** @throws ManagementError INVALID_REQUEST, VERSION_NOT_FOUND */
function spanOf(request: BucketRequest, bucket: BucketState, services: ManagementServices): BucketSpan {
  const key = request.query('after') || undefined
  const versionId = request.query('after_version_id')
  if (versionId !== undefined && key === undefined) throw invalid('after_version_id', 'is allowed only with after')
  const order = orderOf(versionId, services.catalog.snapshot(), bucket.id, key, services)
  return {
    after: orderedPositionAfter(key, order, '', undefined),
    afterVersion: key === undefined ? undefined : { key, versionId },
    maximum: request.query('maximum_entries') ?? Number.POSITIVE_INFINITY,
    currentOnly: request.query('versions') === 'current',
  }
}

/** @throws BusyError, ClientGoneError, ManagementError VERIFICATION_RUNNING, UnreadableVersionError */
async function verifyWhole(
  request: BucketRequest,
  bucket: BucketState,
  span: BucketSpan,
  services: ManagementServices,
): Promise<HttpResponse> {
  const { heavy } = services
  if (!heavy.claimBucket(bucket.id)) throw new ManagementError('VERIFICATION_RUNNING')
  let place: HeavyPlace
  try {
    place = heavy.enterVerification(request)
  } catch (error) {
    heavy.releaseBucket(bucket.id)
    throw error
  }
  const body = await VerificationSource.open(
    bucket.name,
    new BucketVerification(bucket, span, services),
    place,
    (error) => {
      const { code, message } = request.fault(error)
      return { code, message }
    },
    () => {
      place.leave()
      heavy.releaseBucket(bucket.id)
    },
  )
  return { status: 200, headers: JSON_HEADERS, body }
}

const verifyBucket = defineRoute({
  pattern: 'POST /verify/buckets/{bucket}',
  roles: EVERYONE,
  summary: 'Reads every version of a bucket and compares it with its digest.',
  changes: false,
  query: BUCKET_QUERY,
  answer: {
    200: json(
      object({
        bucket: text(),
        progress: listOf(object({ examined: whole(), bytes: whole(), damaged: whole() })),
        examined: whole(),
        bytes: whole(),
        verified: whole(),
        damaged: whole(),
        pending: whole(),
        damaged_objects: listOf(object({ key: text(), version_id: text() }), { maximum: DAMAGED_MAXIMUM }),
        complete: FLAG,
        next_after: orNull(text()),
        next_after_version_id: orNull(text()),
        error: orNull(object({ code: text(), message: text() })),
      }),
    ),
  },
  errors: ['CONFLICT', 'VERSION_NOT_FOUND', 'VERIFICATION_RUNNING'],
  /**
   * The answer lasts as long as the verification, with lines of progress. `complete` is false if it ended early: after
   * `maximum_entries`, at too many damaged versions to list, or at `error`.
   */
  handle(request, services) {
    const bucket = bucketIn(services.catalog.snapshot(), request.parameters.bucket)
    return verifyWhole(request, bucket, spanOf(request, bucket, services), services)
  },
})

export const VERIFY_ROUTES: readonly Route[] = [verifyObject, verifyBucket]
