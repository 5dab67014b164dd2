import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import {
  type ChecksumAlgorithm,
  contentMd5,
  declaredChecksum,
  startChecksum,
  startVerifier,
} from '../../../planes/s3/checksums.ts'
import { crc32c } from '../../../planes/s3/crc32c.ts'
import { contentHeaders, responseOverrides, userMetadata } from '../../../planes/s3/metadata.ts'
import { parseQuery } from '../../../planes/s3/query-parameters.ts'
import { detail, refusal, refusalCode, wireRequest } from './wire-request.ts'

function metadata(headers: readonly HeaderLine[], query = '') {
  const { request, target } = wireRequest('PUT', `/b/k${query}`, headers)
  return userMetadata(request, target)
}

test('user metadata', async (t) => {
  t.same(metadata([['content-type', 'x']]), [])
  const headers: HeaderLine[] = [
    ['x-amz-meta-z', '1'],
    ['x-amz-meta-__proto__', 'p'],
    ['x-amz-meta-constructor', 'c'],
    ['x-amz-meta-a', 'one'],
    ['x-amz-meta-a', 'two'],
    ['x-amz-meta-empty', ''],
    ['x-amz-meta-text', 'naïve 😀'],
  ]
  t.same(metadata(headers), [
    ['__proto__', 'p'],
    ['a', 'one,two'],
    ['constructor', 'c'],
    ['empty', ''],
    ['text', 'naïve 😀'],
    ['z', '1'],
  ])
  t.same(metadata([['x-amz-meta-a', 'h']], '?X-Amz-Meta-B=%20q%20&x-amz-meta-a=h'), [
    ['a', 'h'],
    ['b', 'q'],
  ])
  for (const query of ['?x-amz-meta-a%20b=1', '?x-amz-meta-=1', '?x-amz-meta-a%3A=1', '?x-amz-meta-%C3%A9=1']) {
    t.equal(
      refusalCode(() => metadata([], query)),
      'InvalidArgument',
      query,
    )
  }
  for (const value of ['a\nb', 'a\r\nx: y', '\u0000', 'a\u007f', '\u0085', 'a\tb']) {
    t.equal(
      refusalCode(() => metadata([['x-amz-meta-a', value]])),
      'InvalidArgument',
      JSON.stringify(value),
    )
    const query = `?x-amz-meta-a=${encodeURIComponent(`x${value}x`)}`
    t.equal(
      refusalCode(() => metadata([], query)),
      'InvalidArgument',
      query,
    )
  }
})

test('the size of user metadata counts names and values in bytes', async (t) => {
  const name = 'x-amz-meta-abc'
  t.equal(metadata([[name, 'v'.repeat(2045)]]).length, 1)
  t.equal(metadata([[name, `${'é'.repeat(1022)}v`]]).length, 1)
  for (const value of ['v'.repeat(2046), 'é'.repeat(1023)]) {
    const error = refusal(() => metadata([[name, value]]))
    t.equal(error.code, 'MetadataTooLarge')
    t.equal(detail(error, 'Size'), '2049')
    t.equal(detail(error, 'MaxSizeAllowed'), '2048')
  }
  const split = Array.from({ length: 30 }, (_, index): HeaderLine => [`x-amz-meta-${index}`, 'v'.repeat(70)])
  t.equal(
    refusalCode(() => metadata(split)),
    'MetadataTooLarge',
  )
})

function stored(headers: readonly HeaderLine[]) {
  return contentHeaders(wireRequest('PUT', '/b/k', headers).request)
}

test('content headers', async (t) => {
  const headers: HeaderLine[] = [
    ['expires', 'Thu, 01 Jan 2030 00:00:00 GMT'],
    ['content-type', 'text/plain; charset=utf-8'],
    ['cache-control', 'no-cache'],
    ['cache-control', 'private'],
    ['content-encoding', 'aws-chunked, gzip'],
    ['content-language', ''],
    ['content-disposition', 'attachment; filename="ü.txt"'],
    ['content-length', '1'],
    ['x-other', '1'],
  ]
  t.same(stored(headers), [
    ['cache-control', 'no-cache,private'],
    ['content-disposition', 'attachment; filename="ü.txt"'],
    ['content-encoding', 'gzip'],
    ['content-type', 'text/plain; charset=utf-8'],
    ['expires', 'Thu, 01 Jan 2030 00:00:00 GMT'],
  ])
  t.same(stored([['content-encoding', 'AWS-CHUNKED']]), [])
  t.same(stored([['content-encoding', 'gzip, br']]), [['content-encoding', 'gzip, br']])
  for (const line of [
    ['content-type', 'a\r\nb'],
    ['expires', '\u0001'],
  ] as const) {
    t.equal(
      refusalCode(() => stored([line])),
      'InvalidArgument',
    )
  }
  const twice: HeaderLine[] = [
    ['content-type', 'a/b'],
    ['content-type', 'c/d'],
  ]
  t.equal(
    refusalCode(() => stored(twice)),
    'InvalidArgument',
  )
})

test('response overrides', async (t) => {
  const query = parseQuery(
    'response-content-type=a%2Fb&response-expires=x&response-x=1&prefix=p&response-cache-control=',
  )
  t.same(responseOverrides(query), [
    ['content-type', 'a/b'],
    ['expires', 'x'],
    ['cache-control', ''],
  ])
  for (const raw of [
    'response-content-type=a%0D%0ASet-Cookie:x',
    'response-expires=%00',
    'response-expires=a&response-expires=b',
  ]) {
    t.equal(
      refusalCode(() => responseOverrides(parseQuery(raw))),
      'InvalidArgument',
      raw,
    )
  }
})

function md5(value: string): Buffer | undefined {
  return contentMd5(wireRequest('PUT', '/b/k', [['content-md5', value]]).request)
}

test('Content-MD5', async (t) => {
  t.equal(contentMd5(wireRequest('PUT', '/b/k').request), undefined)
  const bytes = createHash('md5').update('x').digest()
  t.same(md5(bytes.toString('base64')), bytes)
  const good = bytes.toString('base64')
  for (const bad of [
    '',
    'x',
    good.slice(0, -1),
    ` ${good}`,
    `${good}=`,
    bytes.toString('hex'),
    'AAAA',
    good.replace(/.==$/, 'B=='),
  ]) {
    if (bad !== good)
      t.equal(
        refusalCode(() => md5(bad)),
        'InvalidDigest',
        bad,
      )
  }
  t.equal(
    refusalCode(() => md5(`${good},${good}`)),
    'InvalidDigest',
  )
})

/** Checksums of the text `123456789`, as the catalogues of CRC algorithms and the hash standards give them. */
const KNOWN: Readonly<Record<ChecksumAlgorithm, string>> = {
  crc32: 'cbf43926',
  crc32c: 'e3069283',
  crc64nvme: 'ae8b14860a799888',
  sha1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  sha256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
}

const ALGORITHMS = Object.keys(KNOWN) as ChecksumAlgorithm[]

test('checksums of known texts, whole and in pieces', async (t) => {
  const text = Buffer.from('123456789')
  const bytes = randomBytes(1000)
  for (const algorithm of ALGORITHMS) {
    const whole = startChecksum(algorithm)
    whole.update(text)
    t.equal(whole.digest().toString('hex'), KNOWN[algorithm], algorithm)
    const empty = startChecksum(algorithm).digest()
    if (algorithm.startsWith('crc')) t.match(empty.toString('hex'), /^0+$/)
    const once = startChecksum(algorithm)
    once.update(bytes)
    const expected = once.digest()
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), (a, b) => {
        const pieces = startChecksum(algorithm)
        for (const piece of [bytes.subarray(0, Math.min(a, b)), bytes.subarray(Math.min(a, b), Math.max(a, b))])
          pieces.update(piece)
        pieces.update(bytes.subarray(Math.max(a, b)))
        return pieces.digest().equals(expected)
      }),
      { numRuns: 50 },
    )
  }
  // RFC 3720, appendix B.4
  t.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  t.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))), 0x46dd794e)
})

function declared(headers: readonly HeaderLine[], query = '') {
  return declaredChecksum(wireRequest('PUT', `/b/k${query}`, headers).request)
}

test('declared checksums', async (t) => {
  t.equal(declared([]), undefined)
  t.equal(declared([], '?x-amz-checksum-crc32=AAAAAA=='), undefined, 'the query is left alone')
  for (const algorithm of ALGORITHMS) {
    const header = `x-amz-checksum-${algorithm}`
    const text = Buffer.from(KNOWN[algorithm], 'hex').toString('base64')
    const checksum = declared([[header, text]])
    t.match(checksum, { algorithm, header, text })
    if (checksum === undefined) continue
    for (const [body, matches] of [
      ['123456789', true],
      ['123456788', false],
      ['', false],
    ] as const) {
      const verifier = startVerifier(checksum)
      for (const character of body) verifier.update(Buffer.from(character))
      t.equal(verifier.matches(), matches, `${algorithm} of ${body}`)
    }
    t.ok(
      declared([
        [header, text],
        ['x-amz-sdk-checksum-algorithm', algorithm.toUpperCase()],
      ]),
    )
    for (const bad of ['', 'x', text.slice(1), `${text} `, text.replace(/=+$/, ''), 'AA==', `${text}AAAA`]) {
      if (bad !== text)
        t.equal(
          refusalCode(() => declared([[header, bad]])),
          'InvalidRequest',
          `${header}: ${bad}`,
        )
    }
  }
})

test('declared checksums that contradict, and those that cannot be computed', async (t) => {
  const zero: HeaderLine = ['x-amz-checksum-crc32', 'AAAAAA==']
  t.equal(
    refusalCode(() => declared([zero, zero])),
    'InvalidRequest',
  )
  t.equal(
    refusalCode(() => declared([zero, ['x-amz-checksum-crc32c', 'AAAAAA==']])),
    'InvalidRequest',
  )
  t.equal(
    refusalCode(() => declared([zero, ['x-amz-sdk-checksum-algorithm', 'SHA256']])),
    'InvalidRequest',
  )
  t.equal(declared([['x-amz-sdk-checksum-algorithm', 'CRC32']]), undefined)
  t.equal(
    declared([
      ['x-amz-checksum-mode', 'ENABLED'],
      ['x-amz-checksum-algorithm', 'CRC32'],
    ]),
    undefined,
  )
  for (const name of ['md5', 'sha512', 'xxhash64', '__proto__', 'toString']) {
    t.equal(
      refusalCode(() => declared([[`x-amz-checksum-${name}`, 'AA==']])),
      'NotImplemented',
      name,
    )
  }
  const running = startChecksum('crc32')
  running.update(Buffer.from('abc'))
  t.equal(running.digest().readUInt32BE(), crc32('abc'))
})
