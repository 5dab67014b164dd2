/** Which object a request means: path, query and copy source. */
import { isBucketName, RESERVED_PREFIXES, RESERVED_SUFFIXES } from '../../../../engine/domain/names.ts'
import { parseCopySource } from '../../../../planes/s3/request/copy-source.ts'
import { parseRenameSource } from '../../../../planes/s3/request/rename-source.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import { naiveCanonicalQuery, naiveDecode, naiveEncode, naiveParameters } from '../naive-uri.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const KEY_BYTES = 1024
/** What the server answers 400 before any reader sees it. */
const OUTSIDE_VISIBLE_ASCII = /[^\x21-\x7e]/g

/** What a request line can carry, whatever chance made. */
function visible(input: Buffer): string {
  return input.toString('latin1').replaceAll(OUTSIDE_VISIBLE_ASCII, '~')
}

/** The object that a path means, by the rules of the README; undefined where it means none. */
function naiveTarget(
  path: string,
): { readonly bucket: string | undefined; readonly key: string | undefined } | undefined {
  const [rawBucket = '', ...rest] = path.slice(1).split('/')
  const [bucket, key] = [naiveDecode(rawBucket), naiveDecode(rest.join('/'))]
  if (bucket === undefined || key === undefined || bucket.includes('/')) return undefined
  if ((bucket === '' && rest.length > 0) || Buffer.byteLength(key) > KEY_BYTES) return undefined
  return { bucket: bucket === '' ? undefined : bucket, key: key === '' ? undefined : key }
}

function judgePath(input: Buffer): Verdict {
  const path = `/${visible(input).split('?').join('')}`
  const answer = s3Answer(() => parseTarget(path, ''))
  const expected = naiveTarget(path)
  if (!('value' in answer)) {
    mustHold(expected === undefined, `${path} was refused`)
    return refused(answer.code)
  }
  const { bucket, key, canonicalPath } = answer.value
  mustBeSame({ bucket, key }, expected, path)
  // Who signs the canonical path asks for the same object.
  const again = s3Answer(() => parseTarget(canonicalPath, ''))
  mustBeSame(
    'value' in again && [again.value.bucket, again.value.key, again.value.canonicalPath],
    [bucket, key, canonicalPath],
    path,
  )
  const slash = path.indexOf('/', 1) === -1 ? '' : '/'
  mustBeSame(canonicalPath, `/${naiveEncode(bucket ?? '', true)}${slash}${naiveEncode(key ?? '', true)}`, path)
  return accepted(key === undefined ? 'bucket' : 'key')
}

const PARAMETERS_MAXIMUM = 100

function judgeQuery(input: Buffer): Verdict {
  const query = visible(input)
  const answer = s3Answer(() => parseQuery(query))
  const expected = naiveParameters(query)
  if (!('value' in answer)) {
    mustHold(expected === undefined || expected.length > PARAMETERS_MAXIMUM, `${query} was refused`)
    return refused(answer.code)
  }
  mustBeSame(answer.value.entries, expected, query)
  mustBeSame(answer.value.canonical(), naiveCanonicalQuery(answer.value.entries), query)
  for (const [name, value] of answer.value.entries) {
    mustBeSame(answer.value.has(name), true, name)
    if (answer.value.entries.find((entry) => entry[0] === name)?.[1] === value) continue
    mustHold(answer.value.first(name) !== value, `the first ${name} of ${query}`)
  }
  return accepted(`${Math.min(answer.value.entries.length, 5)} parameters`)
}

/** `bucket/key` or `/bucket/key`, decoded once with `+` for a space, with a version id behind the last `?versionId=`. */
function naiveCopySource(header: string): unknown {
  const pieces = header.split('?versionId=')
  const hasVersion = pieces.length > 1
  const versionId = hasVersion ? naiveDecode(pieces.at(-1) as string) : undefined
  const path = hasVersion ? pieces.slice(0, -1).join('?versionId=') : header
  const source = naiveDecode(path.split('+').join(' '))
  if (source === undefined || (hasVersion && !versionId)) return undefined
  const [bucket = '', ...rest] = (source.startsWith('/') ? source.slice(1) : source).split('/')
  const key = rest.join('/')
  if (bucket === '' || key === '' || Buffer.byteLength(key) > KEY_BYTES) return undefined
  return { bucket, key, versionId }
}

function judgeCopySource(input: Buffer): Verdict {
  const header = input.toString('latin1')
  const answer = s3Answer(() => parseCopySource(header))
  const expected = naiveCopySource(header)
  if ('value' in answer) {
    mustBeSame(answer.value, expected, header)
    return accepted(answer.value.versionId === undefined ? 'source' : 'source and version')
  }
  mustHold(expected === undefined, `${header} was refused`)
  return refused(answer.code)
}

/** A key, or `/bucket/key` of this bucket, decoded once; a key that begins with the bucket is not said without it. */
function naiveRenameSource(header: string, bucket: string): string | undefined {
  const source = naiveDecode(header)
  if (source === undefined) return undefined
  const path = `/${bucket}/`
  const isPath = source.startsWith('/')
  if (isPath ? !source.startsWith(path) : `/${source}`.startsWith(path)) return undefined
  const key = isPath ? source.slice(path.length) : source
  return key === '' || Buffer.byteLength(key) > KEY_BYTES ? undefined : key
}

function judgeRenameSource(input: Buffer): Verdict {
  const header = input.toString('latin1')
  const answer = s3Answer(() => parseRenameSource(header, 'b'))
  const expected = naiveRenameSource(header, 'b')
  if ('value' in answer) {
    mustBeSame(answer.value, expected, header)
    return accepted(header.startsWith('/') ? 'path' : 'key')
  }
  mustHold(expected === undefined, `${header} was refused`)
  return refused(answer.code)
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

function naiveBucketName(name: string): boolean {
  const labels = name.split('.')
  if (name.length < 3 || name.length > 63) return false
  if (![...name].every((character) => LETTERS.includes(character) || '.-'.includes(character))) return false
  if (labels.some((label) => label === '' || label.startsWith('-') || label.endsWith('-'))) return false
  if (labels.length === 4 && labels.every((label) => [...label].every((digit) => digit >= '0' && digit <= '9')))
    return false
  return (
    !RESERVED_PREFIXES.some((each) => name.startsWith(each)) && !RESERVED_SUFFIXES.some((each) => name.endsWith(each))
  )
}

function judgeBucketName(input: Buffer): Verdict {
  const name = input.toString()
  const isName = isBucketName(name)
  mustBeSame(isName, naiveBucketName(name), name)
  return isName ? accepted() : refused()
}

const LONG = 'k'.repeat(KEY_BYTES)
const PATHS = ['bucket/key', 'bucket', 'bucket/', 'b/a%20b/%C3%BC', 'b//..//.%2e/%2F', `b/${LONG}`, `b/%${LONG}`, '']
const QUERIES = ['list-type=2&prefix=a%2Fb', 'acl', 'a=b&a=c&B=d+e', 'X-Amz-Signature=0&x-id=GetObject', 'a==&&=b']
const SOURCES = ['bucket/key', '/bucket/a%20b?versionId=null', 'b%2Fk', `/b/${LONG}`, 'b/k?versionId=a?versionId=b']
const RENAMED = ['key', '/b/key', '/b/a%20b', 'b/key', '%2Fb%2Fk', `/b/${LONG}`, LONG, '/c/k', '/b/', '']
const NAMES = ['bucket', 'a.b-c.9', 'x'.repeat(63), 'sthree', '1.2.3.4.5']

export const URI_TARGETS: readonly FuzzTarget[] = [
  { name: 'path', seeds: PATHS, words: ['/', '%2F', '%2e%2e', LONG], judge: judgePath },
  { name: 'query', seeds: QUERIES, words: ['&', '=', '+', '%2B'], judge: judgeQuery },
  {
    name: 'copy-source',
    seeds: SOURCES,
    words: ['?versionId=', '%3FversionId=', '/', '%2F', LONG, 'null'],
    judge: judgeCopySource,
  },
  { name: 'rename-source', seeds: RENAMED, words: ['/', '%2F', '/b/', 'b/', LONG], judge: judgeRenameSource },
  {
    name: 'bucket-name',
    seeds: NAMES,
    words: ['.', '-', '..', '.-', '-.', '192.168.5.4', ...RESERVED_PREFIXES, ...RESERVED_SUFFIXES, 'x'.repeat(60)],
    judge: judgeBucketName,
  },
]
