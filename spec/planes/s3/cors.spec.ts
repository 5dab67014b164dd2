import * as fc from 'fast-check'
import { test } from 'tap'
import type { CorsRule } from '../../../engine/events/changes.ts'
import { encodeCorsRules } from '../../../engine/events/value-codec.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import {
  CORS_BYTES_MAXIMUM,
  CORS_RULES_MAXIMUM,
  corsConfiguration,
  parseCorsConfiguration,
} from '../../../planes/s3/cors-configuration.ts'
import { corsHeaders, preflightHeaders } from '../../../planes/s3/cors-match.ts'
import { crossOriginHeaders } from '../../../planes/s3/cors-requests.ts'
import type { CatalogReader } from '../../../projections/catalog-reader.ts'
import { detail, refusal, refusalCode, wireRequest } from './wire-request.ts'

const BYTES_MAXIMUM = 1024 ** 2

function parse(document: string): CorsRule[] {
  return parseCorsConfiguration(Buffer.from(document), BYTES_MAXIMUM)
}

function configuration(...rules: readonly string[]): string {
  return `<CORSConfiguration>${rules.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
}

const ORIGIN = '<AllowedOrigin>*</AllowedOrigin>'
const METHOD = '<AllowedMethod>GET</AllowedMethod>'
const RULE: CorsRule = {
  id: undefined,
  origins: ['*'],
  methods: ['GET'],
  headers: [],
  exposed: [],
  maxAgeSeconds: undefined,
}

test('configurations of clients', async (t) => {
  t.same(parse(configuration(ORIGIN + METHOD)), [RULE])
  const full: CorsRule = {
    id: 'a & b é',
    origins: ['https://*.example.com', 'http://localhost:3000'],
    methods: ['PUT', 'HEAD', 'POST', 'DELETE', 'GET'],
    headers: ['x-amz-*', 'Content-Type', '*'],
    exposed: ['ETag', 'x-amz-request-id'],
    maxAgeSeconds: 0,
  }
  const document = corsConfiguration([full, RULE])
  t.match(
    document,
    '<?xml version="1.0" encoding="UTF-8"?>\n<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006',
  )
  t.match(document, '<CORSRule><ID>a &amp; b é</ID><AllowedHeader>x-amz-*</AllowedHeader><AllowedHeader>Content-Type<')
  t.match(document, '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConf')
  t.same(parse(document), [full, RULE], 'what was put is given back')
  t.same(parse(configuration(`\n <AllowedOrigin> * </AllowedOrigin>\n<MaxAgeSeconds> 7 </MaxAgeSeconds>${METHOD}`)), [
    { ...RULE, maxAgeSeconds: 7 },
  ])
  const most = Array.from({ length: CORS_RULES_MAXIMUM }, () => ORIGIN + METHOD)
  t.equal(parse(configuration(...most)).length, CORS_RULES_MAXIMUM)
})

test('configurations that are none', async (t) => {
  const malformed = [
    '',
    '<CORSConfiguration/>',
    configuration(''),
    configuration(ORIGIN),
    configuration(METHOD),
    configuration(`${ORIGIN}${METHOD}<Other/>`),
    configuration(`${ORIGIN}${METHOD}text`),
    configuration(`${METHOD}<AllowedOrigin><a>*</a></AllowedOrigin>`),
    configuration(`${ORIGIN}${METHOD}<ID>a</ID><ID>b</ID>`),
    `<CORSConfiguration>${ORIGIN}${METHOD}</CORSConfiguration>`,
    ...['', '-1', '1.5', 'x', '2147483648'].map((age) =>
      configuration(`${ORIGIN}${METHOD}<MaxAgeSeconds>${age}</MaxAgeSeconds>`),
    ),
  ]
  for (const document of malformed)
    t.equal(
      refusalCode(() => parse(document)),
      'MalformedXML',
      document,
    )

  const origins = ['', 'a b', 'a,b', '*.*', '**', 'é', 'a&#13;b', 'a&#10;b', 'a&#127;b', 'a&#133;b']
  const headers = ['', 'a b', 'a:b', 'a*b*', 'x&#13;&#10;set-cookie', 'é', '"']
  const exposed = [...headers, '*', 'x-*']
  const methods = ['', 'get', 'OPTIONS', 'PATCH', 'GET,PUT', '*', 'GET&#10;']
  const ids = ['x'.repeat(256), 'a&#10;b', 'a&#xfffd;']
  const invalid = [
    ...origins.map((text) => `${METHOD}<AllowedOrigin>${text}</AllowedOrigin>`),
    ...methods.filter((text) => text !== 'GET&#10;').map((text) => `${ORIGIN}<AllowedMethod>${text}</AllowedMethod>`),
    ...headers.map((text) => `${ORIGIN}${METHOD}<AllowedHeader>${text}</AllowedHeader>`),
    ...exposed.map((text) => `${ORIGIN}${METHOD}<ExposeHeader>${text}</ExposeHeader>`),
    ...ids.map((text) => `${ORIGIN}${METHOD}<ID>${text}</ID>`),
  ]
  for (const rule of invalid)
    t.equal(
      refusalCode(() => parse(configuration(rule))),
      'InvalidRequest',
      rule,
    )
  const many = Array.from({ length: CORS_RULES_MAXIMUM + 1 }, () => ORIGIN + METHOD)
  t.equal(
    refusalCode(() => parse(configuration(...many))),
    'InvalidRequest',
  )
})

test('a configuration has a size that its record can hold', async (t) => {
  const kibibyte = `<AllowedOrigin>${'o'.repeat(1021)}</AllowedOrigin>`
  t.equal(parse(configuration(METHOD + kibibyte.repeat(19))).length, 1)
  const error = refusal(() => parse(configuration(METHOD + kibibyte.repeat(20))))
  t.equal(error.code, 'InvalidRequest')
  t.equal(detail(error, 'MaxSizeAllowed'), String(CORS_BYTES_MAXIMUM))
  const short = fc.string({ unit: fc.constantFrom('a', '-'), minLength: 1, maxLength: 300 })
  const rule = fc.record({
    origins: fc.array(short, { minLength: 1 }),
    id: fc.string({ unit: 'binary', maxLength: 255 }),
  })
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 100 }), (all) => {
      const document = corsConfiguration(all.map(({ origins, id }) => ({ ...RULE, origins, id })))
      if (refusalCode(() => parse(document)) !== undefined) return
      const { length } = Buffer.from(JSON.stringify(encodeCorsRules(parse(document))))
      t.ok(length <= CORS_BYTES_MAXIMUM)
    }),
    { numRuns: 50 },
  )
})

const EXAMPLE: CorsRule = {
  id: undefined,
  origins: ['https://a.example', 'https://*.b.example', 'http://c*'],
  methods: ['GET', 'PUT'],
  headers: ['Content-Type', 'x-amz-*', '*-end', 'in*side'],
  exposed: ['ETag', 'x-amz-version-id'],
  maxAgeSeconds: 3000,
}
const VARY: HeaderLine = ['vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method']

function preflight(rules: readonly CorsRule[], headers: readonly HeaderLine[]): HeaderLine[] {
  return preflightHeaders(wireRequest('OPTIONS', '/b/k?X-Amz-Signature=x', headers).request, rules)
}

function asking(origin: string, method: string, ...headers: readonly string[]): HeaderLine[] {
  return [
    ['origin', origin],
    ['access-control-request-method', method],
    ...headers.map((list): HeaderLine => ['access-control-request-headers', list]),
  ]
}

function allowsCredentials(headers: readonly HeaderLine[]): boolean {
  return headers.some(([name]) => name === 'access-control-allow-credentials')
}

test('preflights', async (t) => {
  t.same(preflight([EXAMPLE], asking('https://a.example', 'PUT', 'content-type, X-Amz-Date,,x-amz-date', 'the-end')), [
    ['access-control-allow-origin', 'https://a.example'],
    ['access-control-allow-credentials', 'true'],
    ['access-control-allow-methods', 'GET, PUT'],
    ['access-control-expose-headers', 'ETag, x-amz-version-id'],
    ['access-control-max-age', '3000'],
    VARY,
    ['access-control-allow-headers', 'content-type, x-amz-date, the-end'],
  ])
  t.same(preflight([RULE], asking('null', 'GET')), [
    ['access-control-allow-origin', '*'],
    ['access-control-allow-methods', 'GET'],
    VARY,
  ])
  t.same(preflight([{ ...RULE, maxAgeSeconds: 0 }], asking('x', 'GET', '')).at(-2), ['access-control-max-age', '0'])

  const fitting = [
    asking('https://x.b.example', 'GET'),
    asking('https://.b.example', 'GET'),
    asking('http://c', 'GET'),
    asking('http://c:1/é'.slice(0, -1), 'GET', 'inside', 'in-side', '-end', 'x-amz-'),
  ]
  for (const headers of fitting) {
    t.match(preflight([EXAMPLE], headers)[0], ['access-control-allow-origin', headers[0]?.[1]])
    t.notOk(allowsCredentials(preflight([EXAMPLE], headers)), 'what fits a pattern gets no credentials')
  }
  const strange: HeaderLine[][] = [
    asking('https://A.example', 'GET'),
    asking('https://a.example.evil', 'GET'),
    asking('https://b.example', 'GET'),
    asking('http://c,http://d', 'GET'),
    asking('http://c d', 'GET'),
    asking('http://c\u0000', 'GET'),
    asking('https://a.example', 'get'),
    asking('https://a.example', 'DELETE'),
    asking('https://a.example', 'GET', 'content-typ'),
    asking('https://a.example', 'GET', 'x-amz-date, other'),
    asking('https://a.example', 'GET', 'x-amz-a b'),
    asking('https://a.example', 'GET', 'insid'),
    asking('https://a.example', 'GET', Array.from({ length: 101 }, (_, index) => `x-amz-${index}`).join()),
  ]
  for (const headers of strange)
    t.equal(
      refusalCode(() => preflight([EXAMPLE], headers)),
      'AccessForbidden',
      headers.join(),
    )
  t.equal(
    refusalCode(() => preflight([], asking('x', 'GET'))),
    'AccessForbidden',
  )
  t.equal(
    refusalCode(() => preflight([RULE], asking('x', 'GET', 'a'))),
    'AccessForbidden',
    'no header is allowed',
  )
  t.equal(
    refusalCode(() => preflight([RULE], [['access-control-request-method', 'GET']])),
    'BadRequest',
  )
  t.equal(
    refusalCode(() => preflight([], [['origin', 'x']])),
    'BadRequest',
  )
  t.equal(
    refusalCode(() => preflight([RULE], asking('', 'GET'))),
    'BadRequest',
  )
  t.equal(
    refusalCode(() => preflight([RULE], asking('x', ''))),
    'BadRequest',
  )
})

test('the first rule that fits wins, and in it the first origin', async (t) => {
  const rules: CorsRule[] = [
    { ...RULE, methods: ['PUT'], maxAgeSeconds: 1 },
    { ...RULE, origins: ['http://d'], headers: ['a'], maxAgeSeconds: 2 },
    { ...RULE, origins: ['http://*', '*'], headers: ['*'], maxAgeSeconds: 3 },
    { ...RULE, headers: ['*'], maxAgeSeconds: 4 },
  ]
  const age = (headers: readonly HeaderLine[]) =>
    preflight(rules, headers).find(([name]) => name === 'access-control-max-age')?.[1]
  t.equal(age(asking('http://d', 'PUT')), '1')
  t.equal(age(asking('http://d', 'GET', 'A')), '2')
  t.equal(age(asking('http://d', 'GET', 'b')), '3')
  t.equal(age(asking('e', 'GET')), '3')
  const origin = (from: string) => preflight(rules, asking(from, 'GET'))[0]?.[1]
  t.equal(origin('http://x'), 'http://x')
  t.equal(origin('e'), '*')
})

function answer(origins: readonly string[], origin: string): HeaderLine[] {
  return preflight([{ ...RULE, origins }], asking(origin, 'GET'))
}

test('credentials are for origins that the rule spells out, whatever else fits', async (t) => {
  t.ok(allowsCredentials(answer(['http://a'], 'http://a')))
  t.ok(allowsCredentials(answer(['http://a', 'http://*', '*'], 'http://a')))
  t.notOk(allowsCredentials(answer(['http://*', 'http://a'], 'http://a')), 'the first entry that fits decides')
  t.notOk(allowsCredentials(answer(['http://a*'], 'http://a')))
  t.notOk(allowsCredentials(answer(['http://*'], 'http://*')), 'an origin that is the pattern itself')
  t.notOk(allowsCredentials(answer(['*'], '*')))
  const sandboxed = answer(['null'], 'null')
  t.same(sandboxed[0], ['access-control-allow-origin', 'null'])
  t.notOk(allowsCredentials(sandboxed), 'anyone can be null')
})

function lines(method: string, rules: readonly CorsRule[], ...headers: readonly HeaderLine[]): HeaderLine[] {
  return corsHeaders(wireRequest(method, '/b/k', headers).request, rules)
}

test('real requests', async (t) => {
  const origin: HeaderLine = ['origin', 'https://a.example']
  t.same(lines('PUT', [EXAMPLE], origin, ['x-other', '1']), [
    ['access-control-allow-origin', 'https://a.example'],
    ['access-control-allow-credentials', 'true'],
    ['access-control-allow-methods', 'GET, PUT'],
    ['access-control-expose-headers', 'ETag, x-amz-version-id'],
    ['access-control-max-age', '3000'],
    VARY,
  ])
  t.same(lines('GET', [EXAMPLE]), [])
  t.same(lines('GET', [], origin), [])
  t.same(lines('DELETE', [EXAMPLE], origin), [])
  t.same(lines('GET', [EXAMPLE], ['origin', 'https://x.example']), [])
  t.same(lines('GET', [EXAMPLE], ['origin', '']), [])
  t.same(lines('GET', [RULE], origin)[0], ['access-control-allow-origin', '*'])
})

test('without an Origin nothing is looked up', async (t) => {
  const asked: string[] = []
  const catalog = {
    bucket: (name: string) => {
      asked.push(name)
      return name === 'b' ? { id: 7 } : undefined
    },
    cors: (id: number) => (id === 7 ? [RULE] : []),
  } as unknown as CatalogReader
  const headersOf = (rawTarget: string, ...headers: readonly HeaderLine[]) => {
    const { request, target } = wireRequest('GET', rawTarget, headers)
    return crossOriginHeaders(request, target, catalog)
  }
  t.same(headersOf('/b/k'), [])
  t.same(asked, [])
  t.same(headersOf('/b/k', ['origin', 'x'])[0], ['access-control-allow-origin', '*'])
  t.same(headersOf('/c/k', ['origin', 'x']), [])
  t.same(headersOf('/', ['origin', 'x']), [])
  t.same(asked, ['b', 'c'])
})
