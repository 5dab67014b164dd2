/** Ways to spoil a signed request, each with the codes that may answer it. */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { UNSUPPORTED_HEADERS } from '../../../planes/s3/unsupported-headers.ts'
import type { Random } from '../../support/random.ts'
import { BUCKET, OTHER_BUCKET } from './arena.ts'
import type { SignedRequest } from './signed-requests.ts'

export interface Tampered {
  readonly name: string
  readonly request: SignedRequest
  /** Any of these codes may answer it. */
  readonly codes: readonly string[]
}

export type Tampering = (base: SignedRequest, random: Random) => Tampered[]

const FORGED = ['SignatureDoesNotMatch']
/** In the header, in the query. */
const MALFORMED = ['AuthorizationHeaderMalformed', 'AuthorizationQueryParametersError']

function withHeaders(base: SignedRequest, headers: readonly HeaderLine[]): SignedRequest {
  return { ...base, headers }
}

function withTarget(base: SignedRequest, target: string): SignedRequest {
  return { ...base, target }
}

/** Replaces in whichever of the two carries the signature. */
function replaced(base: SignedRequest, from: string | RegExp, to: string): SignedRequest {
  if (base.mode === 'presigned') return withTarget(base, base.target.replace(from, to))
  return withHeaders(
    base,
    base.headers.map(([name, value]) => [name, name === 'authorization' ? value.replace(from, to) : value]),
  )
}

function signedHeaderNames(base: SignedRequest): string[] {
  return base.headers.map(([name]) => name).filter((name) => name !== 'authorization')
}

/** Codes for a header that is changed: some are read before they are found not to be signed like this. */
function codesOfChanged(name: string): string[] {
  const own: Readonly<Record<string, readonly string[]>> = {
    'x-amz-date': ['AccessDenied', ...MALFORMED],
    'x-amz-content-sha256': ['InvalidArgument', 'InvalidRequest'],
  }
  return [...FORGED, ...(own[name] ?? [])]
}

const everySignedHeader: Tampering = (base) =>
  signedHeaderNames(base).flatMap((name): Tampered[] => {
    const other = base.headers.filter((line) => line[0] !== name)
    const value = base.headers.find((line) => line[0] === name)?.[1] ?? ''
    const codes = codesOfChanged(name)
    // Without a host no request is one; with two of the same neither.
    const isHost = name === 'host'
    return [
      { name: `${name} changed`, request: withHeaders(base, [...other, [name, `${value}0`]]), codes },
      { name: `${name} emptied`, request: withHeaders(base, [...other, [name, '']]), codes },
      {
        name: `${name} twice`,
        request: withHeaders(base, [...base.headers, [name, value]]),
        codes: isHost ? ['BadRequest', 'INVALID_REQUEST'] : codes,
      },
      ...(isHost ? [] : [{ name: `${name} left out`, request: withHeaders(base, other), codes }]),
    ]
  })

/** Names of headers that steer: those of the page of headers that are refused, and those that are read. */
const STEERING: readonly string[] = [
  ...UNSUPPORTED_HEADERS.map(({ name }) => name.replace('*', 'x')),
  ...'x-amz-copy-source x-amz-metadata-directive x-amz-meta-added x-amz-content-sha256 x-amz-date'.split(' '),
  ...'x-amz-checksum-crc32 x-amz-never-heard-of x-amz-'.split(' '),
]

const unsignedAdditions: Tampering = (base) => {
  const present = new Set(base.headers.map(([name]) => name))
  const added = STEERING.filter((name) => !present.has(name))
  return added.flatMap((name): Tampered[] => [
    {
      name: `${name} added`,
      request: withHeaders(base, [...base.headers, [name, 'x']]),
      // What is read of the signature itself may be wrong before it is found not to be signed.
      codes: ['AccessDenied', 'InvalidArgument'],
    },
    {
      name: `${name} added in the query`,
      request: withTarget(base, `${base.target}${base.target.includes('?') ? '&' : '?'}${name}=x`),
      codes: [...FORGED, 'InvalidArgument', ...MALFORMED],
    },
  ])
}

const AUTHENTICATION_PARAMETERS =
  'X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires X-Amz-SignedHeaders X-Amz-Signature'.split(' ')

const everyParameter: Tampering = (base) => {
  const [path = '', query = ''] = base.target.split('?')
  const pieces = query === '' ? [] : query.split('&')
  const codes = [...FORGED, 'InvalidArgument', 'AccessDenied', ...MALFORMED]
  const asking = (list: readonly string[]): SignedRequest => withTarget(base, `${path}?${list.join('&')}`)
  const spoiled = pieces.flatMap((piece, index): Tampered[] => {
    const name = piece.split('=')[0] ?? ''
    const rest = pieces.filter((_, other) => other !== index)
    return [
      // Without its mark a list is another operation, which does not exist here: the signature is looked at first.
      { name: `query without ${name}`, request: asking(rest), codes },
      { name: `query with ${name} changed`, request: asking([...rest, `${piece}0`]), codes },
      { name: `query with ${name} twice`, request: asking([...pieces, piece]), codes },
      { name: `query with another ${name} first`, request: asking([`${name}=x`, ...pieces]), codes },
      { name: `query with ${name} in small letters`, request: asking([...pieces, piece.toLowerCase()]), codes },
    ]
  })
  const more = [...AUTHENTICATION_PARAMETERS, 'versionId', 'uploadId', 'acl', 'response-content-type', 'AWSAccessKeyId']
  const added = more.map((name): Tampered => {
    const target = `${base.target}${base.target.includes('?') ? '&' : '?'}${name}=x`
    return {
      name: `query with ${name} added`,
      request: withTarget(base, target),
      codes: [...codes, 'AccessDenied', 'InvalidRequest'],
    }
  })
  return [...spoiled, ...added]
}

const everyPath: Tampering = (base) => {
  const [path = '', query] = base.target.split('?')
  const to = (name: string, other: string): Tampered => ({
    name: `path ${name}`,
    request: withTarget(base, query === undefined ? other : `${other}?${query}`),
    codes: [...FORGED, 'InvalidURI'],
  })
  return [
    to('of another key', `${path}x`),
    to('of a key that is there', `/${BUCKET}/source`),
    to('of another bucket', path.replace(BUCKET, OTHER_BUCKET)),
    to('in capitals', path.toUpperCase()),
    to('with a slash behind', `${path}/`),
    to('with a slash before', `/${path}`),
    to('with an encoded slash behind', `${path}%2F`),
    to('with a dot', path.replace(/\/([^/]*)$/, '/./$1')),
    to('with two dots', `${path}/../${path.split('/').at(-1)}`),
    to('with encoded dots', `/x/%2e%2e${path}`),
    to('with NUL', `${path}%00`),
    to('of the service', '/'),
  ]
}

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'COPY', 'get']

const everyMethod: Tampering = (base) =>
  METHODS.filter((method) => method !== base.method).map((method) => ({
    name: `method ${method}`,
    request: { ...base, method },
    codes: FORGED,
  }))

const bodies: Tampering = (base) => {
  if (base.body === '') return []
  const codes = ['XAmzContentSHA256Mismatch', 'BadDigest']
  const to = (name: string, body: string): Tampered => ({ name, request: { ...base, body }, codes })
  return [
    to('body changed', base.body.replace(/^./, 'B')),
    to('body cut', base.body.slice(1)),
    to('body longer', `${base.body}x`),
    to('body empty', ''),
  ]
}

/** The line that carries the signature: twice, emptied, left out, of other schemes. */
const authorizationLines: Tampering = (base) => {
  const own = base.headers.find(([name]) => name === 'authorization')?.[1]
  if (own === undefined) return []
  const others = base.headers.filter(([name]) => name !== 'authorization')
  const to = (name: string, codes: readonly string[], ...values: readonly string[]): Tampered => ({
    name: `authorization ${name}`,
    request: withHeaders(base, [...others, ...values.map((value) => ['authorization', value] as const)]),
    codes,
  })
  const schemes = ['Basic cm9vdDpyb290', 'Bearer x', 'Digest x', 'Negotiate x', 'x', ',', '=', 'AWS4-HMAC-SHA256']
  return [
    to('left out', ['AccessDenied']),
    to('emptied', ['AccessDenied'], ''),
    to('twice', ['BadRequest'], own, own),
    to('and another', ['BadRequest'], own, 'Basic x'),
    to('behind another', ['BadRequest'], 'Basic x', own),
    to('in small letters', ['InvalidArgument'], own.toLowerCase()),
    to('with a part twice', MALFORMED, `${own},Signature=${'0'.repeat(64)}`),
    to('with a part more', MALFORMED, `${own},Extra=x`),
    to(
      'with two credentials',
      MALFORMED,
      own.replace('Credential=', 'Credential=x/20000101/a/s3/aws4_request,Credential='),
    ),
    ...schemes.map((value) => to(`of ${value}`, ['InvalidArgument', 'InvalidRequest', ...MALFORMED], value)),
  ]
}

const SCOPE = /\/\d{8}\/us-east-1\/s3\/aws4_request|%2F\d{8}%2Fus-east-1%2Fs3%2Faws4_request/
const DAY = new Date().toISOString().slice(0, 10).replaceAll('-', '')
/** What stands where the scope was; its own day is that of the run. */
const SCOPES: readonly (readonly [name: string, scope: string])[] = [
  ['of another day', '/20000101/us-east-1/s3/aws4_request'],
  ['of another region', `/${DAY}/eu-central-1/s3/aws4_request`],
  ['of no region', `/${DAY}//s3/aws4_request`],
  ['of another service', `/${DAY}/us-east-1/iam/aws4_request`],
  ['of another end', `/${DAY}/us-east-1/s3/aws5_request`],
  ['that is short', `/${DAY}/s3/aws4_request`],
  ['that is long', `/${DAY}/us-east-1/s3/aws4_request/aws4_request`],
  ['of another key', `x/${DAY}/us-east-1/s3/aws4_request`],
  ['with a slash in the key', `/x/${DAY}/us-east-1/s3/aws4_request`],
]

const scopes: Tampering = (base) =>
  SCOPES.map(([name, scope]) => ({
    name: `scope ${name}`,
    request: replaced(base, SCOPE, base.mode === 'presigned' ? scope.replaceAll('/', '%2F') : scope),
    codes: [...FORGED, ...MALFORMED, 'InvalidAccessKeyId'],
  }))

const SIGNATURE = /(?<=Signature=)[0-9a-f]{64}/
const FLIPS = 8

const signatures: Tampering = (base, random) => {
  const text = base.mode === 'presigned' ? base.target : base.headers.map(([, value]) => value).join('\n')
  const hex = SIGNATURE.exec(text)?.[0] ?? ''
  const to = (name: string, other: string): Tampered => ({
    name: `signature ${name}`,
    request: replaced(base, SIGNATURE, other),
    codes: [...FORGED, ...MALFORMED],
  })
  const flips = Array.from({ length: FLIPS }, () => random.below(hex.length))
  return [
    ...[0, hex.length - 1, ...flips].map((at) => {
      const digit = hex[at] === '0' ? '1' : '0'
      return to(`with digit ${at} changed`, hex.slice(0, at) + digit + hex.slice(at + 1))
    }),
    to('in capitals', hex.replace(/[a-f]/, 'A').toUpperCase()),
    to('of zeros', '0'.repeat(hex.length)),
    to('that is longer', `${hex}00`),
    to('with a letter that is no digit', `${hex.slice(0, -1)}g`),
    to('in base64', Buffer.from(hex, 'hex').toString('base64url')),
  ]
}

const signedNames: Tampering = (base) => {
  const list = /(?<=SignedHeaders=)[^,&]+/
  const to = (name: string, other: string): Tampered => ({
    name: `signed headers ${name}`,
    request: replaced(base, list, base.mode === 'presigned' ? encodeURIComponent(other) : other),
    codes: [...FORGED, ...MALFORMED, 'AccessDenied'],
  })
  return [to('of nothing', ''), to('without the host', 'date'), to('twice', 'host;host'), to('in capitals', 'HOST')]
}

export const TAMPERINGS: readonly Tampering[] = [
  everySignedHeader,
  unsignedAdditions,
  everyParameter,
  everyPath,
  everyMethod,
  bodies,
  authorizationLines,
  scopes,
  signatures,
  signedNames,
]
