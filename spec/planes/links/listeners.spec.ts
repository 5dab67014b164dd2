/** Links at the listeners of a server: also where somebody asks the wrong one, no token gets into a record. */
import tap, { test } from 'tap'
import { startProcess } from '../../support/test-server.ts'

const server = await startProcess({ frontEnds: 1 })
tap.teardown(() => server.stop())
const { endpoint, apiEndpoint, consoleUrl } = server

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
