import { decodeContinuationToken, encodeContinuationToken } from '../request/continuation-token.ts'
import { listBucketsParameters } from '../request/list-parameters.ts'
import { listBucketsResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { defineOperation } from '../handling/operation.ts'
import { threadTurns } from '../../../projections/audit/turns.ts'
import type { BucketState } from '../../../engine/state-ports.ts'
import { areAllowed } from '../policies/permissions.ts'
import type { Identity } from '../signing/identity.ts'

const ACTION = 's3:ListAllMyBuckets'

/**
 * S3 API reference, ListBuckets, with its pages (`max-buckets`, `continuation-token`, `prefix`). The action is judged for
 * each bucket (decision 0024): an account sees the buckets for which its policies allow it.
 */
export const listBuckets = defineOperation({
  name: 'ListBuckets',
  method: 'GET',
  level: 'service',
  action: ACTION,
  judgesBuckets: true,
  async handle(request, services) {
    const { prefix, maxBuckets, continuationToken } = listBucketsParameters(request.target.query)
    const { tokenKey, owner, catalog, bucketPolicies } = services
    const after = continuationToken && decodeContinuationToken(tokenKey, undefined, continuationToken).bytes.toString()
    const isListed = (name: string) => name.startsWith(prefix) && (after === undefined || name > after)
    const mayList = (resource: string) => areAllowed(request.identity, [{ action: ACTION, resource }], bucketPolicies)
    const shown = await allowed(catalog.snapshot().buckets(), request.identity, ({ name }) => mayList(`bucket:${name}`))
    // An account that is allowed it for the whole service gets an empty list of an empty store.
    if (shown.length === 0 && !mayList('bucket:*')) throw new S3Error('AccessDenied')
    const all = shown.filter(({ name }) => isListed(name))
    const buckets = all.slice(0, maxBuckets)
    const last = all.length > maxBuckets ? buckets.at(-1) : undefined
    const next = last && ({ kind: 'after-key', bytes: Buffer.from(last.name) } as const)
    const token = next && encodeContinuationToken(tokenKey, undefined, next)
    return xmlResponse(listBucketsResult({ owner, buckets, continuationToken: token, prefix }))
  },
})

/** The buckets that may be listed, judged in turns: each may have a policy of its own, which has to be read. */
async function allowed(
  buckets: readonly BucketState[],
  identity: Identity | undefined,
  mayList: (bucket: BucketState) => boolean,
): Promise<readonly BucketState[]> {
  if (identity === undefined || identity.policies === undefined) return buckets.filter(mayList)
  const turns = threadTurns.of(identity.credentialId)
  const shown: BucketState[] = []
  await turns.next()
  for (const bucket of buckets) {
    if (turns.isOver) await turns.next()
    if (mayList(bucket)) shown.push(bucket)
  }
  return shown
}
