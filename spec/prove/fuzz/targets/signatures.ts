/** Who sent a request: nothing that was not signed with the secret is let in, and what was signed right is. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import { Authenticator } from '../../../../planes/s3/identity/authenticate.ts'
import type { Identity } from '../../../../planes/s3/signing/identity.ts'
import type { HttpRequest } from '../../../../planes/http/exchange.ts'
import { presign, signHeaders } from '../../../support/signing.ts'
import { canonicalQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { recognize } from '../../../../planes/s3/recognize-operation.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import type { Random } from '../../../support/random.ts'
import { pairsOf } from '../../pairs.ts'
import { wordsOf } from '../edge-values.ts'
import { ACCESS_KEY, NOW, SECRET_KEY, signatureFault, signatureFor, signedOf } from '../naive-signature.ts'
import { naiveCanonicalQuery } from '../naive-uri.ts'
import { requestOf } from '../request-text.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const CREDENTIAL = {
  accessKey: ACCESS_KEY,
  secretKey: SECRET_KEY,
  principal: 'service_account:fuzz',
  credentialId: 'cred-fuzz',
  policies: undefined,
}
const AUTHENTICATOR = new Authenticator({
  lookup: (accessKey) => (accessKey === ACCESS_KEY ? CREDENTIAL : undefined),
  clock: () => NOW,
})
const SIGNING = { accessKey: ACCESS_KEY, secretKey: SECRET_KEY, region: 'us-east-1', now: NOW }
const BODY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

interface Sample {
  readonly method: string
  readonly path: string
  readonly query?: readonly (readonly [string, string])[]
  readonly headers?: readonly (readonly [string, string])[]
}

const SAMPLES: readonly Sample[] = [
  { method: 'GET', path: '/bucket/key' },
  { method: 'PUT', path: '/b/a b/ü/%2F', headers: pairsOf('x-amz-meta-a=b  c&content-type=text/plain') },
  { method: 'GET', path: '/b', query: pairsOf('list-type=2&prefix=a/b +') },
  { method: 'PUT', path: '/b/k', headers: pairsOf('x-amz-copy-source=/c/k&x-amz-acl=private') },
  { method: 'DELETE', path: '/b/k', query: pairsOf('versionId=null') },
]

/** A request as text; its target as it stands in a request line. */
function textOf(method: string, target: string, headers: readonly (readonly [string, string])[]): string {
  return [`${method} ${target}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n')
}

function targetOf({ path, query = [] }: Sample): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  return query.length === 0 ? encoded : `${encoded}?${canonicalQuery(query)}`
}

function signedInHeader(sample: Sample, payloadHash: string, now = NOW): string {
  const headers = signHeaders({ ...SIGNING, ...sample, now, host: 'h:7600', payloadHash })
  return textOf(sample.method, targetOf(sample), headers)
}

function signedInQuery(sample: Sample, expiresSeconds: number, now = NOW): string {
  const url = presign({ ...SIGNING, ...sample, now, endpoint: 'http://h:7600', expiresSeconds })
  return textOf(sample.method, url.slice('http://h:7600'.length), [['host', 'h:7600'], ...(sample.headers ?? [])])
}

const PIECES = ['b', 'a b', '..', '.', '%', '%2F', 'ü', '😀', '+', "!'()*", '', 'k?x', '~_-']
const PAIRS = [
  ...pairsOf(`list-type=2&prefix=a/b +&acl=&x-amz-meta-q= v &X-Amz-Meta-Q=v&x-amz-content-sha256=${BODY_HASH}`),
  ...pairsOf('uploads=&versionId=null&B=1&b=2&B=0'),
  ['a=b', '&'] as const,
]
const HEADERS = [
  ...pairsOf('x-amz-meta-a=b  c&x-amz-meta-a=d&content-type=a\tb&x-amz-acl=&range=bytes=0-&x-amz-copy-source=/c/k'),
  ...pairsOf('date=Sat, 01 Aug 2026 12:00:00 GMT&content-md5=x'),
]
const SKEWS = [0, 0, 0, 1, 899_999, 900_000, 901_000, -900_000, -901_000, -86_400_000, -604_800_000, 86_400_000]

function some<T>(random: Random, choices: readonly T[], atMost: number): T[] {
  return Array.from({ length: random.below(atMost + 1) }, () => random.of(choices))
}

/** A request that is signed as the README tells clients to, at a time that may be wrong. */
function signedByChance(mode: 'header' | 'presigned', random: Random): string {
  const sample: Sample = {
    method: random.of(['GET', 'PUT', 'POST', 'HEAD', 'DELETE', 'get']),
    path: `/b/${some(random, PIECES, 3).join('/')}`,
    query: some(random, PAIRS, 3),
    headers: some(random, HEADERS, 3),
  }
  const now = NOW + random.of(SKEWS)
  if (mode === 'presigned') return signedInQuery(sample, random.of([1, 900, 604_800, 0, 604_801]), millisecondsOf(now))
  return signedInHeader(
    sample,
    random.of(['UNSIGNED-PAYLOAD', BODY_HASH, 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']),
    millisecondsOf(now),
  )
}

/** Signs what chance made, so that what comes behind the signature is reached. */
function repaired(input: Buffer, random: Random): Buffer {
  const request = requestOf(input)
  const signed = signedOf(request)
  const signature = signed && signatureFor(request, signed)
  if (signed === undefined || signature === undefined) return input
  if (random.below(8) === 0) return input
  const text = input.toString('latin1')
  const at = text.lastIndexOf(signed.signature)
  if (at === -1) return input
  return Buffer.from(text.slice(0, at) + signature + text.slice(at + signed.signature.length), 'latin1')
}

function judge(input: Buffer): Verdict {
  const request = requestOf(input)
  const target = s3Answer(() => parseTarget(request.path, request.query))
  if (!('value' in target)) return refused(target.code)
  const answer = s3Answer(() => AUTHENTICATOR.authenticate(request, target.value))
  const operation = s3Answer(() => recognize(request.method, target.value, request))
  const row = 'value' in operation ? operation.value.name : operation.code
  const signed = signedOf(request)
  const fault = signed === undefined ? 'no signature' : signatureFault(request, signed)
  if (!('value' in answer)) {
    mustHold(fault !== undefined || REFUSED_FOR_FORM.includes(answer.code), `${answer.code} for what is signed right`)
    return refused(`${answer.code} ${row}`)
  }
  return identityVerdict(request, answer.value, fault, row)
}

function identityVerdict(
  request: HttpRequest,
  identity: Identity | undefined,
  fault: string | undefined,
  row: string,
): Verdict {
  if (identity === undefined) {
    mustHold(fault !== undefined && !request.header('authorization'), 'a signed request counts as anonymous')
    return refused(`anonymous ${row}`)
  }
  mustHold(fault === undefined, `let in although: ${fault}`)
  mustBeSame([identity.accessKey, identity.principal], [ACCESS_KEY, CREDENTIAL.principal], 'who it is')
  const hash = signedOf(request)?.payloadHash ?? ''
  const payload = hash.startsWith('STREAMING-') ? 'streaming' : hash === 'UNSIGNED-PAYLOAD' ? 'unsigned' : 'sha256'
  mustBeSame(identity.payload.kind, payload, 'what the body must be')
  return accepted(`${identity.mode} ${identity.payload.kind} ${row}`)
}

/** What is refused although its signature is right: it says something twice, or in a form that nobody signs. */
const REFUSED_FOR_FORM = [
  'InvalidArgument',
  'InvalidRequest',
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
]

const WORDS = [
  ...wordsOf('Credential= SignedHeaders= Signature= , ; / = \n : ? & ;host ;x-amz-acl us-east-1 s3 aws4_request'),
  ...wordsOf('X-Amz-Algorithm= X-Amz-Credential= X-Amz-Date= X-Amz-Expires= X-Amz-SignedHeaders= X-Amz-Signature='),
  ...wordsOf('&x-amz-acl= &X-Amz-Meta-A=b UNSIGNED-PAYLOAD STREAMING-AWS4-HMAC-SHA256-PAYLOAD AWSAccessKeyId='),
  ...wordsOf('20260801T120000Z 20260801T121501Z 20260801 20260731 ?acl ?uploads &partNumber=1 &uploadId=x'),
  ...wordsOf('Authorization: AWS4-HMAC-SHA256 x-amz-date: x-amz-content-sha256: host: date: x-amz-meta-b: x-amz-acl:'),
  ...'Sat, 01 Aug 2026 12:00:00 GMT|AWS |Basic |PUT |GET '.split('|'),
  BODY_HASH,
  ACCESS_KEY,
]

/** The canonical query of the server and of the naive reader, for pairs that no wire can carry. */
const CANONICAL = 'canonical-query'

function judgeCanonicalQuery(input: Buffer): Verdict {
  const pairs = input
    .toString()
    .split('\n')
    .map((line) => [line.split('=')[0] ?? '', line.split('=').slice(1).join('=')] as const)
  mustBeSame(canonicalQuery(pairs), naiveCanonicalQuery(pairs), CANONICAL)
  return pairs.length > 1 ? accepted() : refused()
}

export const SIGNATURE_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'signature-header',
    seeds: SAMPLES.flatMap((sample) => [signedInHeader(sample, 'UNSIGNED-PAYLOAD'), signedInHeader(sample, BODY_HASH)]),
    words: WORDS,
    make: (random) => signedByChance('header', random),
    repair: repaired,
    judge,
  },
  {
    name: 'signature-query',
    seeds: SAMPLES.filter(({ headers }) => headers === undefined).map((sample, index) =>
      signedInQuery(sample, [1, 60, 604_800][index % 3] as number),
    ),
    words: WORDS,
    make: (random) => signedByChance('presigned', random),
    repair: repaired,
    judge,
  },
  {
    name: CANONICAL,
    seeds: ['a=b\na=c', 'B=\nb=\n', 'a b=+\nü=😀'],
    words: ['\n', '=', 'X-Amz-Signature=', '!', "'", '(', ')', '*', '~'],
    judge: judgeCanonicalQuery,
  },
]
