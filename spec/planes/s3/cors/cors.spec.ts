/** Proves: DO-CAP-10. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { type CorsRule, corsRules } from '../../../../engine/events/values.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import {
  CORS_BYTES_MAXIMUM,
  corsConfiguration,
  parseCorsConfiguration,
} from '../../../../planes/s3/cors/cors-configuration.ts'
import { preflightHeaders } from '../../../../planes/s3/cors/cors-match.ts'
import { crossOriginHeaders } from '../../../../planes/s3/cors/cors-requests.ts'
import type { CatalogReader } from '../../../../projections/catalog/catalog-reader.ts'
import { detail, refusal, refusalCode, wireRequest } from '../wire-request.ts'
import { anyCharacter } from '../../../support/any-character.ts'

function parse(document: string): CorsRule[] {
  return parseCorsConfiguration(Buffer.from(document))
}

function configuration(...rules: readonly string[]): string {
  return `<CORSConfiguration>${rules.map((rule) => `<CORSRule>${rule}</CORSRule>`).join('')}</CORSConfiguration>`
}

const METHOD = '<AllowedMethod>GET</AllowedMethod>'
const RULE: CorsRule = {
  id: undefined,
  origins: ['*'],
  methods: ['GET'],
  headers: [],
  exposed: [],
  maxAgeSeconds: undefined,
}

test('a configuration has a size that its record can hold', async (t) => {
  const kibibyte = `<AllowedOrigin>${'o'.repeat(1021)}</AllowedOrigin>`
  t.equal(parse(configuration(METHOD + kibibyte.repeat(19))).length, 1)
  const error = refusal(() => parse(configuration(METHOD + kibibyte.repeat(20))))
  t.equal(error.code, 'InvalidRequest')
  t.equal(detail(error, 'MaxSizeAllowed'), String(CORS_BYTES_MAXIMUM))
  const short = fc.string({ unit: fc.constantFrom('a', '-'), minLength: 1, maxLength: 300 })
  const rule = fc.record({
    origins: fc.array(short, { minLength: 1 }),
    id: fc.string({ unit: anyCharacter, maxLength: 255 }),
  })
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 100 }), (all) => {
      const document = corsConfiguration(all.map(({ origins, id }) => ({ ...RULE, origins, id })))
      if (refusalCode(() => parse(document)) !== undefined) return
      const { length } = Buffer.from(JSON.stringify(corsRules.encode(parse(document))))
      t.ok(length <= CORS_BYTES_MAXIMUM)
    }),
    { numRuns: 50 },
  )
})

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

test('without an Origin nothing is looked up', async (t) => {
  const asked: string[] = []
  const snapshot = {
    bucket: (name: string) => {
      asked.push(name)
      return name === 'b' ? { id: 7 } : undefined
    },
    cors: (id: number) => (id === 7 ? [RULE] : []),
  }
  const catalog = { snapshot: () => snapshot } as unknown as CatalogReader
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
