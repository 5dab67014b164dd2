import * as fc from 'fast-check'
import { test } from 'tap'
import { parseCopySource } from '../../../../planes/s3/request/copy-source.ts'
import { parseQuery } from '../../../../planes/s3/request/query-parameters.ts'
import { parseTarget } from '../../../../planes/s3/request/target.ts'
import { decodeUri, encodeUri } from '../../../../planes/s3/text/uri-encoding.ts'
import { refusalCode } from '../wire-request.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const anyKey = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 200 })
  .filter((key) => Buffer.byteLength(key) <= 1024)

/** Percent-encodes some of what need not be, with digits of either case: every spelling means the same key. */
function spell(text: string, choices: readonly number[]): string {
  let spelled = ''
  let index = 0
  for (const byte of Buffer.from(text)) {
    const choice = choices[index % choices.length] ?? 0
    const character = String.fromCharCode(byte)
    const encoded = `%${byte.toString(16).padStart(2, '0')}`
    if (choice === 0 && /[A-Za-z0-9\-._~/+=@:;,!$&'()*]/.test(character)) spelled += character
    else spelled += choice === 1 ? encoded : encoded.toUpperCase()
    index += 1
  }
  return spelled
}

/** The same as `encodeUri`, from the bytes of the text. */
function byteByByte(text: string, keepSlash: boolean): string {
  const plain = keepSlash ? /[A-Za-z0-9\-._~/]/ : /[A-Za-z0-9\-._~]/
  const spelled = [...Buffer.from(text)].map((byte) => {
    const character = String.fromCharCode(byte)
    return plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  })
  return spelled.join('')
}

test('percent encoding', async (t) => {
  t.equal(encodeUri("a b+c/d~e!'()*é%", true), 'a%20b%2Bc/d~e%21%27%28%29%2A%C3%A9%25')
  t.equal(encodeUri('a/b', false), 'a%2Fb')
  t.equal(decodeUri('%2e%2E/%c3%bc+%252F'), '../ü+%2F')
  for (const broken of ['%', '%2', '%zz', '%ff', '%C3', '%C0%80', '%ED%A0%80', '%F5%80%80%80']) {
    t.equal(decodeUri(broken), undefined, broken)
  }
  fc.assert(
    fc.property(anyKey, fc.boolean(), (text, keepSlash) => {
      const encoded = encodeUri(text, keepSlash)
      return encoded === byteByByte(text, keepSlash) && decodeUri(encoded) === text
    }),
    { numRuns: 200 },
  )
})

test('keys are decoded once and never normalized', async (t) => {
  const slashes = [
    'a',
    'a/b',
    '/a',
    'a/',
    'a//b',
    '//',
    '.',
    '..',
    '../x',
    'a/../b',
    'a/./b',
    '%2F',
    '%',
    '+',
    'a b',
    'a+b',
  ]
  const marks = ['?', '#', '&=', '\\', 'a\\..\\b', '~', '*', 'é', 'e\u0301', '😀', '\uffff', '__proto__']
  const controls = ['\u0000', 'a\u0000b', '\r\n', '\u007f']
  const longest = ['a'.repeat(1024), 'é'.repeat(512), '\u{10ffff}'.repeat(256)]
  const keys = [...slashes, ...marks, ...controls, ...longest]
  const seen = new Set<string>()
  for (const key of keys) {
    const target = parseTarget(`/bucket/${encodeUri(key, true)}`, '')
    t.equal(target.key, key)
    t.equal(target.bucket, 'bucket')
    seen.add(target.canonicalPath)
  }
  t.equal(seen.size, keys.length, 'no two keys share a canonical path')
  const raw: [path: string, key: string, canonical: string][] = [
    ['/b/%2e%2e/x', '../x', '/b/../x'],
    ['/b/a%2Fb', 'a/b', '/b/a/b'],
    ['/b/a%2fb', 'a/b', '/b/a/b'],
    ['/b/%252F', '%2F', '/b/%252F'],
    ['/b/a+b', 'a+b', '/b/a%2Bb'],
    ['/b/a=b;c@d', 'a=b;c@d', '/b/a%3Db%3Bc%40d'],
    ['/b/%c3%bc', 'ü', '/b/%C3%BC'],
    ['/b//k', '/k', '/b//k'],
    ['/b/%41', 'A', '/b/A'],
    ['/b/#x', '#x', '/b/%23x'],
  ]
  for (const [path, key, canonical] of raw) {
    const target = parseTarget(path, '')
    t.equal(target.key, key, path)
    t.equal(target.canonicalPath, canonical, path)
  }
  fc.assert(
    fc.property(anyKey, fc.array(fc.nat(2), { minLength: 1 }), (key, choices) => {
      const target = parseTarget(`/b/${spell(key, choices)}`, '')
      return target.key === key && target.canonicalPath === `/b/${byteByByte(key, true)}`
    }),
    { numRuns: 300 },
  )
})

test('queries', async (t) => {
  const query = parseQuery('b=2&a=x+y&acl&=v&&a=%2B&e=&__proto__=p&X-Amz-Signature=s&B=1')
  t.same(query.entries.slice(0, 5), [
    ['b', '2'],
    ['a', 'x y'],
    ['acl', ''],
    ['', 'v'],
    ['a', '+'],
  ])
  t.equal(query.first('a'), 'x y')
  t.equal(query.first('__proto__'), 'p')
  t.equal(query.first('toString'), undefined)
  t.equal(query.has('acl'), true)
  t.equal(query.has('ACL'), false)
  t.equal(query.canonical(), '=v&B=1&__proto__=p&a=%2B&a=x%20y&acl=&b=2&e=')
  t.equal(parseQuery('').canonical(), '')
  t.equal(parseQuery('a=b=c').first('a'), 'b=c')
  // Sorting is by encoded bytes: an encoded character comes before every letter.
  t.equal(parseQuery('a~=1&a%C3%A9=2&aB=3').canonical(), 'a%C3%A9=2&aB=3&a~=1')
  fc.assert(
    fc.property(fc.array(fc.tuple(anyKey, anyKey), { maxLength: 8 }), (entries) => {
      const raw = entries.map(([name, value]) => `${encodeUri(name, false)}=${encodeUri(value, false)}`)
      const parsed = parseQuery(raw.join('&'))
      const forward = parsed.canonical() === parseQuery(raw.toReversed().join('&')).canonical()
      return forward && JSON.stringify(parsed.entries) === JSON.stringify(entries)
    }),
    { numRuns: 100 },
  )
})

test('copy sources', async (t) => {
  const good: [header: string, bucket: string, key: string, versionId?: string][] = [
    ['b/k', 'b', 'k'],
    ['/b/k', 'b', 'k'],
    ['b%2Fk', 'b', 'k'],
    ['%2Fb%2Fa%2Fb', 'b', 'a/b'],
    ['/b//k', 'b', '/k'],
    ['b/a+b%20c%2B', 'b', 'a b c+'],
    ['b%2Fa%2Fb+c%2Bd', 'b', 'a/b c+d'],
    ['b/../x', 'b', '../x'],
    ['b/k?versionId=null', 'b', 'k', 'null'],
    ['b/k%3FversionId=1', 'b', 'k?versionId=1'],
    ['b/k?versionId=1?versionId=2', 'b', 'k?versionId=1', '2'],
    ['b/k?x=1', 'b', 'k?x=1'],
    ['b/é', 'b', 'é'],
    ['b/%00', 'b', '\u0000'],
  ]
  for (const [header, bucket, key, versionId] of good) {
    t.same(parseCopySource(header), { bucket, key, versionId }, header)
  }
  for (const header of [
    '',
    '/',
    'b',
    '/b',
    'b/',
    '/b/',
    '//k',
    'b/%',
    'b/%ff',
    'b/k?versionId=',
    'b/k?versionId=%zz',
  ]) {
    t.equal(
      refusalCode(() => parseCopySource(header)),
      'InvalidArgument',
      header,
    )
  }
  t.equal(
    refusalCode(() => parseCopySource(`b/${'a'.repeat(1025)}`)),
    'KeyTooLongError',
  )
  fc.assert(
    fc.property(anyKey, fc.array(fc.nat(2), { minLength: 1 }), (key, choices) => {
      return parseCopySource(`/bucket/${spell(key, choices)}`).key === key
    }),
    { numRuns: 200 },
  )
})
