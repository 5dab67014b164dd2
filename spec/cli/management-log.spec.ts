/** Which requests of the management plane get a line in the log (log.requests). */
import { test } from 'tap'
import { ApiClient, basic } from '../support/api-client.ts'
import { startProcess } from '../support/test-server.ts'

for (const [setting, expected] of [
  ['all', [200, 404]],
  ['errors', [404]],
  ['none', []],
] as const) {
  test(`log.requests = ${setting}`, async (t) => {
    const server = await startProcess({ environment: { OBJECT_STORE_LOG_REQUESTS: setting } })
    const api = ApiClient.of(server.apiEndpoint, basic(server.accessKey, server.secretKey))
    const answers = [await api.call('GET', '/buckets'), await api.call('GET', '/buckets/no-such-bucket')]
    t.same(
      answers.map(({ status }) => status),
      [200, 404],
    )
    api.close()
    await server.stop()
    const lines = server.log.map((line) => JSON.parse(line) as Record<string, unknown>)
    const logged = lines.filter(({ msg }) => msg === 'management request')
    t.same(
      logged.map(({ status }) => status),
      expected,
    )
    for (const { requestId } of logged) t.ok(answers.some((answer) => answer.requestId === requestId))
    t.notOk(server.log.some((line) => line.includes('no-such-bucket') || line.includes(server.secretKey)))
  })
}
