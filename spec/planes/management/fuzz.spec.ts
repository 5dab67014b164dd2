/** Whatever is sent, the management plane answers, with a document and not as if it had failed. */
import * as fc from 'fast-check'
import tap, { test } from 'tap'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { type ManagementRoute, routeTable } from '../../../planes/management/route-table.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import type { CreatedAccount, PolicyRecord } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

const RUNS = 600
const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

const { account, credential } = await api.get<CreatedAccount>('POST', '/service-accounts', { name: 'fuzz' })
const policy = await api.get<PolicyRecord>('POST', '/policies', {
  name: 'fuzz',
  statements: [{ effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }],
})
await api.get('POST', '/buckets', { name: 'fuzz-bucket', object_lock: true })
await api.send('PUT', '/api/v1/buckets/fuzz-bucket/object/key', { raw: 'bytes' })

const TAKING_JSON = routeTable.filter(({ body, available }) => body === 'json' && available)

/** Names that are there, so that requests get further than a 404. */
const KNOWN: Readonly<Record<string, string>> = {
  '{bucket}': 'fuzz-bucket',
  '{key}': 'key',
  '{id}': account.id,
  '{account_id}': account.id,
  '{credential_id}': credential.credential_id,
  '{policy_id}': policy.id,
}

const AWKWARD = [
  '__proto__',
  'constructor',
  '..',
  '.',
  '%00',
  '%2F',
  '%',
  '%zz',
  '%ff',
  '%F0%9F%98%80',
  '{id}',
  '*',
  'null',
]
const segment = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).map(encodeURIComponent),
  fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~!$&()*+,;=:@%'), minLength: 1, maxLength: 40 }),
)

function targetOf(route: ManagementRoute, replaced: readonly (string | undefined)[]): string {
  let index = 0
  return route.path.replaceAll(/\{\w+\}/g, (name) => replaced[index++] ?? KNOWN[name] ?? 'none')
}

const value = fc.oneof(
  fc.constantFrom('', '0', '-1', '1', '1000', '1e9', '9'.repeat(30), 'null', 'true', '2026-01-01T00:00:00Z', '%', '+'),
  fc.string({ unit: 'grapheme', maxLength: 60 }).map(encodeURIComponent),
)

function queryOf(route: ManagementRoute): fc.Arbitrary<string> {
  const name = fc.constantFrom(...(route.query.length === 0 ? ['x'] : route.query))
  const names = fc.oneof(
    { weight: 6, arbitrary: name },
    { weight: 1, arbitrary: fc.constantFrom('x', '__proto__', '%', '') },
  )
  const pair = fc.tuple(names, value).map(([left, right]) => `${left}=${right}`)
  return fc.array(pair, { maxLength: 4 }).map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))
}

/** Names of fields that some route takes, and others. */
const FIELDS =
  'name description enabled expires_in_seconds role statements effect actions resources quota bytes objects mode status ' +
  'default_retention period unit value object_lock source_bucket source_key source_version_id version_id maximum_entries ' +
  'dry_run __proto__ x'
const field = fc.constantFrom(...FIELDS.split(' '))
const leaf = fc.oneof(
  fc.constantFrom(
    'allow',
    's3:*',
    'bucket:*',
    'limit',
    'unlimited',
    'Enabled',
    'GOVERNANCE',
    'days',
    'auditor',
    'fuzz-bucket',
  ),
  fc.constantFrom(true, false, null, 0, 1, -1, 60, 1e21, 0.1, 2 ** 53),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('document'), { maxLength: 3 }),
    fc.array(fc.tuple(field, tie('document')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}))
const body = fc.oneof(
  { weight: 5, arbitrary: document.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
)

/** An answer that is one: a status that is no fault of the server, and the envelope where there is an error. */
function requireAnswer(answer: ApiAnswer, sent: string): void {
  const { status, code, text, headers } = answer
  const isEnvelope = status < 400 || headers['content-type'] === 'application/json'
  const isKnown = status < 400 || code !== undefined || text === ''
  const isFault = status >= 500 && code !== 'NOT_AVAILABLE'
  if (isFault || !isEnvelope || !isKnown) throw new Error(`${sent} got ${status} ${text.slice(0, 300)}`)
}

test('paths and queries', async () => {
  const request = fc.constantFrom(...routeTable).chain((route) => {
    const replaced = fc.array(fc.option(segment, { nil: undefined, freq: 2 }), { minLength: 3, maxLength: 3 })
    return fc.record({ route: fc.constant(route), replaced, query: queryOf(route) })
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ route, replaced, query }) => {
      const target = `${targetOf(route, replaced)}${query}`
      // Every name stays for the requests to come.
      const method = route.method === 'DELETE' ? 'GET' : route.method
      requireAnswer(await api.send(method, target), `${method} ${target}`)
    }),
    { numRuns: RUNS },
  )
})

test('bodies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TAKING_JSON), body, async (route, raw) => {
      const target = targetOf(route, [])
      requireAnswer(await api.send(route.method, target, { raw }), `${route.method} ${target} ${raw}`)
    }),
    { numRuns: RUNS },
  )
})

/** Those that HTTP can carry. */
function safe(lines: readonly HeaderLine[]): HeaderLine[] {
  return lines.filter(([, one]) => !/[^\t\u0020-\u007e\u0080-\u00ff]/.test(one))
}

test('headers', async () => {
  const name = fc.constantFrom(
    'x-request-id',
    'if-none-match',
    'content-type',
    'accept',
    'range',
    'expect',
    'cookie',
    'x',
  )
  const text = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
    fc.constantFrom('*', 'bytes=0-', 'Bearer x', '\u00ff\u0080', 'a'.repeat(2000), '100-continue'),
  )
  const line = fc
    .tuple(
      name,
      text.map((one) => one.trim()),
    )
    .filter(([one]) => one !== 'expect')
  const authorization = fc.option(
    fc.oneof(
      text,
      fc.string({ maxLength: 60 }).map((one) => `Bearer ${one.trim()}`),
      fc.string({ unit: 'binary', maxLength: 60 }).map((one) => `Basic ${Buffer.from(one).toString('base64')}`),
    ),
    { nil: undefined },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routeTable),
      fc.array(line, { maxLength: 5 }),
      authorization,
      async (route, lines, sent) => {
        const target = targetOf(route, [])
        const [method, headers] = [route.method === 'DELETE' ? 'GET' : route.method, safe(lines)]
        requireAnswer(
          await api.send(method, target, { headers, raw: '{}' }),
          `${method} ${target} ${JSON.stringify(headers)}`,
        )
        if (sent === undefined || safe([['authorization', sent]]).length === 0) return
        const denied = await api.as(sent.trim()).send(method, target)
        if (denied.status !== 401 && typeof route.authentication !== 'string' && denied.status !== 405) {
          throw new Error(`${sent} was let in: ${denied.status}`)
        }
      },
    ),
    { numRuns: RUNS / 2 },
  )
})

test('nothing of this was a fault of the server, nor another answer than the document says', async (t) => {
  t.same(server.failures, [])
  t.same(server.undocumented.slice(0, 10), [])
  t.equal(server.apiGate.active, 0)
  t.equal((await api.call('GET', '/buckets/fuzz-bucket')).status, 200)
})
