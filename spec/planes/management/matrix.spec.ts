/** Every route with every kind of credential. What is expected is read from the page of routes, not from the code. */
import tap, { test } from 'tap'
import { routeTable } from '../../../planes/management/route-table.ts'
import { ROUTE_HANDLERS } from '../../../planes/management/route-handlers.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import type { JournalEntry } from '../../support/journal-entries.ts'
import { SCRAPE_TOKEN, startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import {
  expectedOf,
  type ManagementRow,
  type ManagementSender,
  managementRows,
  managementSenders,
  matrixFaults,
} from '../../support/management-matrix.ts'
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

const SENDERS = managementSenders({
  systemToken: SYSTEM_TOKEN,
  scrapeToken: SCRAPE_TOKEN,
  rootAccessKey: ACCESS_KEY,
  rootSecretKey: SECRET_KEY,
  ...issued,
})
const ROWS = managementRows({ '{bucket}': 'matrix-bucket', '{key}': 'a/b%2Fc' })
const answers: {
  readonly row: ManagementRow
  readonly sender: ManagementSender
  readonly answer: ApiAnswer
  readonly method: string
}[] = []

async function ask(row: ManagementRow, sender: ManagementSender, method = row.method): Promise<ApiAnswer> {
  const body = row.body === 'none' ? {} : { raw: row.body === 'json' ? '{}' : 'bytes' }
  const answer = await api.as(sender.authorization).send(method, row.target, body)
  answers.push({ row, sender, answer, method })
  return answer
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
    for (const sender of SENDERS) {
      const answer = await ask(row, sender)
      const challenged = answer.headers['www-authenticate'] !== undefined
      found.push(...matrixFaults(row, sender, { ...answer, challenged }))
    }
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
  const results = expectedOf(row, sender) === 'handled' && changes ? ['attempted', result] : [result]
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
