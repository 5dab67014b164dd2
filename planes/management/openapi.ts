import { MANAGEMENT_ROLES } from '../../engine/events/values.ts'
import { type ManagementErrorCode, managementErrors } from './errors.ts'
import { API, type Content, type Route } from './define-route.ts'
import { COMPONENTS } from './schemas/components.ts'
import { form, object, oneOf, text } from './schemas/schema.ts'

/** Every error that a route may answer with, in the order of the table of errors. */
function errorsOf(route: Route): ManagementErrorCode[] {
  const { roles, available, body, path } = route
  const codes = new Set<ManagementErrorCode>(route.errors)
  if (roles === 'scrape-token') codes.add('METRICS_CLOSED').add('UNAUTHENTICATED')
  if (typeof roles === 'object') codes.add('UNAUTHENTICATED').add('AUDIT_UNAVAILABLE')
  if (typeof roles === 'object' && roles.length < MANAGEMENT_ROLES.length) codes.add('FORBIDDEN')
  if (!available) codes.add('NOT_AVAILABLE')
  else {
    codes.add('INVALID_REQUEST').add('INTERNAL_ERROR')
    if (route.changes) codes.add('OUTCOME_UNKNOWN')
    if (typeof roles === 'object') codes.add('SLOW_DOWN')
    if (body === 'json') codes.add('BODY_TOO_LARGE')
    if (path.includes('{bucket}')) codes.add('BUCKET_NOT_FOUND')
  }
  return (Object.keys(managementErrors) as ManagementErrorCode[]).filter((code) => codes.has(code))
}

type Json = Readonly<Record<string, unknown>>

const RESPONSE_HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } } as const

function errorResponses(route: Route): [status: string, response: Json][] {
  const codesOf = new Map<number, ManagementErrorCode[]>()
  for (const code of errorsOf(route)) {
    const { status } = managementErrors[code]
    codesOf.set(status, [...(codesOf.get(status) ?? []), code])
  }
  return Array.from(codesOf, ([status, codes]) => {
    const { schema } = object({ error: object({ code: oneOf(...codes), message: text(), request_id: text() }) })
    const description = codes.map((code) => `\`${code}\`: ${managementErrors[code].sentence}`).join('\n\n')
    return [String(status), { description, headers: RESPONSE_HEADERS, content: { 'application/json': { schema } } }]
  })
}

function mediaTypes(content: Content): Json {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
}

function responses(route: Route): Json {
  const answers = Object.entries(route.answer).map(([status, content]): [string, Json] => {
    const body = Object.keys(content).length === 0 ? {} : { content: mediaTypes(content) }
    return [status, { description: route.summary, headers: RESPONSE_HEADERS, ...body }]
  })
  return Object.fromEntries([...answers, ...errorResponses(route)])
}

function parameters(route: Route): Json[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  return [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: text({ minimum: 1 }).schema,
      ...(name === 'key' ? { description: 'The key, percent-encoded; slashes may be sent as they are.' } : {}),
    })),
    ...Object.entries(route.query).map(([name, { schema }]) => ({ name, in: 'query', required: false, schema })),
    ...Object.entries(route.headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: text({ minimum: 1 }).schema,
    })),
    { $ref: '#/components/parameters/RequestId' },
  ]
}

function requestBody(route: Route): Json {
  if (route.body === 'object') return { requestBody: { required: true, content: { 'application/octet-stream': {} } } }
  if (route.request === undefined) return {}
  const { schema } = route.request
  const required = schema.required !== undefined && schema.required.length > 0
  return { requestBody: { required, content: { 'application/json': { schema } } } }
}

function security({ roles }: Route): Json[] {
  if (roles === 'none') return []
  if (roles === 'scrape-token') return [{ scrapeToken: [] }]
  const root = roles.includes('system-administrator') ? [{ rootCredential: [] }] : []
  return [{ managementToken: roles }, ...root]
}

/** `GET /buckets/{bucket}/quota` is `get_buckets_bucket_quota`. */
function operationId({ method, path }: Route): string {
  const words = path.replace(API, '').match(/\w+/g) ?? []
  return [method.toLowerCase(), ...words].join('_')
}

function operation(route: Route): Json {
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [/\w[\w-]*/.exec(route.path.replace(API, ''))?.[0]],
    security: security(route),
    parameters: parameters(route),
    ...requestBody(route),
    responses: responses(route),
  }
}

const REQUEST_ID = form('[A-Za-z0-9._-]{1,128}').schema

/**
 * This interface as an OpenAPI 3.1 document, made from the routes and the table of errors. HEAD is allowed wherever GET
 * is and has no entry.
 */
export function openApiDocument(version: string, routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Object Store management interface', version },
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(COMPONENTS).map(([name, { schema }]) => [name, schema])),
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
