/**
 * Links of a server of several threads: what is revoked is dead on all of them at the next request.
 * Proves: DO-LIS-07, DO-LIS-08, DO-LIS-09, DO-CAP-18, API-PUB-01, API-PUB-02, API-PUB-05, AUT-PUB-01.
 */
import { Agent, request } from 'node:http'
import tap, { test } from 'tap'
import { ApiClient, basic } from '../../support/api-client.ts'
import { startProcess } from '../../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'

const FRONT_ENDS = 2
/** So many that every thread has some. */
const CONNECTIONS = 16
const ROUNDS = 5

const server = await startProcess({ frontEnds: FRONT_ENDS })
const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
tap.teardown(async () => {
  for (const agent of agents) agent.destroy()
  api.close()
  await server.stop()
})
await server.raw('PUT', '/photos')
await server.raw('PUT', '/photos/cat', { body: 'a cat' })

interface Made {
  readonly id: string
  readonly url: string
}

/** The statuses of one request on each connection, all at once. */
function askAll(url: string): Promise<(number | undefined)[]> {
  return Promise.all(
    agents.map(
      (agent) =>
        new Promise<number | undefined>((resolve, reject) => {
          const sent = request(url, { agent }, (answer) => {
            answer.resume()
            answer.once('end', () => resolve(answer.statusCode))
          })
          sent.once('error', reject)
          sent.end()
        }),
    ),
  )
}

test('a link that was revoked is dead on every thread', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const embed = await api.get<Made>('POST', '/buckets/photos/object-embeds/cat', { allowed_origins: ['*'] })
    t.same(new Set(await askAll(embed.url)), new Set([200]), 'every thread knows it at once')
    await api.get('POST', `/embeds/${embed.id}/revoke`)
    t.same(new Set(await askAll(embed.url)), new Set([410]))
    await api.call('DELETE', `/embeds/${embed.id}`)
    t.same(new Set(await askAll(embed.url)), new Set([404]))
  }
})

test('both listeners of shares count one limit, and follow a revocation', async (t) => {
  const share = await api.get<Made>('POST', '/buckets/photos/object-shares/cat', { maximum_downloads: 10 })
  const { pathname } = new URL(share.url)
  const answers = [
    ...(await askAll(`${server.apiEndpoint}${pathname}/content`)),
    ...(await askAll(`${server.consoleUrl}${pathname}/content`)),
  ]
  t.equal(answers.filter((status) => status === 200).length, 10)
  t.equal(answers.filter((status) => status === 410).length, 2 * CONNECTIONS - 10)
  const other = await api.get<Made>('POST', '/buckets/photos/object-shares/cat', {})
  const { pathname: path } = new URL(other.url)
  t.same(new Set(await askAll(`${server.consoleUrl}${path}`)), new Set([200]))
  await api.get('POST', `/shares/${other.id}/revoke`)
  for (const origin of [server.apiEndpoint, server.consoleUrl]) {
    t.same(new Set(await askAll(`${origin}${path}`)), new Set([410]))
  }
})

test('no log line has a token', (t) => {
  const lines = server.log.filter((line) => line.includes('request by a link'))
  t.ok(lines.length > 0)
  for (const line of lines) {
    const { status, ...told } = JSON.parse(line) as Record<string, unknown>
    const operation = /^(share-page|share-content|embed-content)$/
    t.match(told, {
      requestId: /./,
      route: /\{token\}/,
      operation,
      milliseconds: Number,
      principal: 'capability:public',
    })
    t.equal(typeof told['reason'], status === 200 ? 'undefined' : 'string')
  }
  t.notOk(server.log.some((line) => /\/[se]\/[\w-]{43}/.test(line)))
  t.end()
})
