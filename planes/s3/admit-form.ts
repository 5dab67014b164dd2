/** How a form is admitted: what its head must be, what its policy lets through, and the PutObject that it asks for. */
import type { Milliseconds } from '../../engine/brands.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { S3Error } from './errors/s3-errors.ts'
import type { FormBody } from './forms/form-body.ts'
import { isFormType } from './forms/form-parts.ts'
import { judgeForm } from './forms/form-policy.ts'
import type { FormFields } from './forms/form-reader.ts'
import { FormRequest } from './forms/form-request.ts'
import type { Operation } from './handling/operation.ts'
import type { S3Services } from './handling/services.ts'
import { missingField } from './identity/form-claims.ts'
import { NO_PARAMETERS } from './request/query-parameters.ts'
import { checkKeyLength, type Target } from './request/target.ts'
import { encodeUri } from './text/uri-encoding.ts'
import { refuseUnsupportedHeaders } from './unsupported-headers.ts'

/** A request that is signed in its query, as S3 does not take forms. */
const SIGNED_QUERY = /(?:^|&)(?:x-amz-|awsaccesskeyid=)/i

/** Whether the body is a form that its fields sign, by the head. */
export function isFormHead(http: HttpRequest): boolean {
  return isFormType(http.header('content-type')) && !http.header('authorization') && !SIGNED_QUERY.test(http.query)
}

/** The target of the object that a form names; its bucket where it names none. The query of a form says nothing. */
export function keyedTarget({ bucket = '', canonicalPath }: Target, fields: FormFields): Target {
  const key = fields.get('key') || undefined
  const path = key === undefined ? canonicalPath : `/${encodeUri(bucket, false)}/${encodeUri(key, true)}`
  return { bucket, key, canonicalPath: path, query: NO_PARAMETERS }
}

/** A form whose signature is right. */
interface SignedForm {
  readonly http: HttpRequest
  readonly target: Target
  /** With their variables expanded. */
  readonly fields: FormFields
  readonly file: FormBody
}

/**
 * Judges a form by its policy, and bounds its file.
 * @returns the PutObject that it asks for
 * @throws S3Error AccessDenied (a header without a signature, the policy), InvalidPolicyDocument, InvalidArgument, InvalidRequest,
 *   KeyTooLongError, EntityTooLarge; for the fields as for headers
 */
export function admitForm(
  { http, target, fields, file }: SignedForm,
  operation: Operation,
  services: S3Services,
  now: Milliseconds,
): HttpRequest {
  refuseUnsigned(http)
  const { bucket = '', key } = target
  if (key === undefined) throw missingField('key')
  checkKeyLength(key)
  if ((fields.get('bucket') ?? bucket) !== bucket) {
    throw new S3Error('InvalidRequest', { message: 'The form is for another bucket than the one that it was sent to.' })
  }
  const { least, most } = judgeForm(fields.get('policy') ?? '', new Map([...fields, ['bucket', bucket]]), now)
  file.limit({ least, most: Math.min(most, operation.bodyBytesMaximum) })
  const formed = new FormRequest(http, fields, file)
  refuseUnsupportedHeaders(formed, target, operation, services)
  return formed
}

/** Each holder of a form could add such a header, which no policy covers. */
function refuseUnsigned({ headers }: HttpRequest): void {
  const names = headers.map(([name]) => name).filter((name) => name.startsWith('x-amz-'))
  if (names.length === 0) return
  const message = 'There were headers present in the request which were not signed'
  throw new S3Error('AccessDenied', { message, details: [['HeadersNotSigned', names.join(', ')]] })
}
