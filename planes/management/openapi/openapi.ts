import { MANAGEMENT_ROLES } from '../../../engine/events/values.ts'
import { type ManagementErrorCode, managementErrors } from '../errors.ts'
import { API, type Content, isRecorded, type Route } from '../routing/define-route.ts'
import { operationName } from './operation-names.ts'
import { parameterDescription } from './parameter-descriptions.ts'
import { COMPONENTS, component } from '../schemas/components.ts'
import { NamedSchemas, pascal } from '../schemas/named-schemas.ts'
import { form, type Schema, text } from '../schemas/schema.ts'

/** Every error that a route may answer with, in the order of the table of errors. */
function errorsOf(route: Route): ManagementErrorCode[] {
  const { roles, body, path } = route
  const codes = new Set<ManagementErrorCode>(route.errors)
  if (roles === 'scrape-token') codes.add('METRICS_CLOSED').add('UNAUTHENTICATED')
  if (typeof roles === 'object') codes.add('UNAUTHENTICATED')
  if (isRecorded(route)) codes.add('AUDIT_UNAVAILABLE').add('STATE_DAMAGED').add('SLOW_DOWN')
  if (typeof roles === 'object' && roles.length < MANAGEMENT_ROLES.length) codes.add('FORBIDDEN')
  codes.add('INVALID_REQUEST').add('INTERNAL_ERROR')
  if (route.changes) codes.add('OUTCOME_UNKNOWN')
  if (body === 'json' || body === 'text') codes.add('BODY_TOO_LARGE')
  if (path.includes('{bucket}')) codes.add('BUCKET_NOT_FOUND')
  return (Object.keys(managementErrors) as ManagementErrorCode[]).filter((code) => codes.has(code))
}

type Json = Readonly<Record<string, unknown>>

const RESPONSE_HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } } as const

/** Error responses by status. The codes of a status are in its description, and for programs in `x-error-codes`. */
function errorResponses(route: Route): [status: string, response: Json][] {
  const codesOf = new Map<number, ManagementErrorCode[]>()
  for (const code of errorsOf(route)) {
    const { status } = managementErrors[code]
    codesOf.set(status, [...(codesOf.get(status) ?? []), code])
  }
  const content = { 'application/json': { schema: component('Error').schema } }
  return Array.from(codesOf, ([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${managementErrors[code].sentence}`).join('\n\n')
    return [String(status), { description, headers: RESPONSE_HEADERS, content, 'x-error-codes': codes }]
  })
}

const BYTES: Schema = { type: 'string', format: 'binary' }

/** The content of a body. Media types without a schema are text or bytes. */
function contentOf(content: Content, name: string, schemas: NamedSchemas): Json {
  const entries = Object.entries(content).map(([type, schema]) => {
    const plain: Schema = type.startsWith('text/') ? { type: 'string' } : BYTES
    return [type, { schema: Object.keys(schema).length === 0 ? plain : schemas.body(schema, name, 'answer') }]
  })
  return Object.fromEntries(entries)
}

function responses(route: Route, name: string, schemas: NamedSchemas): Json {
  const bodies = Object.values(route.answer).filter((content) => Object.keys(content).length > 0).length
  const answers = Object.entries(route.answer).map(([status, content]): [string, Json] => {
    const answer = `${name}Answer${bodies > 1 ? status : ''}`
    const body = Object.keys(content).length === 0 ? {} : { content: contentOf(content, answer, schemas) }
    return [status, { description: route.summary, headers: RESPONSE_HEADERS, ...body }]
  })
  return Object.fromEntries([...answers, ...errorResponses(route)])
}

function parameters(route: Route): Json[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const described = (name: string) => {
    const description = parameterDescription(route, name)
    return description === undefined ? {} : { description }
  }
  return [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      ...described(name),
      schema: text({ minimum: 1 }).schema,
    })),
    ...Object.entries(route.query).map(([name, { schema }]) => ({
      name,
      in: 'query',
      required: false,
      ...described(name),
      schema,
    })),
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

function requestBody(route: Route, name: string, schemas: NamedSchemas): Json {
  // Text too: openapi-python-client generates no call for a route whose body is text/plain.
  if (route.body === 'object' || route.body === 'text') {
    return { requestBody: { required: true, content: { 'application/octet-stream': { schema: BYTES } } } }
  }
  if (route.request === undefined) return {}
  const { schema } = route.request
  const required = schema.required !== undefined && schema.required.length > 0
  const content = { 'application/json': { schema: schemas.body(schema, `${name}Request`, 'request') } }
  return { requestBody: { required, content } }
}

function security({ roles }: Route): Json[] {
  if (roles === 'none') return []
  if (roles === 'scrape-token') return [{ scrapeToken: [] }]
  const root = roles.includes('system-administrator') ? [{ rootCredential: [] }] : []
  return [{ managementToken: roles }, ...root]
}

function operation(route: Route, schemas: NamedSchemas): Json {
  const operationId = operationName(route)
  const name = pascal(operationId)
  return {
    operationId,
    summary: route.summary,
    tags: [/\w[\w-]*/.exec(route.path.replace(API, ''))?.[0]],
    security: security(route),
    parameters: parameters(route),
    ...requestBody(route, name, schemas),
    responses: responses(route, name, schemas),
  }
}

/** Description of the document, which generators put at the top of a client. */
const INTRODUCTION = [
  'Buckets, objects, accounts, policies, audit and storage of one Object Store. Objects are read and written over S3 as well.',
  'Answers may get further members in later versions; unknown members of requests are refused. Every error is an `Error`.',
].join('\n\n')

const REQUEST_ID = form('[A-Za-z0-9._-]{1,128}').schema

/**
 * This interface as an OpenAPI 3.1 document, made from the routes and the table of errors. HEAD is allowed wherever GET
 * is and has no entry.
 */
export function openApiDocument(version: string, routes: readonly Route[]): Json {
  const given = Object.entries(COMPONENTS).map(([name, { schema }]) => [name, schema] as const)
  const schemas = new NamedSchemas(Object.fromEntries(given))
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Object Store management interface',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The management listener that serves this document.' }],
    paths,
    components: {
      schemas: schemas.components,
      headers: { RequestId: { description: 'The id of the request.', required: true, schema: REQUEST_ID } },
      parameters: {
        RequestId: {
          name: 'x-request-id',
          in: 'header',
          required: false,
          description: 'An id for the request in the answer, the log and the audit record; generated if absent.',
          schema: REQUEST_ID,
        },
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
