/** Downloads by ticket: one version, once, for who asked. */
import tap, { test } from 'tap'
import { millisecondsOf } from '../../../engine/brands.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { DownloadTickets, TICKET_MILLISECONDS } from '../../../planes/management/downloads/download-tickets.ts'
import { ApiClient, bearer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
const { api } = server
const nobody = ApiClient.of(server.apiEndpoint, '', () => {})
tap.teardown(async () => {
  nobody.close()
  await server.stop()
})
await api.get('POST', '/buckets', { name: 'down' })
await api.get('PUT', '/buckets/down/versioning', { status: 'Enabled' })
const KEY = '../<b>"name".html'
const PATH = `/buckets/down/object-download/${encodeURIComponent(KEY)}`
const put = (raw: string) => api.send('PUT', `${API}/buckets/down/object/${encodeURIComponent(KEY)}`, { raw })
await put('the first version')

interface Issued {
  readonly path: string
  readonly version_id: string
  readonly expires_at: string
}

test('a ticket gives one version, once, as an attachment', async (t) => {
  const { path, version_id } = await api.get<Issued>('POST', PATH)
  await put('the second version')
  for (const [method, target] of [
    ['HEAD', path],
    ['GET', `${path}?a=b`],
    ['POST', path],
    ['GET', `${path}x`],
    ['GET', '/d/'],
  ] as const) {
    t.equal((await nobody.send(method, target)).status, 404, `${method} ${target}`)
  }
  const answer = await nobody.send('GET', path)
  t.equal(answer.status, 200)
  t.equal(answer.text, 'the first version', 'the one that was current when it was asked for')
  t.match(answer.headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': "attachment; filename*=UTF-8''%3Cb%3E%22name%22.html",
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'no-store',
  })
  t.equal((await nobody.send('GET', path)).status, 404, 'used up')
  const again = await api.get<Issued>('POST', `${PATH}?version_id=${version_id}`)
  t.equal((await nobody.send('GET', again.path)).text, 'the first version')
  t.equal((await api.call('POST', '/buckets/down/object-download/none')).code, 'OBJECT_NOT_FOUND')
  t.equal((await api.call('POST', '/buckets/none/object-download/none')).code, 'BUCKET_NOT_FOUND')
  t.equal((await nobody.call('POST', PATH)).code, 'UNAUTHENTICATED')
})

test('it is a read of its issuer, who must still be let in', async (t) => {
  const token = await api.get<{ id: string; token: string }>('POST', '/management-tokens', {
    name: 'a',
    role: 'auditor',
  })
  const auditor = ApiClient.of(server.apiEndpoint, bearer(token.token), () => {})
  t.teardown(() => auditor.close())
  const used = await auditor.get<Issued>('POST', PATH)
  const late = await auditor.get<Issued>('POST', PATH)
  const { requestId } = await nobody.send('GET', used.path)
  t.notMatch(JSON.stringify(server.exchanges), used.path.slice(3), 'no line of the log has the ticket')
  await api.get('DELETE', `/management-tokens/${token.id}`)
  // A change waits for the records before it.
  const { events } = await api.get<{ events: readonly unknown[] }>('GET', `/audit/events?request_id=${requestId}`)
  t.match(events, [
    {
      principal: 'management:auditor',
      operation: 'GET /api/v1/buckets/{bucket}/object-content/{key}',
      result: 'success',
      metadata: { bucket: 'down', key: KEY, version_id: used.version_id },
    },
  ])
  t.equal((await nobody.send('GET', late.path)).code, 'UNAUTHENTICATED')
})

test('tickets expire, and are bounded', async (t) => {
  let now = 1000
  const tickets = new DownloadTickets(() => millisecondsOf(now))
  const issue = (credentialId: string) => {
    const expiresMilliseconds = millisecondsOf(now + TICKET_MILLISECONDS)
    const about = { bucket: 'b', key: 'k', versionId: 'v', authorization: 'Bearer x' }
    return tickets.issue({ ...about, credentialId, expiresMilliseconds }) ?? 'none'
  }
  const early = issue('one')
  now += TICKET_MILLISECONDS
  t.equal(tickets.take(early), undefined, 'expired')
  const own = Array.from({ length: 65 }, () => issue('one'))
  t.equal(tickets.take(own[0] as string), undefined, 'the oldest of a credential gives way')
  t.match(tickets.take(own[64] as string), { credentialId: 'one' })
  const names = Array.from({ length: 5000 }, (_, index) => issue(`other-${index}`))
  t.equal(names.filter((name) => name !== 'none').length, 4096 - 63, 'others find room up to the bound')
  now += TICKET_MILLISECONDS
  t.not(issue('late'), 'none', 'what has expired makes room')
})
