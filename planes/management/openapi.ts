import { MANAGEMENT_ROLES } from '../../engine/events/access-changes.ts'
import { type ManagementErrorCode, managementErrors } from './errors.ts'
import { API, type ManagementRoute, routeTable } from './route-table.ts'
import { ACCESS_SCHEMAS } from './schemas/access-schemas.ts'
import { AUDIT_SCHEMAS } from './schemas/audit-schemas.ts'
import { BUCKET_SCHEMAS } from './schemas/bucket-schemas.ts'
import { COMPONENTS } from './schemas/components.ts'
import { OBJECT_SCHEMAS } from './schemas/object-schemas.ts'
import { PROOF_SCHEMAS } from './schemas/proof-schemas.ts'
import type { RouteSchema, RouteSchemas } from './schemas/route-schema.ts'
import { form, object, oneOf, type Schema, text } from './schemas/schema.ts'
import { STORAGE_SCHEMAS } from './schemas/storage-schemas.ts'
import { SYSTEM_SCHEMAS } from './schemas/system-schemas.ts'

/** The bodies of the routes; a spec holds the list against the route table and against live answers. */
export const ROUTE_SCHEMAS: RouteSchemas = {
  ...SYSTEM_SCHEMAS,
  ...ACCESS_SCHEMAS,
  ...BUCKET_SCHEMAS,
  ...AUDIT_SCHEMAS,
  ...OBJECT_SCHEMAS,
  ...PROOF_SCHEMAS,
  ...STORAGE_SCHEMAS,
}

/** The schemas of a route; undefined for one that is not available. */
export function schemaOf({ method, path }: ManagementRoute): RouteSchema | undefined {
  return ROUTE_SCHEMAS[`${method} ${path.startsWith(API) ? path.slice(API.length) : path}`]
}

/** Every error that a route may answer with, in the order of the table of errors. */
export function errorsOf(route: ManagementRoute): ManagementErrorCode[] {
  const { authentication, available, body, path } = route
  const codes = new Set<ManagementErrorCode>(schemaOf(route)?.errors)
  if (authentication === 'scrape-token') codes.add('METRICS_CLOSED').add('UNAUTHENTICATED')
  if (typeof authentication === 'object') codes.add('UNAUTHENTICATED').add('AUDIT_UNAVAILABLE')
  if (typeof authentication === 'object' && authentication.length < MANAGEMENT_ROLES.length) codes.add('FORBIDDEN')
  if (!available) codes.add('NOT_AVAILABLE')
  else {
    codes.add('INVALID_REQUEST').add('INTERNAL_ERROR')
    if (typeof authentication === 'object') codes.add('SLOW_DOWN')
    if (body === 'json') codes.add('BODY_TOO_LARGE')
    if (path.includes('{bucket}')) codes.add('BUCKET_NOT_FOUND')
  }
  return (Object.keys(managementErrors) as ManagementErrorCode[]).filter((code) => codes.has(code))
}

type Json = Readonly<Record<string, unknown>>

const RESPONSE_HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } } as const

function errorResponses(route: ManagementRoute): [status: string, response: Json][] {
  const codesOf = new Map<number, ManagementErrorCode[]>()
  for (const code of errorsOf(route)) {
    const { status } = managementErrors[code]
    codesOf.set(status, [...(codesOf.get(status) ?? []), code])
  }
  return Array.from(codesOf, ([status, codes]) => {
    const schema = object({ error: object({ code: oneOf(...codes), message: text(), request_id: text() }) })
    const description = codes.map((code) => `\`${code}\`: ${managementErrors[code].sentence}`).join('\n\n')
    return [String(status), { description, headers: RESPONSE_HEADERS, content: { 'application/json': { schema } } }]
  })
}

function mediaTypes(content: Readonly<Record<string, Schema>>): Json {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
}

function responses(route: ManagementRoute): Json {
  const answers = Object.entries(schemaOf(route)?.answers ?? {}).map(([status, content]): [string, Json] => {
    const body = Object.keys(content).length === 0 ? {} : { content: mediaTypes(content) }
    return [status, { description: route.sentence, headers: RESPONSE_HEADERS, ...body }]
  })
  return Object.fromEntries([...answers, ...errorResponses(route)])
}

function parameters(route: ManagementRoute): Json[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const query = schemaOf(route)?.query ?? {}
  return [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: text({ minimum: 1 }),
      ...(name === 'key' ? { description: 'The key, percent-encoded; a slash may stand as it is.' } : {}),
    })),
    ...route.query.map((name) => ({ name, in: 'query', required: false, schema: query[name] ?? text() })),
    { $ref: '#/components/parameters/RequestId' },
  ]
}

function requestBody(route: ManagementRoute): Json {
  if (route.body === 'object') return { requestBody: { required: true, content: { 'application/octet-stream': {} } } }
  const schema = schemaOf(route)?.request
  if (schema === undefined) return {}
  const required = schema.required !== undefined && schema.required.length > 0
  return { requestBody: { required, content: { 'application/json': { schema } } } }
}

function security({ authentication }: ManagementRoute): Json[] {
  if (authentication === 'none') return []
  if (authentication === 'scrape-token') return [{ scrapeToken: [] }]
  const root = authentication.includes('system-administrator') ? [{ rootCredential: [] }] : []
  return [{ managementToken: authentication }, ...root]
}

/** `GET /buckets/{bucket}/quota` is `get_buckets_bucket_quota`. */
function operationId({ method, path }: ManagementRoute): string {
  const words = path.replace(API, '').match(/\w+/g) ?? []
  return [method.toLowerCase(), ...words].join('_')
}

function operation(route: ManagementRoute): Json {
  return {
    operationId: operationId(route),
    summary: route.sentence,
    tags: [/\w[\w-]*/.exec(route.path.replace(API, ''))?.[0]],
    security: security(route),
    parameters: parameters(route),
    ...requestBody(route),
    responses: responses(route),
  }
}

const REQUEST_ID = form('[A-Za-z0-9._-]{1,128}')

/**
 * This interface as an OpenAPI 3.1 document, made from the table of routes, the schemas and the table of errors. Where
 * GET is taken HEAD is too.
 */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routeTable) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Object Store management interface', version },
    paths,
    components: {
      schemas: COMPONENTS,
      headers: { RequestId: { description: 'The id of the request.', required: true, schema: REQUEST_ID } },
      parameters: {
        RequestId: { name: 'x-request-id', in: 'header', required: false, schema: REQUEST_ID },
      },
      securitySchemes: {
        managementToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'A management token; the list names its roles.',
        },
        rootCredential: { type: 'http', scheme: 'basic', description: 'The root credential: system-administrator.' },
        scrapeToken: { type: 'http', scheme: 'bearer', description: 'The token of metrics.scrape_token.' },
      },
    },
  }
}
