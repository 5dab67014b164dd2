/** Access on a whole server: every front end, and what a restart keeps. */
import { rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { test } from 'tap'
import { ApiClient, bearer } from '../../../support/api-client.ts'
import { allow, attach, deny, newIdentity } from '../../../support/identities.ts'
import type { AccountRecord, IssuedToken } from '../../../support/management-records.ts'
import { type ProcessServer, startProcess, temporaryDirectory } from '../../../support/test-server.ts'

const TOKEN = 'the-system-token-of-a-process-0123456789'
const READ = [allow(['s3:GetObject'], 'bucket:access/*')]
const NO_READ = [deny(['s3:GetObject'], 'bucket:*')]
const CONNECTIONS = 24

function apiOf(server: ProcessServer): ApiClient {
  return ApiClient.of(server.apiEndpoint, bearer(TOKEN))
}

const WITH_TOKEN = { OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN }

/** The status of a link, asked for on a connection of its own. */
function statusOf(url: string): Promise<number> {
  const agent = new Agent({ keepAlive: false })
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    }).on('error', reject)
  })
}

/** The statuses of many connections at once, each status once. */
async function statusesOf(url: string): Promise<number[]> {
  const statuses = await Promise.all(Array.from({ length: CONNECTIONS }, () => statusOf(url)))
  return [...new Set(statuses)]
}

test('a change of access holds for the next request on every front end', async (t) => {
  const server = await startProcess({ frontEnds: 2, environment: WITH_TOKEN })
  const api = apiOf(server)
  t.teardown(async () => {
    api.close()
    await server.stop()
  })
  await server.raw('PUT', '/access')
  await server.raw('PUT', '/access/a', { body: 'x' })
  const { account, credential, s3, signing } = await newIdentity({ api, endpoint: server.endpoint })
  s3.destroy()
  const link = server.wire.presigned('GET', '/access/a', { expiresSeconds: 600, ...signing.sign })
  const url = `${server.endpoint}${link}`
  t.same(await statusesOf(url), [403])
  const status = `/service-accounts/${account.id}/status`
  const credentialStatus = `/service-accounts/${account.id}/credentials/${credential.credential_id}/status`
  for (let round = 0; round < 5; round += 1) {
    const policy = await attach(api, account.id, READ)
    t.same(await statusesOf(url), [200], 'attached')
    await api.get('PUT', status, { enabled: false })
    t.same(await statusesOf(url), [403], 'account disabled')
    await api.get('PUT', status, { enabled: true })
    t.same(await statusesOf(url), [200], 'account enabled')
    await api.get('PUT', credentialStatus, { enabled: false })
    t.same(await statusesOf(url), [403], 'credential disabled')
    await api.get('PUT', credentialStatus, { enabled: true })
    t.same(await statusesOf(url), [200], 'credential enabled')
    await api.get('PUT', `/policies/${policy}`, { name: 'denied', statements: NO_READ })
    t.same(await statusesOf(url), [403], 'policy replaced')
    await api.get('PUT', `/policies/${policy}`, { name: 'allowed', statements: READ })
    t.same(await statusesOf(url), [200], 'policy replaced again')
    t.equal((await api.call('DELETE', `/policies/${policy}`)).code, 'CONFLICT', 'it is attached')
    await api.get('DELETE', `/policies/${policy}/bindings/${account.id}`)
    t.same(await statusesOf(url), [403], 'detached')
    await api.get('DELETE', `/policies/${policy}`)
  }
  const threads = new Set(server.log.flatMap((line) => /"thread":"(front-end-\d)"/.exec(line)?.[1] ?? []))
  t.same([...threads].toSorted(), ['front-end-0', 'front-end-1'], 'both answered')
  const kinds = new Set(server.log.flatMap((line) => (/"S3 request"/.test(line) ? [JSON.parse(line).principal] : [])))
  t.same([...kinds].toSorted(), ['anonymous', 'service_account', 'system:root'], 'a disabled account is nobody')
  const secrets = [credential.secret_key, TOKEN]
  for (const secret of secrets)
    t.notOk(
      server.log.some((line) => line.includes(secret)),
      'the log has no secret',
    )
})

/** An account as it is when its credentials were not used yet. */
function unused(account: AccountRecord): AccountRecord {
  return { ...account, credentials: account.credentials.map((one) => ({ ...one, last_used_at: null })) }
}

test('accounts and tokens outlive the process, by a stop and by a kill', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true }))
  const options = { dataDirectory, environment: WITH_TOKEN }
  const first = await startProcess(options)
  const api = apiOf(first)
  await api.get('POST', '/buckets', { name: 'access' })
  await api.send('PUT', '/api/v1/buckets/access/object/a', { raw: 'x' })
  const { account, s3, signing } = await newIdentity({ api, endpoint: first.endpoint }, READ)
  s3.destroy()
  const kept = await api.get<AccountRecord>('GET', `/service-accounts/${account.id}`)
  const token = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'kept', role: 'auditor' })
  api.close()
  await first.kill9()
  for (const ending of ['stop', 'kill9'] as const) {
    const server = await startProcess(options)
    t.equal((await server.raw('GET', '/access/a', signing)).text, 'x', ending)
    const auditor = ApiClient.of(server.apiEndpoint, bearer(token.token))
    t.same(unused(await auditor.get<AccountRecord>('GET', `/service-accounts/${account.id}`)), unused(kept))
    const { capabilities } = await auditor.get<{ capabilities: { versioning: boolean } }>('GET', '/system/info')
    t.equal(capabilities.versioning, true)
    const { readings } = await auditor.get<{ readings: unknown[] }>('GET', '/system/metrics/history')
    t.ok(readings.length > 0, 'the first reading is taken at the start')
    auditor.close()
    await server[ending]()
  }
})
