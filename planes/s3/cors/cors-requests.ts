/**
 * CORS in the pipeline: preflights, the only requests that are never signed, and the headers of every other answer.
 */

import type { CorsRule } from '../../../engine/events/values.ts'
import type { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import type { HeaderLine, HttpRequest, HttpResponse } from '../../http/exchange.ts'
import { corsHeaders, preflightHeaders } from './cors-match.ts'
import type { Target } from '../request/target.ts'

const NONE: readonly HeaderLine[] = []

/**
 * Whether a request is a preflight (Fetch standard, CORS-preflight request). Browsers send it without credentials, so
 * it is answered without authentication, even if it is signed.
 */
export function isPreflight(http: HttpRequest): boolean {
  return http.method === 'OPTIONS' && http.path !== '/'
}

/**
 * S3 user guide, "Using cross-origin resource sharing". Reveals nothing about objects, nor whether the bucket exists
 * (S9).
 * @throws S3Error BadRequest, AccessForbidden
 */
export function answerPreflight(http: HttpRequest, target: Target, catalog: CatalogReader): HttpResponse {
  return { status: 200, headers: preflightHeaders(http, rulesOf(target, catalog)) }
}

/** The headers to add to the answer to any other request. Without an Origin the bucket is not looked up. */
export function crossOriginHeaders(http: HttpRequest, target: Target, catalog: CatalogReader): readonly HeaderLine[] {
  return http.header('origin') === undefined ? NONE : corsHeaders(http, rulesOf(target, catalog))
}

/** The CORS rules of the bucket of a request; empty for a missing bucket. */
function rulesOf(target: Target, catalog: CatalogReader): readonly CorsRule[] {
  if (target.bucket === undefined) return []
  const snapshot = catalog.snapshot()
  const bucket = snapshot.bucket(target.bucket)
  return bucket === undefined ? [] : snapshot.cors(bucket.id)
}
