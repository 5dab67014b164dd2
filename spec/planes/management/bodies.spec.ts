/**
 * Bodies and requests that are malformed.
 * Proves: API-GEN-02, LIM-VAL-05.
 */
import tap, { test } from 'tap'
import type { CreatedAccount } from '../../support/management-records.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { openApiDocument } from '../../../planes/management/openapi/openapi.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import type { Schema } from '../../../planes/management/schemas/schema.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'
import { startProcess } from '../../support/server-process.ts'
import { head } from '../../support/raw/request-text.ts'
import { openRaw } from '../../support/raw/raw-client.ts'
import { everyNth } from '../../support/share-of-cases.ts'
import { atMost } from '../../support/waiting.ts'

const MEBIBYTE = 1024 ** 2
const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

const created = await api.get<{ account: { id: string }; credential: { credential_id: string } }>(
  'POST',
  '/service-accounts',
  { name: 'of the bodies' },
)

await api.get('POST', '/buckets', { name: 'body-bucket', object_lock: true })

const VALUES: Readonly<Record<string, string>> = {
  '{bucket}': 'body-bucket',
  '{key}': 'a/key',
  '{id}': created.account.id,
  '{credential_id}': created.credential.credential_id,
}

interface Taking {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly schema: Schema
}

type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
  components: { schemas: Record<string, Schema> }
}

const document = openApiDocument('0', routeList) as unknown as Document

/** The schema itself, when it refers to one with a name. */
function resolved(schema: Schema): Schema {
  return (schema.$ref && document.components.schemas[schema.$ref.split('/').at(-1) ?? '']) || schema
}

/** Every route that takes JSON. */
const TAKING: readonly Taking[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { requestBody }]) => {
    const schema = requestBody?.content['application/json']?.schema
    if (schema === undefined) return []
    const target = path.slice(API.length).replaceAll(/\{\w+\}/g, (name) => VALUES[name] ?? 'x')
    return [
      { name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path: target, schema: resolved(schema) },
    ]
  }),
)

function properties({ schema }: Taking): [name: string, schema: Schema][] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => [name, resolved(property)])
}

/** A value that a schema takes. */
function valid(schema: Schema): unknown {
  const { type, format, enum: values, anyOf, minLength = 1, minimum = 0, items, minItems = 0 } = resolved(schema)
  if (anyOf !== undefined) return valid(anyOf[0] as Schema)
  if (values !== undefined) return values[0]
  switch (type) {
    case 'string':
      return format === 'date-time' ? '2026-01-01T00:00:00Z' : 'b'.repeat(minLength)
    case 'integer':
      return Math.max(minimum, 1)
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: minItems }, () => valid(items ?? {}))
    default:
      return validObject(resolved(schema))
  }
}

function validObject({ properties: members = {}, required = [] }: Schema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, valid(members[name] as Schema)]))
}

/** Values that a schema does not take. */
function wrong(schema: Schema): unknown[] {
  const { type, anyOf, enum: values, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema
  const others: unknown[] = ['', 'x', 1.5, -1, 1e300, true, [], {}, [null], { a: 1 }, null]
  const fits = new Map<unknown, (value: unknown) => boolean>([
    ['string', (value) => typeof value === 'string'],
    ['boolean', (value) => typeof value === 'boolean'],
    ['array', () => false],
  ])
  const kind = type ?? anyOf?.[0]?.type
  const found = others.filter((value) => !(anyOf !== undefined && value === null) && !fits.get(kind)?.(value))
  if (values !== undefined) found.push('another', values[0]?.slice(1), `${values[0]} `, [values[0]])
  if (type === 'string') found.push('a\u0000b', 'a\nb', '\ud800')
  if (minLength !== undefined && minLength > 0) found.push('b'.repeat(minLength - 1))
  if (maxLength !== undefined) found.push('b'.repeat(maxLength + 1))
  if (minimum !== undefined) found.push(minimum - 1)
  if (maximum !== undefined) found.push(maximum + 1, String(minimum))
  if (minItems !== undefined) found.push([])
  if (maxItems !== undefined) found.push(Array.from({ length: maxItems + 1 }, () => 'x'))
  return found
}

/** JSON of so many bytes. */
function padded(bytes: number): string {
  return `{"surprise":1${' '.repeat(bytes - 14)}}`
}

/** Refused, and told by which field. */
function faultOf(answer: ApiAnswer, field: string, sent: unknown): string[] {
  const isRight = answer.code === 'INVALID_REQUEST' && answer.message?.startsWith(field) === true
  const text = JSON.stringify(sent)?.slice(0, 200)
  return isRight ? [] : [`${text} got ${answer.status} ${answer.text.slice(0, 200)}, which should name ${field}`]
}

test('there are bodies to be wrong about', async (t) => {
  t.ok(TAKING.length > 12)
  t.ok(TAKING.flatMap(properties).length > 15)
})

test('a member that is there twice is refused by its name, at any depth', async (t) => {
  const twice: readonly (readonly [target: string, raw: string, name: string])[] = [
    ['/buckets', '{"name":"twice-one","name":"twice-two"}', 'name'],
    ['/buckets', '{"name":"twice-one" , "\\u006eame"\n:"twice-two"}', 'name'],
    ['/buckets', '{"name":[[{"a":1,"a":2}]],"name":"twice-one"}', 'a'],
    [
      '/policies',
      '{"name":"p","statements":[{"effect":"deny","effect":"allow","actions":["*"],"resources":["*"]}]}',
      'effect',
    ],
  ]
  for (const [target, raw, name] of twice) {
    const { code, message } = await api.send('POST', `${API}${target}`, { raw })
    t.equal(code, 'INVALID_REQUEST', raw)
    t.equal(message, `${name}: occurs more than once`, raw)
  }
  const deep = `{"name":${'['.repeat(100)}${']'.repeat(100)},"name":"twice-one"}`
  t.match((await api.send('POST', `${API}/buckets`, { raw: deep })).message, /nested too deeply/)
  t.equal((await api.call('GET', '/buckets/twice-one')).status, 404)
  const strings = { name: 'a":"b', description: '{"name":1,"name":2}\\' }
  const { account } = await api.get<CreatedAccount>('POST', '/service-accounts', strings)
  t.match(account, strings, 'texts are not members')
  await api.get('DELETE', `/service-accounts/${account.id}`)
})

for (const taking of TAKING) {
  const { name, method, path, schema } = taking
  const whole = validObject(schema)
  const call = (body: unknown) => api.call(method, path, body)
  const send = (raw: string | Buffer) => api.send(method, `${API}${path}`, { raw })

  test(`${name}: fields`, async (t) => {
    const found: string[] = []
    const values = properties(taking).flatMap(([property, inner]) =>
      wrong(inner).map((value) => [property, value] as const),
    )
    for (const [property, value] of everyNth(values, 5, (one) => [one[0], typeof one[1]])) {
      // Keys may hold control characters, and so may what they begin with.
      if ((property === 'prefix' || property === 'source_key') && (value === 'a\u0000b' || value === 'a\nb')) continue
      const body = { ...whole, [property]: value }
      found.push(...faultOf(await call(body), property, body))
    }
    for (const property of schema.required ?? []) {
      const body = Object.fromEntries(Object.entries(whole).filter(([other]) => other !== property))
      found.push(...faultOf(await call(body), property, body))
    }
    t.same(found, [])
  })

  test(`${name}: fields that there are not`, async (t) => {
    const found: string[] = []
    const rest = JSON.stringify(whole).slice(1)
    const members = rest === '}' ? rest : `,${rest}`
    for (const field of ['surprise', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'Name', 'é😀']) {
      found.push(...faultOf(await send(`{${JSON.stringify(field)}:{"admin":true}${members}`), field, field))
    }
    const long = 'f'.repeat(10_000)
    const answer = await send(`{"${long}":1${members}`)
    t.equal(answer.message, `${long.slice(0, 64)}: unknown field`)
    t.same(found, [])
  })

  test(`${name}: what is no JSON object`, async (t) => {
    const found: string[] = []
    const raws = ['{', '{}x', '[]', 'null', '1', '"x"', 'true', '{"a":1,}', "{'a':1}", '\ufeff{}', '{"a":\n', '\u0000']
    raws.push(
      '['.repeat(100_000),
      `${'{"a":'.repeat(50_000)}1`,
      `${'['.repeat(1000)}${']'.repeat(1000)}`,
      '{"a":1e999}x',
    )
    const all = [...raws, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), Buffer.from('{}', 'utf16le')]
    // One route has all of them: what reads them is the same for each.
    for (const raw of taking === TAKING[0] ? all : everyNth(all, 5)) {
      found.push(...faultOf(await send(raw), 'body', raw.toString().slice(0, 20)))
    }
    t.same(found, [])
  })

  test(`${name}: bodies that are too long`, async (t) => {
    const largest = await send(padded(MEBIBYTE))
    t.equal(largest.code, 'INVALID_REQUEST', 'a body of 1 MiB is read')
    const larger = await send(padded(MEBIBYTE + 1))
    t.equal(larger.code, 'BODY_TOO_LARGE')
    t.equal(larger.status, 413)
    const headers = [['transfer-encoding', 'chunked']] as const
    const chunked = await api.send(method, `${API}${path}`, { raw: padded(MEBIBYTE + 1), headers })
    t.equal(chunked.code, 'BODY_TOO_LARGE', 'also without a length')
    const announced = await api.send(method, `${API}${path}`, { raw: '', headers: [['content-length', '0']] })
    t.notOk(['BODY_TOO_LARGE', 'INTERNAL_ERROR'].includes(announced.code ?? ''))
  })
}

test('nothing came of all this, nor was it a fault of the server', async (t) => {
  const { access } = server.session
  t.same([access.accounts().length, access.policies().length, access.tokens().length], [1, 0, 0])
  t.match(server.services.catalog.snapshot().buckets(), [{ name: 'body-bucket', versioning: 'enabled', quota: {} }])
  t.equal(server.services.catalog.snapshot().totals().objects, 0)
  t.same(server.failures, [])
  t.same(server.undocumented, [])
})

const DOCUMENT = /\{"error":\{.*\}\}/
const PATIENCE_MILLISECONDS = 20_000

test('a malformed request gets the envelope and a request id, and a stalled one is cut off', async (t) => {
  const stalling = await startProcess({ environment: { OBJECT_STORE_SERVER_STALL_TIMEOUT_SECONDS: '5' } })
  t.teardown(() => stalling.stop())
  const port = Number(stalling.apiEndpoint.split(':').at(-1))
  for (const [status, sent] of [
    [400, head('GET /health', 'Host: other')],
    [501, head('PUT /health', 'Transfer-Encoding: gzip')],
  ] as const) {
    const received = await openRaw(port).send(sent).until(DOCUMENT)
    t.match(received, new RegExp(`^HTTP/1.1 ${status} `))
    t.match(received, /content-type: application\/json\r\n/i)
    const id = /x-request-id: ([0-9a-f-]{36})\r\n/i.exec(received)?.[1]
    const { error } = JSON.parse(DOCUMENT.exec(received)?.[0] ?? '{}')
    t.match(error, { code: 'INVALID_REQUEST', message: /./, request_id: String(id) })
  }
  const authorization = `Authorization: Basic ${Buffer.from(`${stalling.accessKey}:${stalling.secretKey}`).toString('base64')}`
  await stalling.raw('PUT', '/stalled')
  const stalled = openRaw(port)
  stalled.send(`${head('PUT /api/v1/buckets/stalled/object/a', authorization, 'Content-Length: 100')}ten bytes.`)
  await atMost(PATIENCE_MILLISECONDS, stalled.closed)
  t.equal(stalled.socket.closed, true, 'as stalling.stall_timeout_seconds says, not after the minute of the default')
  stalled.socket.destroy()
})
