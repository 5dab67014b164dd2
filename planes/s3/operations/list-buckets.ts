import type { HttpResponse } from '../../http/exchange.ts'
import { decodeContinuationToken, encodeContinuationToken, SERVICE_SCOPE } from '../continuation-token.ts'
import { listBucketsParameters } from '../list-parameters.ts'
import type { S3Request } from '../s3-request.ts'
import type { S3Services } from '../services.ts'
import { listBucketsResult } from '../xml-documents.ts'
import { xmlResponse } from '../xml-response.ts'

/** S3 API reference, ListBuckets, with its pages (`max-buckets`, `continuation-token`, `prefix`). */
export function listBuckets(request: S3Request, services: S3Services): HttpResponse {
  const { prefix, maxBuckets, continuationToken } = listBucketsParameters(request.target.query)
  const after =
    continuationToken === undefined || continuationToken === ''
      ? undefined
      : decodeContinuationToken(services.tokenKey, SERVICE_SCOPE, continuationToken).bytes.toString()
  const all = services.catalog
    .buckets()
    .filter((bucket) => bucket.name.startsWith(prefix) && (after === undefined || bucket.name > after))
  const buckets = all.slice(0, maxBuckets)
  const last = all.length > maxBuckets ? buckets.at(-1) : undefined
  const next =
    last === undefined
      ? undefined
      : encodeContinuationToken(services.tokenKey, SERVICE_SCOPE, {
          kind: 'after-key',
          bytes: Buffer.from(last.name),
        })
  const result = { owner: services.owner, buckets, continuationToken: next, prefix: prefix || undefined }
  return xmlResponse(200, listBucketsResult(result))
}
