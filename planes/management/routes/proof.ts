import type { ProofHistory } from '../../../engine/proof/bundle-types.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { ManagementError } from '../errors.ts'
import type { ManagementRequest } from '../management-request.ts'
import { digestOf, requireVersion, versionIdOf } from '../object-lookup.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../timestamps.ts'

/** No checkpoints are made, so no record is covered by one (specification, Proof bundle). */
const NO_CHECKPOINTS: ProofHistory = {
  status: 'unavailable',
  reason: 'not_yet_checkpointed',
  detail: 'This deployment makes no checkpoints of its audit chain; the bundle proves the bytes and not the history.',
}

/**
 * A signed proof bundle of one version.
 * @throws ManagementError as requireVersion, DIGEST_PENDING, CONFLICT when the version was removed meanwhile
 */
export function getProof(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const found = requireVersion(request, services)
  const { bucket, key, object } = found
  const sha256 = digestOf(found, services)
  if (sha256 === undefined) throw new ManagementError('DIGEST_PENDING')
  const contentType = contentTypeOf(object.headers)
  const bundle = services.proofs.sign({
    object: {
      bucket: bucket.name,
      key,
      version_id: versionIdOf(object, services),
      size: object.size,
      ...(contentType === undefined ? {} : { content_type: contentType }),
      created_at: rfc3339(object.modifiedMicroseconds),
    },
    sha256,
    history: NO_CHECKPOINTS,
  })
  return jsonResponse(200, bundle)
}

/** `headers`: name, value, name, value. */
function contentTypeOf(headers: readonly string[]): string | undefined {
  const name = headers.findIndex((text, index) => index % 2 === 0 && text === 'content-type')
  return name === -1 ? undefined : headers[name + 1]
}
