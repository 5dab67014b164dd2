/** The management interface: every answer is one, and nothing is done that the document, the role or the form forbids. */
import type { HttpRequest, HttpResponse } from '../../../../planes/http/exchange.ts'
import { openApiDocument } from '../../../../planes/management/openapi/openapi.ts'
import type { Route } from '../../../../planes/management/routing/define-route.ts'
import { routeList } from '../../../../planes/management/routing/route-list.ts'
import { findRoute } from '../../../../planes/management/routing/router.ts'
import { ManagementError } from '../../../../planes/management/errors.ts'
import type { Schema } from '../../../../planes/management/schemas/schema.ts'
import { disagreements } from '../../../support/pages/openapi-check.ts'
import type { Random } from '../../../support/random.ts'
import { SchemaValidator } from '../../../support/pages/schema-validator.ts'
import { jsonBySchema } from '../json-by-schema.ts'
import { type Deeds, KNOWN, stubbedPlane, TOKENS } from '../management-stub.ts'
import { requestOf, requestWith } from '../request-text.ts'
import { naiveParameters } from '../naive-uri.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const BODY_BYTES = 64 * 1024
/** Routes that read what the stub does not have: bytes, the disk, the metrics, a stream without an end. */
const ELSEWHERE =
  /\/(storage|verify|system|metrics|ready|audit\/export$|object-content|object-preview|object-proof|events\/stream)|openapi/
const ROUTES = routeList.filter(
  ({ path, body }) => !ELSEWHERE.test(path) && body !== 'object' && path.startsWith('/api/v1'),
)
const ADMINISTRATOR = 'osm_system-administrator'
const { components } = openApiDocument('0.0.0-fuzz', routeList) as unknown as {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}
const VALIDATOR = new SchemaValidator(components.schemas)

function routeOf(request: HttpRequest): Route | undefined {
  try {
    return findRoute(request.method, request.path).route
  } catch (error) {
    if (error instanceof ManagementError) return undefined
    throw error
  }
}

/** The role behind an Authorization header; the forms of the header have a target of their own. */
function naiveRole(request: HttpRequest): string | undefined {
  const token = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
  return token === undefined ? undefined : TOKENS.get(token)
}

async function judge(input: Buffer): Promise<Verdict> {
  const sent = requestOf(input)
  const request =
    sent.header('authorization') === undefined
      ? requestWith(
          [...sent.headers, ['authorization', `Bearer ${ADMINISTRATOR}`]],
          sent.method,
          targetOf(sent),
          bodyOf(input),
        )
      : sent
  const route = routeOf(request)
  if (route !== undefined && !ROUTES.includes(route)) return refused('elsewhere')
  const deeds: Deeds = { commands: [], queries: [], faults: [] }
  const response = await stubbedPlane(deeds)(request)
  if (deeds.faults.length > 0) throw deeds.faults[0]
  mustHold(response.status < 500, `${response.status}`)
  const text = typeof response.body === 'string' ? response.body : ''
  if (route === undefined) {
    mustHold(response.status === 404 || response.status === 405, `${response.status} where there is no route`)
    return refused(`${response.status}`)
  }
  requireDocumented(request, response, text)
  requireRole(request, route, response, deeds)
  if (response.status >= 400) {
    mustHold(deeds.commands.length === 0, `refused with ${response.status}, and done`)
    return refused(`${route.method} ${route.path} ${codeOf(text) ?? response.status}`)
  }
  requireForm(request, route, bodyOf(input))
  requireQueries(deeds)
  return accepted(`${route.method} ${route.path} ${response.status}`)
}

function targetOf({ path, query }: HttpRequest): string {
  return query === '' ? path : `${path}?${query}`
}

function bodyOf(input: Buffer): Buffer {
  const end = input.indexOf('\n\n')
  return end === -1 ? Buffer.alloc(0) : input.subarray(end + 2)
}

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly code?: string } }).error?.code
  } catch {
    return undefined
  }
}

/** The answer is one that the OpenAPI document has. */
function requireDocumented(request: HttpRequest, response: HttpResponse, text: string): void {
  const headers = Object.fromEntries(response.headers)
  mustHold(
    !response.headers.some(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value)),
    'a header that HTTP cannot carry',
  )
  const isJson = headers['content-type']?.startsWith('application/json') ?? false
  const json = isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined
  const answer = { status: response.status, headers, text, json, code: codeOf(text) }
  mustHold(/^[A-Za-z0-9._-]{1,128}$/.test(headers['x-request-id'] ?? ''), 'the id of the request')
  mustBeSame(disagreements(request.method, targetOf(request), answer), [], 'what the document does not say')
}

function requireRole(request: HttpRequest, { roles }: Route, { status }: HttpResponse, deeds: Deeds): void {
  if (typeof roles === 'string') return
  const role = naiveRole(request)
  if (role === undefined) mustBeSame([status, deeds.commands.length], [401, 0], 'without a token')
  else if (!roles.some((one) => one === role)) {
    mustBeSame([status, deeds.commands.length], [403, 0], `as ${role}`)
  }
}

/** Body and query are what the document says. */
function requireForm(request: HttpRequest, route: Route, body: Buffer): void {
  const schema = route.request?.schema
  if (schema !== undefined && request.method !== 'HEAD') {
    const value: unknown = body.length === 0 ? {} : JSON.parse(body.toString())
    // The status of versioning is taken in any case.
    const isVersioning = route.path.endsWith('/versioning')
    const problems = VALIDATOR.problemsOf(value, schema).filter(
      (text) => !(isVersioning && text.startsWith('body.status: is "')),
    )
    mustBeSame(problems, [], `${route.method} ${route.path} accepted`)
  }
  for (const [name, value] of naiveParameters(request.query) ?? []) {
    const parameter = route.query[name]
    mustHold(parameter !== undefined, `the parameter ${name}`)
    mustBeSame(parameter && parameterFault(parameter.schema, value), undefined, `${name}=${value}`)
  }
}

/** Times have targets of their own. */
function parameterFault({ type, minimum, maximum, pattern, enum: values }: Schema, text: string): string | undefined {
  if (values !== undefined) return values.includes(text) ? undefined : 'no such word'
  if (pattern !== undefined) return new RegExp(pattern).test(text) ? undefined : 'another form'
  if (type !== 'integer') return undefined
  const isRight = /^[0-9]+$/.test(text) && Number(text) >= (minimum ?? 0) && Number(text) <= (maximum ?? 2 ** 53 - 1)
  return isRight ? undefined : 'out of bounds'
}

function requireQueries({ queries }: Deeds): void {
  for (const { sinceMicroseconds, untilMicroseconds, limit } of queries) {
    mustHold(Number.isSafeInteger(sinceMicroseconds) && sinceMicroseconds >= 0, `since ${sinceMicroseconds}`)
    mustHold(untilMicroseconds >= 0, `until ${untilMicroseconds}`)
    mustHold(Number.isInteger(limit) && limit >= 1 && limit <= 1000, `limit ${limit}`)
  }
}

const QUERY_VALUES = [
  ...'1 0 1000 1001 success failure null a 2026-08-01T00:00:00Z json csv'.split(' '),
  KNOWN['version_id'] as string,
]

/** A request for a route, with names that are there and a body that mostly fits its schema. */
function requestByChance(random: Random): string {
  const route = random.of(ROUTES)
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const known = KNOWN[name === 'id' && route.path.includes('/webhooks/') ? 'webhook_id' : name]
    return random.below(12) === 0 ? 'none' : (known ?? 'x')
  })
  const query = Object.keys(route.query)
    .filter(() => random.below(3) === 0)
    .map((name) => `${name}=${random.of(QUERY_VALUES)}`)
  const schema = route.request?.schema
  const body = schema === undefined ? '' : JSON.stringify(jsonBySchema(schema, random))
  const token = random.below(4) === 0 ? random.of(['x', ...TOKENS.keys()]) : ADMINISTRATOR
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`
  return `${route.method} ${target}\nauthorization: Bearer ${token}\n\n${body}`
}

const WORDS = [...ROUTES.map(({ path }) => path), ...TOKENS.keys(), ...Object.values(KNOWN), ...QUERY_VALUES]
const NAMES = 'name status quota bytes objects mode role enabled statements version_id object_lock'.split(' ')
const SIGNS = '" { } [ ] : , ? & = / %2F \n\n "limit" "unlimited" "Enabled" null'.split(' ')

export const MANAGEMENT_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'management',
    seeds: [
      'POST /api/v1/buckets\n\n{"name":"new-bucket","object_lock":true}',
      'PUT /api/v1/buckets/fuzz-bucket/quota\n\n{"quota":{"bytes":{"mode":"limit","bytes":5},"objects":{"mode":"unlimited"}}}',
      'GET /api/v1/audit/events?since=2026-08-01T00:00:00Z&limit=5&after_time=2026-08-01T00:00:00Z&after_id=0000000000000005',
      'POST /api/v1/policies\n\n{"name":"p","statements":[{"effect":"allow","actions":["s3:*"],"resources":["bucket:a/*"]}]}',
      'POST /api/v1/buckets/fuzz-bucket/object-copy/a/b\n\n{"source_bucket":"fuzz-bucket","source_key":"a/key"}',
      'GET /api/v1/buckets',
    ],
    words: [...WORDS, ...NAMES.map((name) => `"${name}":`), ...SIGNS],
    bytesMaximum: BODY_BYTES,
    make: requestByChance,
    judge,
  },
]
