/**
 * Links at the listeners of a server: also where somebody asks the wrong one, no token gets into a record.
 * Proves: DO-LIS-10.
 */
import tap, { test } from 'tap'
import { basic } from '../../support/api-client.ts'
import { startProcess } from '../../support/test-server.ts'

const server = await startProcess({ frontEnds: 1 })
tap.teardown(() => server.stop())
const { endpoint, apiEndpoint, consoleUrl } = server

test('the management plane is not on the port of S3', async (t) => {
  const headers = { authorization: basic(server.accessKey, server.secretKey) }
  for (const path of ['/api/v1/buckets', '/api/v1/auth/session', '/health', '/ready', '/metrics']) {
    t.not((await fetch(`${apiEndpoint}${path}`, { headers })).status, 404, path)
    const answer = await fetch(`${endpoint}${path}`, { headers })
    t.ok(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status}`)
    t.match(await answer.text(), /^<\?xml [^]*<Error><Code>/, `${path} is a request of S3`)
  }
})

test('the token of a link is in no record and in no log, whichever listener is asked for it', async (t) => {
  const token = 'T'.repeat(42) + 'A'
  for (const listener of [endpoint, apiEndpoint, consoleUrl]) {
    for (const path of [`/s/${token}`, `/s/${token}/content`, `/%73/${token}`, `/e/${token}`, `//e/${token}`]) {
      const { status } = await fetch(`${listener}${path}`)
      t.equal(status, 404, `${listener}${path}`)
    }
    for (const path of [`/s/${token}/unlock`, `/e/${token}`]) {
      const { status } = await fetch(`${listener}${path}`, { method: 'POST', body: '{"password":"x"}' })
      t.ok(status >= 400 && status < 500, `POST ${listener}${path}`)
    }
  }
  t.notOk((await server.journalText()).includes(token))
  t.notOk(server.log.join('\n').includes(token))
})
