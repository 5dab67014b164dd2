/** What reaches the management listener and no route: it is answered in the words of this plane all the same. */
import { test } from 'tap'
import { startProcess } from '../../support/server-process.ts'
import { head, openRaw, sleep } from '../raw-client.ts'

const DOCUMENT = /\{"error":\{.*\}\}/
const PATIENCE_MILLISECONDS = 20_000

test('a malformed request gets the envelope and a request id, and a stalled one is cut off', async (t) => {
  const server = await startProcess({ environment: { OBJECT_STORE_SERVER_STALL_TIMEOUT_SECONDS: '5' } })
  t.teardown(() => server.stop())
  const port = Number(server.apiEndpoint.split(':').at(-1))
  for (const [status, sent] of [
    [400, head('GET /health', 'Host: other')],
    [501, head('PUT /health', 'Transfer-Encoding: gzip')],
  ] as const) {
    const received = await openRaw(port).send(sent).until(DOCUMENT)
    t.match(received, new RegExp(`^HTTP/1.1 ${status} `))
    t.match(received, /content-type: application\/json\r\n/i)
    const id = /x-request-id: ([0-9a-f-]{36})\r\n/i.exec(received)?.[1]
    const { error } = JSON.parse(DOCUMENT.exec(received)?.[0] ?? '{}')
    t.match(error, { code: 'INVALID_REQUEST', message: /./, request_id: String(id) })
  }
  const authorization = `Authorization: Basic ${Buffer.from(`${server.accessKey}:${server.secretKey}`).toString('base64')}`
  await server.raw('PUT', '/stalled')
  const stalled = openRaw(port)
  stalled.send(`${head('PUT /api/v1/buckets/stalled/object/a', authorization, 'Content-Length: 100')}ten bytes.`)
  await Promise.race([stalled.closed, sleep(PATIENCE_MILLISECONDS)])
  t.equal(stalled.socket.closed, true, 'as server.stall_timeout_seconds says, not after the minute of the default')
  stalled.socket.destroy()
})
