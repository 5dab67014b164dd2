import { decodeContinuationToken, encodeContinuationToken } from '../request/continuation-token.ts'
import { listBucketsParameters } from '../request/list-parameters.ts'
import { listBucketsResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'

/** S3 API reference, ListBuckets, with its pages (`max-buckets`, `continuation-token`, `prefix`). */
export const listBuckets = defineOperation({
  name: 'ListBuckets',
  method: 'GET',
  level: 'service',
  action: 's3:ListAllMyBuckets',
  handle(request, services) {
    const { prefix, maxBuckets, continuationToken } = listBucketsParameters(request.target.query)
    const { tokenKey, owner, catalog } = services
    const after = continuationToken && decodeContinuationToken(tokenKey, undefined, continuationToken).bytes.toString()
    const isListed = (name: string) => name.startsWith(prefix) && (after === undefined || name > after)
    const all = catalog
      .snapshot()
      .buckets()
      .filter(({ name }) => isListed(name))
    const buckets = all.slice(0, maxBuckets)
    const last = all.length > maxBuckets ? buckets.at(-1) : undefined
    const next = last && ({ kind: 'after-key', bytes: Buffer.from(last.name) } as const)
    const token = next && encodeContinuationToken(tokenKey, undefined, next)
    return xmlResponse(listBucketsResult({ owner, buckets, continuationToken: token, prefix }))
  },
})
