/** The OpenAPI document as generators of clients read it. */
import tap, { test } from 'tap'
import { openApiDocument } from '../../../planes/management/openapi/openapi.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { NamedSchemas } from '../../../planes/management/schemas/named-schemas.ts'
import { FLAG, listOf, object, orNull, text, whole } from '../../../planes/management/schemas/schema.ts'
import { startManaged } from '../../support/management-server.ts'

type Json = Readonly<Record<string, unknown>>

interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Json
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly Json[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Json }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Json }>> }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<'schemas' | 'headers' | 'parameters' | 'securitySchemes', Json>>
}

const server = await startManaged()
tap.teardown(() => server.stop())
const document = await server.api.get<Document>('GET', '/openapi.json')

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, path, operation })),
)

/** Every object of the document, with where it is. */
function* objectsIn(value: unknown, at = '#'): Generator<{ readonly at: string; readonly found: Json }> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { at, found: value as Json }
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${at}/${name}`)
}

test('every reference leads somewhere, and every schema with a name is referred to', async (t) => {
  const used = new Set<unknown>()
  for (const { at, found } of objectsIn(document)) {
    const reference = found['$ref']
    if (typeof reference !== 'string') continue
    const [root, ...names] = reference.split('/')
    t.equal(root, '#', at)
    const target = names.reduce<unknown>((inside, name) => (inside as Json | undefined)?.[name], document)
    t.type(target, 'object', `${at}: ${reference}`)
    used.add(names.at(-1))
  }
  const unused = Object.keys(document.components.schemas).filter((name) => !used.has(name))
  t.same(unused, [])
})

test('operations have names that are unique, and words', async (t) => {
  const names = OPERATIONS.map(({ operation }) => operation.operationId)
  t.equal(new Set(names).size, routeList.length)
  for (const name of names) {
    t.match(name, /^[a-z]+[A-Za-z]+$/)
    t.notMatch(name, /^(post|patch)[A-Z]/, 'a row in operation-names.ts, and not a name made of method and path')
  }
  t.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length, 'files of generators may lose the case')
})

/** Code that was generated calls operations by these names. */
const KEPT = {
  'GET /api/v1/buckets': 'listBuckets',
  'PUT /api/v1/buckets/{bucket}/quota': 'setBucketQuota',
  'GET /api/v1/buckets/{bucket}/object-content/{key}': 'getObjectContent',
  'POST /api/v1/service-accounts/{id}/credentials': 'issueCredential',
  'PUT /api/v1/policies/{policy_id}/bindings/{account_id}': 'attachPolicy',
  'GET /api/v1/audit/events': 'listAuditEvents',
  'POST /api/v1/verify/buckets/{bucket}': 'verifyBucket',
}

test('names of operations and schemas stay', async (t) => {
  const named = Object.fromEntries(OPERATIONS.map(({ route, operation }) => [route, operation.operationId]))
  t.match(named, KEPT)
  const schemas = [
    'Error',
    'ErrorCode',
    'Bucket',
    'CreateBucketRequest',
    'ListBucketsAnswer',
    'AuditEvent',
    'StorageEvent',
    'QuotaUnlimited',
    'QuotaOfBytes',
    'WrittenObject',
  ]
  for (const name of schemas) t.ok(name in document.components.schemas, name)
})

test('parameters: each part of a path is declared, and each has a description and a schema', async (t) => {
  for (const { route, path, operation } of OPERATIONS) {
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
    t.same(
      inPath.map(({ name, required }) => [name, required]),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]),
      route,
    )
    for (const { $ref, name, description, schema } of operation.parameters) {
      if ($ref === undefined) t.ok(description !== undefined && schema !== undefined, `${route}: ${name}`)
    }
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name ?? parameter.$ref}`)
    t.equal(new Set(names).size, names.length, `${route}: each once`)
  }
})

/** Those who ask these routes want another form than the one of errors. */
const OWN_FORM = /\/ready |\/add-checkpoint 409$/

test('each body has a schema, and those in JSON have a name or say all', async (t) => {
  for (const { route, operation } of OPERATIONS) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].flatMap((body) =>
      Object.entries(body?.content ?? {}),
    )
    for (const [mediaType, { schema }] of bodies) {
      t.ok(schema !== undefined && Object.keys(schema).length > 0, `${route}: ${mediaType}`)
    }
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (Number(status) < 400 || OWN_FORM.test(`${route} ${status}`)) continue
      const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
      t.same(content, error, `${route} ${status}: the one error`)
    }
    const schemes = operation.security.flatMap((one) => Object.keys(one))
    for (const name of schemes) t.ok(name in document.components.securitySchemes, `${route}: ${name}`)
  }
})

test('no object without a name, no list of types, no answer that is closed to new members', async (t) => {
  for (const { at, found } of objectsIn(document)) {
    const choices = Array.isArray(found['anyOf']) ? (found['anyOf'] as Json[]) : []
    if (choices.filter(({ $ref }) => $ref !== undefined).length > 1) {
      t.match(at, /^#\/components\/schemas\//, 'a choice between objects is in a component')
    }
    if (Array.isArray(found['type'])) t.fail(`${at}: several types`)
    if (typeof found['properties'] !== 'object' || at.endsWith('/properties')) continue
    t.match(at, /^#\/components\/schemas\/\w+$/, 'an object has a name')
    const name = at.slice(at.lastIndexOf('/') + 1)
    if (found['additionalProperties'] === false) t.match(name, /Request/, 'only requests are closed')
  }
})

test('whole numbers and times have a format', async (t) => {
  for (const { at, found } of objectsIn(document)) {
    if (found['type'] === 'integer') t.equal(found['format'], 'int64', at)
  }
  t.match(document.components.schemas['Bucket'], { properties: { created_at: { format: 'date-time' } } })
})

test('schemas get names by where they are, and the same one the same name', async (t) => {
  const place = object({ key: text() })
  const given = object({ size: whole() })
  const schemas = new NamedSchemas({ Given: given.schema })
  const answer = object({
    entries: listOf(object({ place, given })),
    other_place: orNull(place),
    policies: listOf(object({ name: text() })),
  })
  t.same(schemas.body(answer.schema, 'ListAnswer', 'answer'), { $ref: '#/components/schemas/ListAnswer' })
  t.same(Object.keys(schemas.components), [
    'Given',
    'ListAnswer',
    'ListAnswerEntry',
    'ListAnswerEntryPlace',
    'ListAnswerPolicy',
  ])
  t.match(schemas.components['ListAnswer'], {
    properties: { other_place: { anyOf: [{ $ref: '#/components/schemas/ListAnswerEntryPlace' }, { type: 'null' }] } },
  })
  t.equal(schemas.components['ListAnswer']?.additionalProperties, undefined)
  schemas.body(object({ place, flag: FLAG }).schema, 'SendRequest', 'request')
  t.match(schemas.components['SendRequestPlace'], { additionalProperties: false }, 'a request has its own')
  t.same(schemas.body(given.schema, 'Another', 'answer'), { $ref: '#/components/schemas/Given' })
  t.same(openApiDocument('1', []), openApiDocument('1', []), 'the same document each time')
})
