/** What the fields of a form say about its signature (S3 developer guide, "Authenticating requests in browser-based uploads"). */
import type { Milliseconds } from '../../../engine/brands.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import type { FormFields } from '../forms/form-reader.ts'
import type { Scope } from '../signing/signature-v4.ts'
import { ALGORITHM } from '../signing/signature-v4.ts'
import { parseAmzDate } from '../text/timestamps.ts'
import { formCredential, unsupportedMechanism } from './signature-claims.ts'

/** The fields that a signed form has, as S3 spells them in errors. */
const FIELDS = ['Policy', 'X-Amz-Algorithm', 'X-Amz-Credential', 'X-Amz-Date', 'X-Amz-Signature'] as const
/** Fields of Signature Version 2. */
const VERSION_TWO = ['awsaccesskeyid', 'signature'] as const

export interface FormClaims {
  readonly accessKey: string
  readonly scope: Scope
  readonly timeMilliseconds: number
  /** The text that is signed: the policy in base64, as it was sent. */
  readonly policy: string
  /** As sent; not yet known to be hex. */
  readonly signature: string
}

/**
 * The claims of a form; undefined where it claims nothing.
 * @throws S3Error InvalidRequest (version 2), InvalidArgument (a field that is missing or of another form)
 */
export function formClaims(fields: FormFields): FormClaims | undefined {
  const [policy, algorithm, credential, date, signature] = FIELDS.map((name) => fields.get(name.toLowerCase()))
  const [, ...own] = [policy, algorithm, credential, date, signature]
  if (own.every((value) => value === undefined)) {
    if (VERSION_TWO.some((name) => fields.has(name))) throw unsupportedMechanism()
    return undefined
  }
  const missing = FIELDS.find((name) => !fields.get(name.toLowerCase()))
  if (missing !== undefined) throw missingField(missing)
  if (algorithm !== ALGORITHM)
    throw invalidArgument('X-Amz-Algorithm', algorithm ?? '', `X-Amz-Algorithm must be ${ALGORITHM}.`)
  const { accessKey, scope } = formCredential(credential ?? '')
  const timeMilliseconds = parseAmzDate(date ?? '')
  if (timeMilliseconds === undefined)
    throw invalidArgument('X-Amz-Date', date ?? '', 'X-Amz-Date must have the form yyyymmddThhmmssZ.')
  if (!(date ?? '').startsWith(`${scope.date}T`))
    throw invalidArgument('X-Amz-Date', date ?? '', 'The day in the credential is not the day of X-Amz-Date.')
  return { accessKey, scope, timeMilliseconds, policy: policy ?? '', signature: signature ?? '' }
}

/**
 * The refusal of a form without a field, in S3's words. Fields after the file are not read, which is the usual cause.
 * @param name as S3 spells it
 */
export function missingField(name: string): S3Error {
  const message = `Bucket POST must contain a field named '${name}'.  If it is specified, please check the order of the fields.`
  return invalidArgument(name, '', message)
}

/**
 * A form has no age of its own: its policy says until when it holds.
 * @throws S3Error AccessDenied for a form that was signed in the future
 */
export function checkFormTime({ timeMilliseconds }: FormClaims, now: Milliseconds, skewMilliseconds: number): void {
  if (now >= timeMilliseconds - skewMilliseconds) return
  const details = [['ServerTime', new Date(now).toISOString()]] as const
  throw new S3Error('AccessDenied', { message: 'Request is not valid yet', details })
}
