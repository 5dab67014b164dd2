/** The ways to present oneself to the S3 plane, true and false, and what each must be told. */
import { hash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { presign, requestTarget, signHeaders } from '../../support/signing.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { pairsOf } from '../pairs.ts'
import type { Signer, Signers } from './arena.ts'
import type { S3Request } from './s3-requests.ts'

/** What x-amz-content-sha256 says. */
export interface PayloadMode {
  readonly name: string
  readonly kind: 'plain' | 'streaming' | 'foreign streaming' | 'unknown' | 'absent'
  /** Undefined: the header is not sent. */
  value(body: string): string | undefined
}

function payloadMode(name: string, kind: PayloadMode['kind']): PayloadMode {
  return { name, kind, value: () => name }
}

export const PAYLOAD_MODES: readonly PayloadMode[] = [
  { name: 'hash', kind: 'plain', value: (body) => hash('sha256', Buffer.from(body), 'hex') },
  payloadMode('UNSIGNED-PAYLOAD', 'plain'),
  payloadMode('STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'streaming'),
  payloadMode('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'streaming'),
  payloadMode('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', 'streaming'),
  payloadMode('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'foreign streaming'),
  payloadMode('SIGNED-LATER', 'unknown'),
  { name: 'no payload hash', kind: 'absent', value: () => undefined },
]

/** Who signs, and what is wrong with it. */
export interface Standing {
  readonly name: string
  readonly signer: Signer
  readonly flaw?: 'truncated' | 'absent'
  /** Whether a list of buckets shows it one, though what is attacked is denied. */
  readonly seesABucket?: true
  /** What the signature must be refused with; undefined when it is good. */
  readonly refusal: 'SignatureDoesNotMatch' | 'InvalidAccessKeyId' | 'malformed' | undefined
  /** What may be done by who is known. */
  readonly allowed: 'everything' | 'reading' | 'nothing'
}

export function standingsOf(signers: Signers): Standing[] {
  const { root, everything, denied, nothing, elsewhere, reader } = signers
  const good = { refusal: undefined, allowed: 'everything' } as const
  const known = { refusal: undefined, allowed: 'nothing' } as const
  const unknown = { refusal: 'InvalidAccessKeyId', allowed: 'nothing' } as const
  const wrong = { refusal: 'SignatureDoesNotMatch', allowed: 'nothing' } as const
  return [
    { name: 'good', signer: everything, ...good },
    { name: 'root', signer: root, ...good },
    { name: 'wrong secret', signer: { ...everything, secretKey: nothing.secretKey }, ...wrong },
    { name: 'empty secret', signer: { ...everything, secretKey: '' }, ...wrong },
    { name: 'unknown key', signer: { ...everything, accessKey: 'OSNOBODYNOBODYNOBODY' }, ...unknown },
    { name: 'truncated signature', signer: everything, flaw: 'truncated', ...wrong },
    { name: 'absent signature', signer: everything, flaw: 'absent', refusal: 'malformed', allowed: 'nothing' },
    { name: 'disabled account', signer: signers.accountDisabled, ...unknown },
    { name: 'deleted account', signer: signers.accountDeleted, ...unknown },
    { name: 'disabled credential', signer: signers.credentialDisabled, ...unknown },
    { name: 'expired temporary credential', signer: signers.expired, ...unknown },
    { name: 'deny policy', signer: denied, ...known },
    { name: 'no policy', signer: nothing, ...known },
    { name: 'policy for another bucket', signer: elsewhere, seesABucket: true, ...known },
    { name: 'policy for reading', signer: reader, refusal: undefined, allowed: 'reading' },
  ]
}

/** A request as it goes out, one byte a character. */
export interface Sent {
  readonly bytes: string
  /** Signatures that must come back in no answer and stand in no log: those sent, and those that were right. */
  readonly signatures: readonly string[]
}

/** A request that somebody signs. */
interface Signing {
  readonly request: S3Request
  readonly payload: PayloadMode
  readonly signer: Signer
  readonly host: string
}

/** What differs between the ways to present oneself. */
interface Form {
  readonly target?: string
  readonly headers: readonly HeaderLine[]
  readonly body?: string
}

type Refusal = (request: S3Request, payload: PayloadMode, standing: Standing) => S3ErrorCode | undefined

export interface Mode {
  readonly name: string
  /** Whether who signs makes a difference; otherwise one good and one wrong signer are enough. */
  readonly judges: boolean
  readonly form: (signing: Signing) => Form
  /** The code of the refusal when the request goes no further than its signature. */
  readonly refusal: Refusal
}

/** A request in one of these ways. */
export function sentIn(mode: Mode, request: S3Request, payload: PayloadMode, standing: Standing, host: string): Sent {
  const {
    target = unsignedTarget(request),
    headers,
    body = request.body,
  } = mode.form({
    request,
    payload,
    signer: standing.signer,
    host,
  })
  const text = requestBytes(request.operation.method, target, headers, body)
  return { bytes: mode.judges ? flawed(text, standing) : text, signatures: signaturesIn(text) }
}

const REGION = 'us-east-1'
const SIGNATURE = /(Signature=)([0-9a-f]{64})/
const KEPT_OF_TRUNCATED = 32
const SIGNATURE_OF_VERSION_2 = 'c2lnbmF0dXJlIG9mIHZlcnNpb24gMg=='

function flawed(text: string, { flaw }: Standing): string {
  if (flaw === undefined) return text
  const kept = flaw === 'absent' ? '' : undefined
  return text.replace(SIGNATURE, (_, name: string, hex: string) => name + (kept ?? hex.slice(0, KEPT_OF_TRUNCATED)))
}

function optional(name: string, value: string | undefined): QueryParameter[] {
  return value === undefined ? [] : [[name, value]]
}

function inHeader({ request, payload, signer, host }: Signing): HeaderLine[] {
  const { path, query, headers, body } = request
  const { method } = request.operation
  const value = payload.value(body)
  const payloadHash = value === undefined ? {} : { payloadHash: value }
  const signing = { method, path, query, headers, host, region: REGION, now: Date.now(), ...signer, ...payloadHash }
  const lines = signHeaders(signing)
  return value === undefined ? lines.filter(([name]) => name !== 'x-amz-content-sha256') : lines
}

function inQuery({ request, payload, signer, host }: Signing): string {
  const { path, headers, body, operation } = request
  const query = [...request.query, ...optional('X-Amz-Content-Sha256', payload.value(body))]
  const endpoint = `http://${host}`
  const signing = { method: operation.method, path, query, headers, region: REGION, now: Date.now(), ...signer }
  return presign({ ...signing, endpoint, expiresSeconds: 300 }).slice(endpoint.length)
}

function signaturesIn(text: string): string[] {
  return [...text.matchAll(/Signature=([0-9a-f]{64})/g)].map((match) => match[1] ?? '')
}

function unsignedTarget({ path, query }: S3Request, more: readonly QueryParameter[] = []): string {
  return requestTarget(path, [...query, ...more])
}

/** What a proxy would say of the client; nobody is a proxy here, so that nothing may be believed (S24). */
const FORWARDED = [
  ...pairsOf('x-forwarded-for=192.0.2.1&x-real-ip=192.0.2.1&forwarded=for=192.0.2.1;host=elsewhere'),
  ...pairsOf('x-forwarded-host=elsewhere&x-http-method-override=GET&x-original-url=/'),
]

function plainHeaders({ request, payload, host }: Signing): HeaderLine[] {
  const own = optional('x-amz-content-sha256', payload.value(request.body))
  return [['host', host], ...request.headers, ...own, ...FORWARDED]
}

/** Header or query alone: what is judged is the signature. */
function signatureRefusal(which: 'header' | 'presigned'): Refusal {
  return (_, payload, { refusal }) => {
    if (refusal === 'malformed') {
      return which === 'header' ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError'
    }
    if (which === 'header' && payload.kind === 'absent') return 'InvalidRequest'
    return payload.kind === 'unknown' ? 'InvalidArgument' : refusal
  }
}

function always(code: S3ErrorCode): Refusal {
  return () => code
}

/** What nobody signed is told: nothing of what there is, and of what is not done here its name. */
function anonymousRefusal({ operation }: S3Request): S3ErrorCode {
  return operation.handle !== undefined ? 'AccessDenied' : 'NotImplemented'
}

const BOUNDARY = 'the-boundary-of-the-form'

/** The form of a browser that uploads, with its policy and a signature of that policy. */
function formOf({ accessKey, secretKey }: Signer): string {
  const fields = {
    key: 'uploaded-by-form',
    policy: Buffer.from('{"expiration":"2099-01-01T00:00:00Z","conditions":[]}').toString('base64'),
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${accessKey}/20990101/${REGION}/s3/aws4_request`,
    'x-amz-date': '20990101T000000Z',
    'x-amz-signature': hash('sha256', secretKey, 'hex'),
    file: 'bytes of the file',
  }
  const part = ([name, value]: [string, string]): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return `${Object.entries(fields).map(part).join('')}--${BOUNDARY}--\r\n`
}

const hosted = ({ request, host }: Signing): HeaderLine[] => [['host', host], ...request.headers]

function modeOf(name: string, judges: boolean, refusal: Refusal, form: Mode['form']): Mode {
  return { name, judges, refusal, form }
}

const COVERED_BY_VERSION_2 = new Set(
  'acl cors lifecycle location logging notification partNumber policy requestPayment tagging torrent uploadId uploads versionId versioning versions website'.split(
    ' ',
  ),
)

/** Links are for reads, and what the signature does not cover is refused before it is judged. */
function versionTwoRefusal({ operation, query }: S3Request, _payload: PayloadMode, { refusal }: Standing): S3ErrorCode {
  const isCovered = query.every(([name]) => COVERED_BY_VERSION_2.has(name))
  if ((operation.method !== 'GET' && operation.method !== 'HEAD') || !isCovered) return 'AccessDenied'
  return refusal === 'InvalidAccessKeyId' ? refusal : 'SignatureDoesNotMatch'
}

export const MODES: readonly Mode[] = [
  modeOf('header', true, signatureRefusal('header'), (signing) => ({ headers: inHeader(signing) })),
  modeOf('presigned', true, signatureRefusal('presigned'), (signing) => {
    return { target: inQuery(signing), headers: hosted(signing) }
  }),
  modeOf('header and query', false, always('InvalidArgument'), (signing) => {
    return { target: inQuery(signing), headers: inHeader(signing) }
  }),
  modeOf('anonymous', false, anonymousRefusal, (signing) => ({ headers: plainHeaders(signing) })),
  modeOf('form of a browser', false, anonymousRefusal, (signing) => {
    const type: HeaderLine = ['content-type', `multipart/form-data; boundary=${BOUNDARY}`]
    return { headers: [...plainHeaders(signing), type], body: formOf(signing.signer) }
  }),
  modeOf('unknown algorithm in the header', false, always('InvalidRequest'), (signing) => ({
    headers: inHeader(signing).map(([name, value]) => [name, value.replace('AWS4-HMAC-SHA256 ', 'AWS4-HMAC-SHA512 ')]),
  })),
  modeOf('unknown algorithm in the query', false, always('AuthorizationQueryParametersError'), (signing) => {
    return { target: inQuery(signing).replace('=AWS4-HMAC-SHA256', '=AWS4-HMAC-NONE'), headers: hosted(signing) }
  }),
  modeOf('SigV2 in the header', false, always('InvalidRequest'), (signing) => {
    const value = `AWS ${signing.signer.accessKey}:${SIGNATURE_OF_VERSION_2}`
    return { headers: [...plainHeaders(signing), ['authorization', value]] }
  }),
  modeOf('SigV2 in the query', false, versionTwoRefusal, (signing) => {
    const target = unsignedTarget(signing.request, [
      ['AWSAccessKeyId', signing.signer.accessKey],
      ['Expires', String(Math.floor(Date.now() / 1000) + 300)],
      ['Signature', SIGNATURE_OF_VERSION_2],
    ])
    return { target, headers: plainHeaders(signing) }
  }),
]
