/** What the extensions of S3 read: links of version 2, tags in a header, names of events. */
import { createHmac } from 'node:crypto'
import { millisecondsOf } from '../../../../engine/brands.ts'
import { Authenticator } from '../../../../planes/s3/identity/authenticate.ts'
import { Subscription } from '../../../../planes/s3/notifications/notification-record.ts'
import { requestedTags, TAGGING } from '../../../../planes/s3/request/tags.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import type { Random } from '../../../support/random.ts'
import { wordsOf } from '../edge-values.ts'
import { naiveDecode, naiveParameters } from '../naive-uri.ts'
import { headerLines, requestOf, requestWith } from '../request-text.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const ACCESS_KEY = 'AKIAFUZZ'
const SECRET_KEY = 'a-secret-of-this-target'
const NOW = millisecondsOf(Date.UTC(2026, 7, 1, 12))
const SEVEN_DAYS_SECONDS = 604_800
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
  readsVersionTwo: true,
})

/** Parameters that the signature covers (S3 developer guide, "Signing and authenticating REST requests"). */
const SIGNED = new Set(
  wordsOf(
    'acl cors lifecycle location logging notification partNumber policy requestPayment tagging torrent uploadId uploads versionId versioning versions website',
  ).concat(
    ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type', 'expires'].map(
      (name) => `response-${name}`,
    ),
  ),
)
const OWN = new Set(['AWSAccessKeyId', 'Expires', 'Signature'])

type Request = ReturnType<typeof requestOf>

/** What must be signed; undefined for a link that cannot be one. */
function naiveText(
  request: Request,
): { readonly text: string; readonly given: ReadonlyMap<string, string> } | undefined {
  const parameters = naiveParameters(request.query)
  if (parameters === undefined) return undefined
  const own = parameters.filter(([name]) => OWN.has(name))
  const others = parameters.filter(([name]) => !OWN.has(name))
  if (own.length !== 3 || new Set(own.map(([name]) => name)).size < 3) return undefined
  if (others.some(([name]) => !SIGNED.has(name))) return undefined
  const given = new Map(own)
  const sorted = others.toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
  const shown = sorted.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')
  const lines = new Map<string, string>()
  for (const [name, value] of request.headers) {
    if (!name.startsWith('x-amz-')) continue
    const earlier = lines.get(name)
    lines.set(name, earlier === undefined ? value : `${earlier},${value}`)
  }
  const amz = [...lines.keys()].toSorted().map((name) => `${name}:${lines.get(name)}\n`)
  const heads = [request.method, request.header('content-md5') ?? '', request.header('content-type') ?? '']
  const text = `${heads.join('\n')}\n${given.get('Expires')}\n${amz.join('')}${request.path}${shown === '' ? '' : `?${shown}`}`
  return { text, given }
}

function isRight(request: Request): boolean {
  const read = naiveText(request)
  if (read === undefined || !['GET', 'HEAD'].includes(request.method)) return false
  const expires = read.given.get('Expires') ?? ''
  if (expires === '' || expires.length > 12 || ![...expires].every((digit) => '0123456789'.includes(digit)))
    return false
  const seconds = Number(expires) - NOW / 1000
  const signature = createHmac('sha1', SECRET_KEY).update(read.text).digest('base64')
  const given = (read.given.get('Signature') ?? '').replaceAll(' ', '+')
  return (
    read.given.get('AWSAccessKeyId') === ACCESS_KEY &&
    seconds >= 0 &&
    seconds <= SEVEN_DAYS_SECONDS &&
    given === signature
  )
}

function judgeLink(input: Buffer): Verdict {
  const request = requestOf(input)
  const target = s3Answer(() => parseTarget(request.path, request.query))
  if (!('value' in target)) return refused(target.code)
  if (request.header('authorization') || !target.value.query.has('AWSAccessKeyId')) return refused('no link')
  const answer = s3Answer(() => AUTHENTICATOR.authenticate(request, target.value))
  const hosts = request.headers.filter(([name]) => name === 'host').length
  if (!('value' in answer)) {
    mustHold(!isRight(request) || hosts > 1, `${answer.code} for what is signed right`)
    return refused(answer.code)
  }
  mustHold(isRight(request), 'let in what is not signed right')
  mustBeSame([answer.value?.principal, answer.value?.mode], [CREDENTIAL.principal, 'presigned'], 'who it is')
  return accepted(`${request.method} ${request.query.split('&').length}`)
}

function linkOf(method: string, path: string, query: string, life: number, headers = ''): string {
  const expires = NOW / 1000 + life
  const own = `AWSAccessKeyId=${ACCESS_KEY}&Expires=${expires}`
  const unsigned = `${method} ${path}?${query === '' ? '' : `${query}&`}${own}&Signature=x\nhost: h${headers}`
  return repairedText(unsigned)
}

/** Signs what chance made, so that what is behind the signature is reached. */
function repairedText(text: string): string {
  const read = naiveText(requestOf(Buffer.from(text, 'latin1')))
  if (read === undefined) return text
  const signature = createHmac('sha1', SECRET_KEY).update(read.text).digest('base64')
  return text.replace(/Signature=[^&\s]*/, () => `Signature=${encodeURIComponent(signature)}`)
}

const QUERIES = [
  '',
  'versionId=null',
  'acl',
  'response-content-type=text%2Fx&versionId=1',
  'prefix=a',
  'partNumber=1',
  'tagging=',
]

function linkByChance(random: Random): string {
  const life = random.of([0, 60, SEVEN_DAYS_SECONDS, SEVEN_DAYS_SECONDS + 1, -1])
  const headers = random.of(['', '', '\nx-amz-meta-b: 1\nx-amz-acl: private', '\ncontent-type: a/b', '\nhost: other'])
  return linkOf(
    random.of(['GET', 'GET', 'HEAD', 'PUT']),
    random.of(['/b', '/b/k', '/b/%C3%BC%2F']),
    random.of(QUERIES),
    life,
    headers,
  )
}

const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u

/** Tags in the form of a query; undefined for what must be refused. */
function naiveTags(text: string): string[] | undefined {
  if (text === '') return []
  const tags: string[] = []
  const keys = new Set<string>()
  let bytes = 0
  for (const pair of text.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const [key, value] = [name, rest.join('=')].map((each) => naiveDecode(each.replaceAll('+', ' ')))
    if (key === undefined || value === undefined || keys.has(key)) return undefined
    if (key === '' || key.length > 128 || value.length > 256 || !TAG_TEXT.test(key) || !TAG_TEXT.test(value))
      return undefined
    if (key.toLowerCase().startsWith('aws:')) return undefined
    keys.add(key)
    bytes += Buffer.byteLength(key + value)
    tags.push(key, value)
  }
  return keys.size > 10 || bytes > 8 * 1024 ? undefined : tags
}

function judgeTags(input: Buffer): Verdict {
  const [line] = headerLines([`${TAGGING}: ${input.toString('latin1').replaceAll('\n', ' ')}`])
  if (line === undefined) return refused('no header')
  const answer = s3Answer(() => requestedTags(requestWith([line], 'PUT', '/b/k'), parseTarget('/b/k', '')))
  const expected = naiveTags(line[1])
  mustBeSame('value' in answer ? answer.value : undefined, expected, `the tags of ${line[1]}`)
  return 'value' in answer ? accepted(`${answer.value?.length}`) : refused(answer.code)
}

const GROUPS = wordsOf(
  'ObjectCreated ObjectRemoved LifecycleExpiration ObjectTagging BucketCreated BucketRemoved ObjectAccessed ObjectAcl ObjectRestore ObjectTransition LifecycleTransition IntelligentTiering ReducedRedundancyLostObject Replication Scanner',
)
const SENT = wordsOf(
  's3:ObjectCreated:Put s3:ObjectCreated:Copy s3:ObjectRemoved:Delete s3:ObjectTagging:Put s3:BucketCreated:*',
)

function isKnownEvent(name: string): boolean {
  const [service, group = '', member, ...more] = name.split(':')
  if (service !== 's3' || more.length > 0 || !GROUPS.includes(group)) return false
  return member === undefined || member === '*' || (member !== '' && [...member].every((one) => /[A-Za-z]/.test(one)))
}

function judgeEvents(input: Buffer): Verdict {
  const names = input.toString('latin1').split('\n')
  const answer = Subscription.of(names)
  const known = names.every(isKnownEvent)
  mustBeSame(answer instanceof Subscription, known, `whether ${names.join()} are events`)
  if (!(answer instanceof Subscription)) return refused('unknown')
  for (const sent of SENT) {
    const group = sent.slice(0, sent.lastIndexOf(':'))
    mustBeSame(
      answer.has(sent),
      names.some((name) => name === sent || name === group || name === `${group}:*`),
      sent,
    )
  }
  return accepted(`${answer.types.size}`)
}

export const EXTENSION_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'version-two-link',
    seeds: [
      linkOf('GET', '/b/k', '', 60),
      linkOf('HEAD', '/b/k', 'versionId=null&response-expires=x', SEVEN_DAYS_SECONDS, '\nx-amz-meta-a: b'),
    ],
    words: wordsOf(
      '&acl &versionId= &response-content-type= & = AWSAccessKeyId= &Expires= &Signature= \n x-amz-meta-a: content-md5: GET HEAD + %2B &prefix=',
    ),
    make: linkByChance,
    repair: (input, random) =>
      random.below(8) === 0 ? input : Buffer.from(repairedText(input.toString('latin1')), 'latin1'),
    judge: judgeLink,
  },
  {
    name: 'tagging-header',
    seeds: ['a=b', 'a=b&c=d+e&f', '%C3%BC=%E2%82%AC&x=', 'k=v=w'],
    words: wordsOf('& = + %20 %3D %26 aws: AWS: a=b &a= %C3%BC %ff ; , @ - _'),
    judge: judgeTags,
  },
  {
    name: 'event-names',
    seeds: ['s3:ObjectCreated:*', 's3:ObjectRemoved:Delete\ns3:ObjectTagging', 's3:Scanner:Big'],
    words: [...GROUPS, ...SENT, ...wordsOf('s3: : * \n __proto__ constructor toString s3:toString s3:ObjectCreated:')],
    judge: judgeEvents,
  },
]
