/** Every route of the management plane asked by everybody, things that are there included (S10, S13). */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { routeList } from '../../../planes/management/routing/route-list.ts'
import {
  expectedOf,
  type ManagementRow,
  type ManagementSender,
  managementRows,
  managementSenders,
  matrixFaults,
} from '../../support/pages/management-matrix.ts'
import { WEBHOOK } from './arena.ts'
import type { Assault } from './assault.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

interface Case {
  readonly name: string
  readonly row: ManagementRow
  readonly sender: ManagementSender
  readonly method: string
  readonly body: string
}

/** Its answer goes on as long as its client wants: the specs of the stream have it, and attacks wait for an end. */
export const ENDLESS = '/api/v1/events/stream'

/** Bodies that go through where a role may: what is sent by who may not must not. */
export const DOCUMENT_BODIES: Readonly<Record<string, string>> = {
  'POST /api/v1/management-tokens': '{"name":"let in","role":"system-administrator"}',
  'POST /api/v1/buckets': '{"name":"let-in-bucket"}',
  'PUT /api/v1/buckets/{bucket}/versioning': '{"status":"Enabled"}',
  'POST /api/v1/service-accounts': '{"name":"let in"}',
  'PUT /api/v1/service-accounts/{id}/status': '{"enabled":false}',
  'POST /api/v1/service-accounts/{id}/temporary-credentials': '{"expires_in_seconds":60}',
  'PUT /api/v1/service-accounts/{id}/credentials/{credential_id}/status': '{"enabled":true}',
  'POST /api/v1/policies':
    '{"name":"let in","statements":[{"effect":"allow","actions":["s3:*"],"resources":["bucket:*"]}]}',
  'POST /api/v1/storage/repair': '{}',
  'POST /api/v1/transparency/receipts': '{"receipt":"AAAA","giver":"let-in"}',
  'POST /api/v1/buckets/{bucket}/object-embeds/{key}': '{"allowed_origins":["*"]}',
  'POST /api/v1/buckets/{bucket}/lifecycle': '{"prefix":"let-in/","expiration":36500}',
  'PUT /api/v1/buckets/{bucket}/lifecycle/{rule_id}': '{"prefix":"let-in/","enabled":true,"expiration":36500}',
  'POST /api/v1/webhooks': JSON.stringify(WEBHOOK),
  'PUT /api/v1/webhooks/{id}/status': '{"enabled":false}',
  'POST /api/v1/webhooks/{id}/replay': '{"since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:00:01Z"}',
}

function casesOf(row: ManagementRow, sender: ManagementSender): Case[] {
  const own =
    row.body === 'json' ? (DOCUMENT_BODIES[`${row.method} ${row.path}`] ?? '{}') : row.body === 'none' ? '' : 'bytes'
  const one = { name: `${row.method} ${row.path} / ${sender.name}`, row, sender, method: row.method, body: own }
  return row.method === 'GET' ? [one, { ...one, name: `${one.name} / HEAD`, method: 'HEAD' }] : [one]
}

export async function attackRoutes(assault: Assault): Promise<void> {
  const { arena, canaries, ledger } = assault
  const rows = managementRows(arena.victims)
  const missing = routeList.filter(
    ({ method, path }) => !rows.some((row) => row.method === method && row.path === path),
  )
  for (const { method, path } of missing) ledger.fault('wrong', `${method} ${path}`, 'is not on the page of routes')
  // Those who may nothing come first, while everything is still there.
  const senders = managementSenders(arena.known).toReversed()
  const ending = rows.filter(({ path }) => path !== ENDLESS)
  const all = senders.flatMap((sender) => ending.flatMap((row) => casesOf(row, sender)))
  const cases = assault.some(all, ({ row, sender, method }) => {
    return [sender.name, `${method} ${row.path}: ${expectedOf(row, sender)}`]
  })
  await assault.onApi('every management route by everybody', cases, async (lane, one) => {
    const { name, row, sender, method, body } = one
    const bytes = bytesOf(one, arena.server.apiEndpoint.slice('http://'.length))
    const isHandled = expectedOf(row, sender) === 'handled'
    const isProbe = isUnrecorded(row)
    const showsSecret = isHandled && (body !== '' || row.path.endsWith('/webhooks/{id}/secret'))
    const records = (given: RawAnswer) => expectedRecords(one, given, arena.victims)
    const question = { name, method, bytes, mayChange: isHandled, isRecorded: !isProbe, records, showsSecret }
    const answer = await assault.ask(lane, question)
    if (answer === undefined) return
    const code = method === 'HEAD' ? codeOfHead(answer) : answer.code
    const judged = { status: answer.status, code, challenged: answer.headers.has('www-authenticate') }
    for (const fault of matrixFaults(row, sender, judged)) {
      ledger.fault(answer.status < 300 && !isHandled ? 'let in' : 'wrong', name, fault, bytes)
    }
    for (const [, secret = ''] of answer.body.matchAll(SHOWN)) canaries.add('a secret that was issued', secret)
  })
}

/** The members of answers that show a secret, once. */
const SHOWN = /"(?:secret_key|token|signing_secret)":"([^"]+)"/g
const CODES: Readonly<Record<number, string>> = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' }

/** The answer to HEAD has no envelope; its status stands for the code. */
function codeOfHead({ status }: RawAnswer): string | undefined {
  return CODES[status]
}

function bytesOf({ row, sender, method, body }: Case, host: string): string {
  const headers: HeaderLine[] = [['host', host]]
  if (sender.authorization !== undefined) headers.push(['authorization', sender.authorization])
  if (body !== '' && row.body === 'json') headers.push(['content-type', 'application/json'])
  return requestBytes(method, row.target, headers, body)
}

/** Probes, which change nothing, and the metrics. */
function isUnrecorded({ roles, method }: ManagementRow): boolean {
  return roles.includes('scrape-token') || (roles.includes('none') && method === 'GET')
}

/** What the records of a request must be, under the role that it was made in; none where the page has no role. */
function expectedRecords(
  { row, sender, method }: Case,
  { status }: RawAnswer,
  victims: Readonly<Record<string, string>>,
): string[] {
  if (isUnrecorded(row)) return []
  const route = routeList.find((one) => one.method === row.method && one.path === row.path)
  const changes = route?.changes === true
  const result = status < 300 ? 'success' : [401, 403].includes(status) ? 'denied' : 'failure'
  const isOpen = row.roles.includes('none')
  const who = isOpen
    ? 'management:unauthenticated undefined'
    : `management:${sender.role ?? 'unauthenticated'} ${sender.credentialId}`
  // An export has an operation of its own (specification, Audit event).
  const isExport = row.path === '/api/v1/audit/export' && method === 'GET' && result === 'success'
  const operation = route?.records?.operation ?? (isExport ? 'audit.export' : `${row.method} ${row.path}`)
  // What there is no share or embed of is recorded as the route.
  const hasKey = route?.records !== undefined && row.path.endsWith('{key}')
  const what = `${operation}: ${hasKey ? `bucket:${victims['{bucket}']}/${victims['{key}']}` : row.path}`
  // An export has its outcome in a record after its attempt, as a change has.
  const hasAttempt = isExport || (!isOpen && expectedOf(row, sender) === 'handled' && changes)
  const results = hasAttempt ? ['attempted', result] : [result]
  return results.map((one) => `${who} ${what} ${one}`)
}
