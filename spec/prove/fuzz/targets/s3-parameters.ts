/** The parameters and headers of S3 requests that say how much, which lock, which checksum; and heads of requests. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import type * as uWS from 'uWebSockets.js'
import { HEADER_BYTES_MAXIMUM } from '../../../../planes/http/limits/header-limits.ts'
import { RequestHead } from '../../../../planes/http/requests/request-head.ts'
import { attributesAsked, partsAsked } from '../../../../planes/s3/request/attributes.ts'
import { contentMd5, declaredChecksum } from '../../../../planes/s3/request/checksums.ts'
import * as lists from '../../../../planes/s3/request/list-parameters.ts'
import { requestedLock } from '../../../../planes/s3/request/lock-headers.ts'
import { partNumberParameter } from '../../../../planes/s3/request/part-number.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import { parseIsoTimestamp } from '../../../../planes/s3/text/timestamps.ts'
import type { Random } from '../../../support/random.ts'
import { wordsOf } from '../edge-values.ts'
import { isDigit } from '../naive-calendar.ts'
import { naiveParameters } from '../naive-uri.ts'
import { headerLines, requestWith } from '../request-text.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

/** A page size; a number that is too large is the largest, and one of more than 31 bits is none, as at S3. */
function naiveSize(text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined || text === '') return most
  if (![...text].every(isDigit)) return undefined
  const size = BigInt(text)
  return size < BigInt(least) || size > 2n ** 31n - 1n ? undefined : Number(size > BigInt(most) ? BigInt(most) : size)
}

/** Every listing with the parameter that says how much, and its bounds. */
const LISTINGS = [
  ['max-keys', 0, 1000, (query: Query) => lists.listObjectsV2Parameters(query).maxKeys],
  ['max-keys', 0, 1000, (query: Query) => lists.listObjectVersionsParameters(query).maxKeys],
  ['max-buckets', 1, 10_000, (query: Query) => lists.listBucketsParameters(query).maxBuckets],
  ['max-parts', 0, 1000, (query: Query) => lists.listPartsParameters(query).maxParts],
  ['max-uploads', 0, 1000, (query: Query) => lists.listMultipartUploadsParameters(query).maxUploads],
] as const
type Query = ReturnType<typeof parseQuery>

function judgeLists(input: Buffer): Verdict {
  const text = input.toString('latin1').replaceAll(/[^\x21-\x7e]/g, '~')
  const query = s3Answer(() => parseQuery(text))
  if (!('value' in query)) return refused(query.code)
  const first = new Map((naiveParameters(text) ?? []).toReversed())
  const outcomes = LISTINGS.map(([name, least, most, read]) => {
    const size = s3Answer(() => read(query.value))
    const expected = naiveSize(first.get(name), least, most)
    if ('value' in size) mustBeSame(size.value, expected, `${name} of ${text}`)
    else mustHold(expected === undefined || hasOtherFault(first), `${name} of ${text} was refused`)
    return 'value' in size
  })
  const part = s3Answer(() => partNumberParameter(query.value))
  const number = naiveSize(first.get('partNumber') || 'none', 1, 10_001)
  mustBeSame('value' in part ? part.value : undefined, number === 10_001 ? undefined : number, `the part of ${text}`)
  return outcomes.includes(false) ? refused(outcomes.join()) : accepted('value' in part ? 'part' : 'lists')
}

/** What makes one of the listings refuse beside its size. */
function hasOtherFault(first: ReadonlyMap<string, string>): boolean {
  const names = ['encoding-type', 'version-id-marker', 'part-number-marker', 'upload-id-marker']
  return names.some((name) => first.has(name))
}

const NOW = millisecondsOf(Date.UTC(2026, 7, 1))
const LOCK = 'x-amz-object-lock-'

function judgeLock(input: Buffer): Verdict {
  const lines = headerLines(input.toString('latin1').split('\n'))
  const request = requestWith(lines, 'PUT', '/b/k')
  const answer = s3Answer(() => requestedLock(request, parseTarget('/b/k', ''), NOW))
  const [mode, date] = [request.header(`${LOCK}mode`), request.header(`${LOCK}retain-until-date`)]
  const hold = request.header(`${LOCK}legal-hold`)
  const untilMilliseconds = date === undefined ? undefined : parseIsoTimestamp(date)
  const isMode = mode === 'GOVERNANCE' || mode === 'COMPLIANCE'
  const isRetention = isMode && untilMilliseconds !== undefined && untilMilliseconds > NOW
  const asksRetention = mode !== undefined || date !== undefined
  const isRight = (!asksRetention || isRetention) && (hold === undefined || hold === 'ON' || hold === 'OFF')
  // A lock that was asked for is never left out.
  mustBeSame('value' in answer, isRight, 'whether the lock is one')
  if (!('value' in answer)) return refused(answer.code)
  const asked = asksRetention || hold !== undefined
  const retention = asksRetention ? { mode, untilMilliseconds } : undefined
  mustBeSame(
    answer.value,
    asked ? { retention, hold: hold === undefined ? undefined : hold === 'ON' } : undefined,
    'the lock',
  )
  return asked ? accepted(`${mode} ${hold}`) : refused('no lock')
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SUMS: Readonly<Record<string, number>> = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 }

/** Bytes of canonical base64 (RFC 4648 section 4), bit by bit. */
function naiveBase64(text: string): number[] | undefined {
  const digits = text.replace(/={1,2}$/, '')
  if (text.length % 4 !== 0 || ![...digits].every((digit) => BASE64.includes(digit))) return undefined
  const bits = [...digits].map((digit) => BASE64.indexOf(digit).toString(2).padStart(6, '0')).join('')
  const spare = bits.length % 8
  if (bits.slice(bits.length - spare).includes('1') || text.length !== Math.ceil(digits.length / 4) * 4)
    return undefined
  return (bits.slice(0, bits.length - spare).match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
}

function judgeChecksums(input: Buffer): Verdict {
  const request = requestWith(headerLines(input.toString('latin1').split('\n')), 'PUT', '/b/k')
  const md5 = s3Answer(() => contentMd5(request))
  const sent = request.header('content-md5')
  const bytes = sent === undefined ? undefined : naiveBase64(sent)
  if ('value' in md5) mustBeSame(md5.value && [...md5.value], bytes, `Content-MD5 ${sent}`)
  else mustHold(bytes?.length !== 16, `${sent} was refused`)
  if ('value' in md5 && md5.value !== undefined) mustBeSame(md5.value.length, 16, 'bytes of an MD5')
  const declared = s3Answer(() => declaredChecksum(request))
  if (!('value' in declared)) return refused(declared.code)
  const { value } = declared
  const sums = request.headers.filter(([name]) => /^x-amz-checksum-(?!(?:mode|algorithm|type)$)/.test(name))
  mustBeSame(value === undefined ? 0 : 1, sums.length, 'a checksum that was sent is checked')
  if (value === undefined) return 'value' in md5 && md5.value !== undefined ? accepted('md5') : refused('none')
  mustBeSame([...value.expected], naiveBase64(value.text), value.text)
  mustBeSame(
    [value.header, value.expected.length],
    [`x-amz-checksum-${value.algorithm}`, SUMS[value.algorithm]],
    value.text,
  )
  return accepted(value.algorithm)
}

const ATTRIBUTES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize']
const OBJECT_ATTRIBUTES = 'x-amz-object-attributes'

/** A number of at most ten digits, and not more than the most; undefined for what is none. */
function naiveWhole(text: string | undefined, otherwise: number, most: number): number | undefined {
  if (text === undefined) return otherwise
  if (text === '' || text.length > 10 || ![...text].every(isDigit)) return undefined
  return Math.min(Number(text), most)
}

/** What GetObjectAttributes asks for. */
function judgeAttributes(input: Buffer): Verdict {
  const lines = headerLines(input.toString('latin1').split('\n'))
  const request = requestWith(lines, 'GET', '/b/k?attributes')
  const target = parseTarget('/b/k', 'attributes')
  const names = lines.filter(([name]) => name === OBJECT_ATTRIBUTES).flatMap(([, value]) => value.split(','))
  const isRight = names.length > 0 && names.every((name) => ATTRIBUTES.includes(name.trim()))
  const asked = s3Answer(() => attributesAsked(request, target))
  mustBeSame('value' in asked, isRight, `whether ${names.join()} are attributes`)
  if ('value' in asked)
    mustBeSame([...asked.value].toSorted(), [...new Set(names.map((name) => name.trim()))].toSorted(), 'attributes')
  const maximum = naiveWhole(request.header('x-amz-max-parts'), 1000, 1000)
  const after = naiveWhole(request.header('x-amz-part-number-marker'), 0, 10_000)
  const page = s3Answer(() => partsAsked(request, target))
  const isPage = maximum !== undefined && after !== undefined
  mustBeSame('value' in page ? page.value : undefined, isPage ? { after, maximum } : undefined, 'the page')
  return 'value' in asked && 'value' in page ? accepted(String(asked.value.size)) : refused(`${isRight} ${isPage}`)
}

/** A head as the HTTP library gives it. */
/** Of the head as it is sent; the question mark is not counted. */
function naiveHeadBytes(method: string, target: string, headers: readonly (readonly [string, string])[]): number {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return [`${method} ${target.replace('?', '')} HTTP/1.1\r\n`, ...lines, '\r\n'].join('').length
}

function judgeHead(input: Buffer): Verdict {
  const [first = '', ...lines] = input.toString('latin1').split('\n')
  const [method = '', target = ''] = first.split(' ')
  const mark = target.indexOf('?')
  const headers = headerLines(lines)
  const head = new RequestHead({
    getCaseSensitiveMethod: () => method,
    getUrl: () => (mark === -1 ? target : target.slice(0, mark)),
    getQuery: () => (mark === -1 ? undefined : target.slice(mark + 1)),
    forEach: (visit: (name: string, value: string) => void) => headers.forEach(([name, value]) => visit(name, value)),
  } as unknown as uWS.HttpRequest)
  const valuesOf = (name: string): string[] => headers.filter((line) => line[0] === name).map((line) => line[1])
  const [lengths, codings] = [valuesOf('content-length'), valuesOf('transfer-encoding')]
  const isTwice = ['content-length', 'host', 'authorization', 'transfer-encoding'].some(
    (name) => valuesOf(name).length > 1,
  )
  const isRight =
    /^[A-Za-z][A-Za-z-]{0,31}$/.test(method) &&
    target.startsWith('/') &&
    [...target].every((character) => character > ' ' && character < '\x7f') &&
    !isTwice &&
    naiveHeadBytes(method, target, headers) <= HEADER_BYTES_MAXIMUM &&
    (lengths[0] === undefined || (lengths[0].length < 16 && lengths[0] !== '' && [...lengths[0]].every(isDigit))) &&
    (codings[0] === undefined || (codings[0].toLowerCase() === 'chunked' && lengths.length === 0))
  mustBeSame(head.fault === undefined, isRight, `${first} and ${JSON.stringify(headers)}`)
  mustBeSame(head.headers, headers, 'the header lines')
  if (head.fault !== undefined) return refused(head.fault.reason)
  mustBeSame([head.contentLength, head.chunked], [lengths[0] && Number(lengths[0]), codings.length > 0], 'the framing')
  return accepted(head.chunked ? 'chunked' : 'sized')
}

function lockByChance(random: Random): string {
  const mode = random.of(['GOVERNANCE', 'COMPLIANCE', 'governance', ''])
  const date = random.of([
    '2030-01-01T00:00:00Z',
    '2026-08-01T00:00:00Z',
    '2026-08-01T00:00:00.001Z',
    '2030-02-30T00:00:00Z',
  ])
  const lines = [
    `${LOCK}mode: ${mode}`,
    `${LOCK}retain-until-date: ${date}`,
    `${LOCK}legal-hold: ${random.of(['ON', 'OFF', 'on'])}`,
  ]
  return lines.filter(() => random.below(4) > 0).join('\n')
}

export const PARAMETER_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'list-parameters',
    seeds: ['max-keys=10&max-parts=5', 'max-uploads=1001&max-buckets=1&partNumber=10000', 'prefix=a&delimiter=/'],
    words: wordsOf('max-keys= max-parts= max-uploads= max-buckets= partNumber= & encoding-type=url key-marker=a %30 ٣'),
    judge: judgeLists,
  },
  {
    name: 'lock-headers',
    seeds: [
      `${LOCK}mode: COMPLIANCE\n${LOCK}retain-until-date: 2030-01-01T00:00:00Z\n${LOCK}legal-hold: ON`,
      `${LOCK}legal-hold: OFF`,
    ],
    words: [
      ...wordsOf('mode: retain-until-date: legal-hold: ON OFF GOVERNANCE COMPLIANCE \n 2030-01-01T00:00:00Z'),
      LOCK,
    ],
    make: lockByChance,
    judge: judgeLock,
  },
  {
    name: 'checksum-headers',
    seeds: [
      'content-md5: 1B2M2Y8AsgTpgAmY7PhCfg==',
      'x-amz-checksum-crc32: AAAAAA==\nx-amz-sdk-checksum-algorithm: CRC32',
      'x-amz-checksum-sha256: 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nx-amz-checksum-mode: ENABLED',
      'x-amz-checksum-crc64nvme: AAAAAAAAAAA=',
    ],
    words: wordsOf('x-amz-checksum- crc32: crc32c: sha1: sha256: crc64nvme: md5: = == A AAAA - _ \n content-md5:'),
    judge: judgeChecksums,
  },
  {
    name: 'object-attributes',
    seeds: [
      `${OBJECT_ATTRIBUTES}: ETag,Checksum, ObjectParts ,StorageClass\n${OBJECT_ATTRIBUTES}: ObjectSize`,
      `${OBJECT_ATTRIBUTES}: ObjectParts\nx-amz-max-parts: 1\nx-amz-part-number-marker: 10000`,
    ],
    words: wordsOf(
      `${OBJECT_ATTRIBUTES}: x-amz-max-parts: x-amz-part-number-marker: ${ATTRIBUTES.join(' ')} , ,, \n 0 1001 4294967296`,
    ),
    judge: judgeAttributes,
  },
  {
    name: 'request-head',
    seeds: [
      'GET /b/k?a=b\nhost: h\ncontent-length: 5',
      'PUT /\ntransfer-encoding: chunked',
      'X-Y /a\nauthorization: b',
    ],
    words: wordsOf('content-length: transfer-encoding: chunked Chunked, \n host: authorization: gzip 0 +1 0x1 / ? #'),
    judge: judgeHead,
  },
]
