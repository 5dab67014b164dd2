/** Headers that say which bytes are wanted, whether at all, and what is kept beside an object. */
import { microsecondsOf, millisecondsOf } from '../../../../engine/brands.ts'
import { byteRange } from '../../../../planes/s3/request/byte-range.ts'
import { copyRange } from '../../../../planes/s3/handling/copy-range.ts'
import { checkReadConditions, writeCondition } from '../../../../planes/s3/request/conditions.ts'
import { contentHeaders, responseOverrides, userMetadata } from '../../../../planes/s3/request/metadata.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import { parseHttpDate } from '../../../../planes/http/headers/http-date.ts'
import type { Random } from '../../../support/random.ts'
import { isDigit } from '../naive-calendar.ts'
import { headerLines, requestWith } from '../request-text.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

function isNumber(text: string): boolean {
  return text !== '' && [...text].every(isDigit)
}

/** The bytes of an object of a size that a Range header means (RFC 9110 section 14.1.2). */
function naiveRange(header: string, size: bigint): 'whole' | 'InvalidRange' | readonly [string, string] {
  const [unit = '', ...rest] = header.split('=')
  const [from = '', to = '', ...more] = rest.join('=').split('-')
  const isForm = unit.toLowerCase() === 'bytes' && rest.length === 1 && more.length === 0 && header.includes('-')
  if (!isForm || (from !== '' && !isNumber(from)) || (to !== '' && !isNumber(to))) return 'whole'
  if (from === '' && to === '') return 'whole'
  const [first, last] = [BigInt(from), BigInt(to)]
  if (from === '') {
    const length = last < size ? last : size
    return length === 0n ? 'InvalidRange' : [String(size - length), String(size - 1n)]
  }
  if (to !== '' && last < first) return 'whole'
  if (first >= size) return 'InvalidRange'
  return [String(first), String(to === '' || last >= size ? size - 1n : last)]
}

/** `<size> <header>` */
function judgeRange(input: Buffer): Verdict {
  const text = input.toString('latin1')
  const space = text.indexOf(' ')
  const size = Number.parseInt(text.slice(0, Math.max(0, space)), 10) || 0
  if (size < 0 || size > 5 * 2 ** 40) return refused('size')
  const header = text.slice(space + 1)
  const answer = s3Answer(() => byteRange(header, size))
  const expected = naiveRange(header, BigInt(size))
  if (!('value' in answer)) {
    mustBeSame(answer.code, expected, text)
    return refused(answer.code)
  }
  const range = answer.value
  mustBeSame(range === undefined ? 'whole' : [String(range.first), String(range.last)], expected, text)
  return range === undefined ? refused('whole') : accepted('range')
}

/** `<size> <header>`: both ends are there, in digits that no object has more of, and inside the source. */
function judgeCopyRange(input: Buffer): Verdict {
  const text = input.toString('latin1')
  const space = text.indexOf(' ')
  const size = Number.parseInt(text.slice(0, Math.max(0, space)), 10) || 0
  if (size < 0 || size > 5 * 2 ** 40) return refused('size')
  const header = text.slice(space + 1)
  const answer = s3Answer(() => copyRange(header, size))
  const [unit, ends = '', ...more] = header.split('=')
  const [from = '', to = '', ...others] = ends.split('-')
  const isForm = unit === 'bytes' && more.length === 0 && others.length === 0 && isNumber(from) && isNumber(to)
  const fits = isForm && Math.max(from.length, to.length) <= 15
  const isInside = fits && BigInt(from) <= BigInt(to) && BigInt(to) < BigInt(size)
  if (!('value' in answer)) {
    const isTooLong = isInside && BigInt(to) - BigInt(from) >= BigInt(5 * 2 ** 30)
    mustBeSame(answer.code, isTooLong ? 'InvalidRequest' : 'InvalidArgument', text)
    mustHold(isTooLong || !isInside, text)
    return refused(answer.code)
  }
  mustHold(isInside, text)
  mustBeSame([String(answer.value.start), String(answer.value.end)], [`${BigInt(from)}`, `${BigInt(to) + 1n}`], text)
  return accepted('range')
}

function rangeByChance(random: Random): string {
  const number = (): string => random.of(['', String(random.below(20)), '9'.repeat(random.below(30)), '010'])
  return `${random.below(20)} ${random.of(['bytes', 'Bytes', 'BYTES', 'items'])}=${number()}-${number()}`
}

const ETAG = '9a0364b9e99bb480dd25e1f0284c8555'
const MODIFIED = Date.UTC(2026, 0, 15, 12)
const NOW = millisecondsOf(Date.UTC(2026, 7, 1))

interface NaiveTag {
  readonly text: string
  readonly weak: boolean
}

/** Entity tags, quoted or bare, one character after the other. */
function naiveTags(list: string): NaiveTag[] {
  const tags: NaiveTag[] = []
  let at = 0
  while (at < list.length) {
    const weak = list.startsWith('W/"', at)
    const start = weak ? at + 2 : at
    const close = list[start] === '"' ? list.indexOf('"', start + 1) : -1
    if (close !== -1) {
      tags.push({ text: list.slice(start + 1, close), weak })
      at = close + 1
      continue
    }
    let end = at
    while (end < list.length && !/[\s,"]/.test(list.charAt(end))) end += 1
    // `W/` before a quote without an end, or a bare tag right before a quoted one: the tag ends at the quote.
    if (end > at) tags.push({ text: list.slice(at, end), weak: false })
    at = Math.max(end, at + 1)
  }
  return tags
}

function naiveMatch(list: string, comparison: 'strong' | 'weak'): boolean {
  return list === '*' || naiveTags(list).some(({ text, weak }) => text === ETAG && (comparison === 'weak' || !weak))
}

/** RFC 9110 section 13.2.2, step by step. */
function naiveRead(header: (name: string) => string | undefined): string {
  const seconds = (name: string): number | undefined => {
    const text = header(name)
    return text === undefined ? undefined : parseHttpDate(text, NOW)
  }
  const ifMatch = header('if-match')
  if (ifMatch) {
    if (!naiveMatch(ifMatch, 'strong')) return 'PreconditionFailed'
  } else {
    const since = seconds('if-unmodified-since')
    if (since !== undefined && MODIFIED > since) return 'PreconditionFailed'
  }
  const ifNoneMatch = header('if-none-match')
  if (ifNoneMatch) return naiveMatch(ifNoneMatch, 'weak') ? 'not-modified' : 'proceed'
  const since = seconds('if-modified-since')
  return since !== undefined && since <= NOW && MODIFIED <= since ? 'not-modified' : 'proceed'
}

function judgeConditions(input: Buffer): Verdict {
  const request = requestWith(headerLines(input.toString('latin1').split('\n')))
  const read = s3Answer(() =>
    checkReadConditions(request, { etag: ETAG, lastModifiedMicroseconds: microsecondsOf(MODIFIED * 1000) }, NOW),
  )
  const found = 'value' in read ? read.value : read.code
  mustBeSame(
    found,
    naiveRead((name) => request.header(name)),
    input.toString('latin1'),
  )
  const write = s3Answer(() => writeCondition(request))
  if (!('value' in write)) return refused(`${found} ${write.code}`)
  const [ifMatch, ifNoneMatch] = [request.header('if-match'), request.header('if-none-match')]
  const { value } = write
  // A condition that was sent is never dropped: the write would go ahead without it.
  mustBeSame(value.kind === 'none', ifMatch === undefined && ifNoneMatch === undefined, 'a write without condition')
  mustHold(ifMatch === undefined || ifNoneMatch === undefined, 'two conditions of a write')
  const list = ifMatch ?? ifNoneMatch ?? ''
  const fits = 'etags' in value && value.etags.includes(ETAG)
  if (value.kind === 'matches') mustBeSame(fits, naiveMatch(list, 'strong'), list)
  if (value.kind === 'differs') mustBeSame(fits, naiveMatch(list, 'weak'), list)
  if (value.kind === 'exists' || value.kind === 'absent') mustBeSame(list, '*', value.kind)
  return accepted(`${found} ${value.kind}`)
}

/** Visible or not, what can be given back: no C0, no C1, no DEL, nothing that was no UTF-8. */
function canBeGivenBack(value: string): boolean {
  return [...value].every((character) => {
    const code = character.codePointAt(0) as number
    return code > 0x1f && (code < 0x7f || code > 0x9f) && code !== 0xfffd
  })
}

const STORED = 'cache-control content-disposition content-encoding content-language content-type expires'.split(' ')

/** Header lines, of which the first may be a query behind a question mark. */
function judgeMetadata(input: Buffer): Verdict {
  const lines = input.toString().split('\n')
  const query = lines[0]?.startsWith('?') ? lines[0].slice(1).replaceAll(/[^\x21-\x7e]/g, '~') : ''
  const request = requestWith(headerLines(lines), 'PUT', `/b/k?${query}`)
  const target = s3Answer(() => parseTarget('/b/k', query))
  if (!('value' in target)) return refused(target.code)
  const kept = s3Answer(() => [userMetadata(request, target.value), contentHeaders(request)] as const)
  const overrides = s3Answer(() => responseOverrides(parseQuery(query)))
  if ('value' in overrides) {
    for (const [name, value] of overrides.value)
      mustHold(STORED.includes(name) && canBeGivenBack(value), `${name}: ${value}`)
  }
  if (!('value' in kept)) return refused(kept.code)
  const [metadata, headers] = kept.value
  mustHold(metadata.reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0) <= 2048, 'too much metadata')
  for (const pairs of kept.value) {
    mustBeSame(
      pairs.map(([name]) => name),
      [...new Set(pairs.map(([name]) => name))].toSorted(),
      'the names',
    )
    for (const [name, value] of pairs) {
      mustHold(/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) && canBeGivenBack(value), `${name}: ${value}`)
    }
  }
  // Nothing is lost and nothing comes from elsewhere.
  const sent = request.headers.filter(([name]) => name.startsWith('x-amz-meta-'))
  const names = new Set(metadata.map(([name]) => `x-amz-meta-${name}`))
  for (const [name, value] of sent) {
    mustHold(
      metadata.some((pair) => `x-amz-meta-${pair[0]}` === name && pair[1].includes(value)),
      `${name} is gone`,
    )
  }
  const asked = [...sent, ...target.value.query.entries].map(([name]) => name.toLowerCase())
  for (const name of names) mustHold(asked.includes(name), `${name} from nowhere`)
  for (const [name, value] of headers) {
    mustHold(STORED.includes(name) && request.header(name) !== undefined, `${name} from nowhere`)
    mustHold(name !== 'content-encoding' || !/(^|,)\s*aws-chunked\s*(,|$)/i.test(value), 'aws-chunked is kept')
  }
  return accepted(`${Math.min(metadata.length, 3)} and ${headers.length}`)
}

const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'].map((name) => `${name}: `)
const DATES = ['Thu, 15 Jan 2026 12:00:00 GMT', 'Thu, 15 Jan 2026 11:59:59 GMT', 'Sat, 01 Aug 2026 00:00:01 GMT']
const META = [
  ...'x-amz-meta- X-Amz-Meta- response-content-type= ? %0d%0a \n'.split(' '),
  ...STORED.map((name) => `${name}: `),
]

export const HEADER_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'range',
    seeds: ['10 bytes=0-4', '10 bytes=-3', '10 bytes=5-', '10 bytes=9-9999999999999999999999'],
    words: ['bytes=', '-', ',', ' ', '=', '%'],
    make: rangeByChance,
    judge: judgeRange,
  },
  {
    name: 'copy-range',
    seeds: ['10 bytes=0-4', '10 bytes=9-9', '6442450944 bytes=1-5368709120', '6442450944 bytes=0-5368709120'],
    words: ['bytes=', '-', ',', ' ', '=', '0'],
    make: rangeByChance,
    judge: judgeCopyRange,
  },
  {
    name: 'conditions',
    seeds: [
      `if-match: "${ETAG}"`,
      `if-none-match: W/"${ETAG}", "other" ${ETAG}`,
      `if-none-match: *\nif-modified-since: ${DATES[0]}`,
      `if-modified-since: ${DATES[0]}`,
      'if-match: *',
    ],
    words: [...CONDITIONS, ...DATES, ETAG, `"${ETAG}"`, 'W/', '"', ',', '*', '\n'],
    judge: judgeConditions,
  },
  {
    name: 'metadata',
    seeds: [
      'x-amz-meta-a: 1\nx-amz-meta-a: 2\ncontent-type: text/plain',
      '?x-amz-meta-__proto__=ü&response-content-type=a/b\ncontent-encoding: aws-chunked,gzip',
      'cache-control: no-store\ncache-control: private\nexpires: never',
    ],
    words: META,
    judge: judgeMetadata,
  },
]
