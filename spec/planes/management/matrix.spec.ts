/** Every route with every kind of credential. What is expected is read from the page of routes, not from the code. */
import tap, { test } from 'tap'
import { routeTable } from '../../../planes/management/route-table.ts'
import { ROUTE_HANDLERS } from '../../../planes/management/route-handlers.ts'
import { type ApiAnswer, basic, bearer } from '../../support/api-client.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { SCRAPE_TOKEN, startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { tableWith } from '../../support/markdown-tables.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

async function issue(role: string): Promise<{ readonly id: string; readonly token: string }> {
  return api.get('POST', '/management-tokens', { name: role, role })
}

const issued = {
  system: await issue('system-administrator'),
  storage: await issue('storage-administrator'),
  auditor: await issue('auditor'),
  revoked: await issue('system-administrator'),
}
await api.get('DELETE', `/management-tokens/${issued.revoked.id}`)
await api.get('POST', '/buckets', { name: 'matrix-bucket' })
await api.send('PUT', '/api/v1/buckets/matrix-bucket/object/kept', { raw: 'x' })

/** A credential: what is sent, and whom the server takes the sender for. */
interface Sender {
  readonly name: string
  readonly authorization: string | undefined
  readonly role?: string
  readonly credentialId?: string
  readonly scrapes?: true
}

const SENDERS: readonly Sender[] = [
  { name: 'the system token', ...as('system-administrator', bearer(SYSTEM_TOKEN), 'system') },
  { name: 'root', ...as('system-administrator', basic(ACCESS_KEY, SECRET_KEY), ACCESS_KEY) },
  { name: 'a system administrator', ...as('system-administrator', bearer(issued.system.token), issued.system.id) },
  { name: 'a storage administrator', ...as('storage-administrator', bearer(issued.storage.token), issued.storage.id) },
  { name: 'an auditor', ...as('auditor', bearer(issued.auditor.token), issued.auditor.id) },
  { name: 'an auditor in small letters', ...as('auditor', `bearer ${issued.auditor.token}`, issued.auditor.id) },
  { name: 'the scrape token', authorization: bearer(SCRAPE_TOKEN), scrapes: true },
  { name: 'nobody', authorization: undefined },
  { name: 'an empty header', authorization: '' },
  { name: 'a revoked token', authorization: bearer(issued.revoked.token) },
  { name: 'a token that never was', authorization: bearer(`osm_${'A'.repeat(43)}`) },
  { name: 'a token cut short', authorization: bearer(issued.system.token.slice(0, -1)) },
  { name: 'a token and more', authorization: `${bearer(issued.system.token)}A` },
  { name: 'two tokens', authorization: `${bearer(issued.system.token)},${bearer(issued.system.token)}` },
  { name: 'a token without its scheme', authorization: issued.system.token },
  { name: 'the id of a token', authorization: bearer(issued.system.id) },
  { name: 'a token as a password', authorization: basic(ACCESS_KEY, issued.system.token) },
  { name: 'root with another password', authorization: basic(ACCESS_KEY, `${SECRET_KEY}x`) },
  { name: 'root with half a password', authorization: basic(ACCESS_KEY, SECRET_KEY.slice(1)) },
  { name: 'root without a password', authorization: basic(ACCESS_KEY, '') },
  { name: 'another user with the password of root', authorization: basic('root', SECRET_KEY) },
  { name: 'the password of root alone', authorization: basic('', SECRET_KEY) },
  { name: 'root without a colon', authorization: `Basic ${Buffer.from(ACCESS_KEY).toString('base64')}` },
  { name: 'a signature of S3', authorization: `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/x` },
]

function as(role: string, authorization: string, credentialId: string): Omit<Sender, 'name'> {
  return { role, authorization, credentialId }
}

/** A row of the page, with a path that can be asked for. */
interface Row {
  readonly method: string
  readonly path: string
  readonly target: string
  readonly roles: readonly string[]
  readonly body: string
  readonly available: boolean
}

const VALUES: Readonly<Record<string, string>> = { '{bucket}': 'matrix-bucket', '{key}': 'a/b%2Fc' }

function rowsOf(which: number, available: boolean): Row[] {
  return tableWith('spec/management/routes.md', 'method | path | roles | body | meaning', which).map(
    ([method = '', code = '', roles = '', body = '']) => {
      const path = code.replaceAll('`', '')
      const target = path.replaceAll(/\{\w+\}/g, (name) => VALUES[name] ?? 'nothing-of-this-name')
      return { method, path, target, roles: roles.split(', '), body, available }
    },
  )
}

const ROWS = [...rowsOf(0, true), ...rowsOf(1, false)]
const answers: { readonly row: Row; readonly sender: Sender; readonly answer: ApiAnswer; readonly method: string }[] =
  []

async function ask(row: Row, sender: Sender, method = row.method): Promise<ApiAnswer> {
  const body = row.body === 'none' ? {} : { raw: row.body === 'json' ? '{}' : 'bytes' }
  const answer = await api.as(sender.authorization).send(method, row.target, body)
  answers.push({ row, sender, answer, method })
  return answer
}

/** What an answer must be for a sender: 401, 403, 501, or whatever the handler says. */
function expected(row: Row, sender: Sender): 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_AVAILABLE' | 'handled' {
  if (row.roles.includes('none')) return 'handled'
  if (row.roles.includes('scrape-token')) return sender.scrapes ? 'handled' : 'UNAUTHENTICATED'
  if (sender.role === undefined) return 'UNAUTHENTICATED'
  if (!row.roles.includes(sender.role)) return 'FORBIDDEN'
  return row.available ? 'handled' : 'NOT_AVAILABLE'
}

const STATUS = { UNAUTHENTICATED: 401, FORBIDDEN: 403, NOT_AVAILABLE: 501 } as const

/** What is wrong with an answer, or nothing: a row has some two dozen senders, and most of them are refused. */
function faults(row: Row, sender: Sender, { status, code, headers }: ApiAnswer): string[] {
  const outcome = expected(row, sender)
  const got = `${sender.name} got ${status} ${code}`
  if (outcome !== 'handled') {
    const challenged = headers['www-authenticate'] !== undefined
    const isRight = status === STATUS[outcome] && code === outcome && challenged === (outcome === 'UNAUTHENTICATED')
    return isRight ? [] : [`${got}, challenged: ${challenged}, instead of ${outcome}`]
  }
  if (['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_AVAILABLE', 'METRICS_CLOSED'].includes(code ?? '')) return [got]
  return status >= 500 ? [got] : []
}

test('the page has every route, and each that is available has a handler', async (t) => {
  t.same(
    ROWS.map(({ method, path }) => `${method} ${path}`).toSorted(),
    routeTable.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
  for (const { method, path, available } of ROWS) {
    t.equal(ROUTE_HANDLERS.has(`${method} ${path}`), available, `${method} ${path}`)
  }
  t.equal(new Set(SENDERS.map(({ authorization }) => authorization)).size, SENDERS.length)
})

for (const row of ROWS) {
  test(`${row.method} ${row.path}`, async (t) => {
    const found: string[] = []
    for (const sender of SENDERS) found.push(...faults(row, sender, await ask(row, sender)))
    t.same(found, [])
  })
}

test('HEAD is GET without its body', async (t) => {
  for (const row of ROWS.filter(({ method }) => method === 'GET')) {
    const differences: string[] = []
    for (const sender of SENDERS.slice(0, 8)) {
      const [got, head] = [await ask(row, sender), await ask(row, sender, 'HEAD')]
      const same =
        head.text === '' &&
        head.status === got.status &&
        head.headers['content-type'] === got.headers['content-type'] &&
        head.headers['x-content-type-options'] === 'nosniff'
      if (!same)
        differences.push(`${sender.name}: ${JSON.stringify([got.status, got.headers, head.status, head.headers])}`)
    }
    t.same(differences, [], row.path)
  }
})

/** What the records of a request must be, as text; empty for none. */
function expectedRecords({ row, sender, answer, method }: (typeof answers)[number]): string[] {
  if (row.roles.includes('none') || row.roles.includes('scrape-token')) return []
  const changes = routeTable.some((one) => one.method === row.method && one.path === row.path && one.changes)
  const result = answer.status < 300 ? 'success' : [401, 403].includes(answer.status) ? 'denied' : 'failure'
  const who = `management:${sender.role ?? 'unauthenticated'} ${sender.credentialId}`
  // An export has an operation of its own (specification, Audit event).
  const isExport = row.path === '/api/v1/audit/export' && method === 'GET' && result === 'success'
  const what = `${isExport ? 'audit.export' : `${row.method} ${row.path}`}: ${row.path} from 127.0.0.1`
  const results = expected(row, sender) === 'handled' && changes ? ['attempted', result] : [result]
  return results.map((one) => `${who} ${what} ${one}`)
}

function recordText({ principal, credentialId, operation, resource, sourceAddress, result }: JournalEntry): string {
  return `${principal} ${credentialId} ${operation}: ${resource} from ${sourceAddress} ${result}`
}

test('every request for a route is in the audit log, under the role that it was made in', async (t) => {
  const byRequest = new Map<string | undefined, JournalEntry[]>()
  for (const entry of await server.journal()) {
    byRequest.set(entry.requestId, [...(byRequest.get(entry.requestId) ?? []), entry])
  }
  const differences: string[] = []
  for (const answered of answers) {
    const records = byRequest.get(answered.answer.requestId) ?? []
    const [actual, wanted] = [records.map(recordText).join('\n'), expectedRecords(answered).join('\n')]
    const linked = records.length < 2 || records[1]?.intent === records[0]?.sequence
    if (actual !== wanted || !linked) differences.push(`${actual}\n  instead of ${wanted}`)
  }
  t.same(differences, [])
  t.ok(answers.length > SENDERS.length * ROWS.length, 'every route was tried with every credential')
})

test('no answer was another one than the document says', async (t) => {
  t.same(server.undocumented, [])
})

test('nothing of what was sent as a credential is in the journal', async (t) => {
  const text = await server.journalText()
  t.ok(text.includes('management:unauthenticated'), 'the search finds what is there')
  const secrets = [SYSTEM_TOKEN, SCRAPE_TOKEN, SECRET_KEY, ...Object.values(issued).map(({ token }) => token)]
  for (const secret of secrets) {
    t.notOk(text.includes(secret))
    t.notOk(text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(4, -4)))
  }
})
