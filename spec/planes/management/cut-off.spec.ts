/** An answer that is cut off by damage: the line of the log and the record say which request it was, and of which object. */
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import tap, { test } from 'tap'
import { API } from '../../../planes/management/routing/define-route.ts'
import { bearer } from '../../support/api-client.ts'
import { flipByte } from '../../support/journal-files.ts'
import { startManaged, SYSTEM_TOKEN } from '../../support/management-server.ts'
import { payloadFileNames } from '../../support/multipart.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, apiEndpoint, exchanges, failures, paths } = server
const BYTES = 8 * 1024 ** 2

/** Bytes of a download that came before its connection ended. */
async function download(key: string, requestId: string): Promise<{ readonly status: unknown; readonly bytes: number }> {
  const headers = { authorization: bearer(SYSTEM_TOKEN), 'x-request-id': requestId }
  const sent = get(`${apiEndpoint}${API}/buckets/cut/object-content/${key}`, { headers, agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let bytes = 0
  response.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  response.on('error', () => undefined)
  await new Promise((resolve) => response.on('close', resolve))
  return { status: response.statusCode, bytes }
}

test('damage in the middle of a download is logged once, with its request and its object', async (t) => {
  await api.get('POST', '/buckets', { name: 'cut' })
  await api.send('PUT', `${API}/buckets/cut/object/a%2Fb%20c`, { raw: Buffer.alloc(BYTES, 'x') })
  const [name = ''] = payloadFileNames(paths)
  flipByte(paths.file(name), BYTES - 1)
  const { status, bytes } = await download('a%2Fb%20c', 'the-request-that-is-cut')
  t.equal(status, 200)
  t.ok(bytes < BYTES, 'the answer is short')
  const said = exchanges.filter(({ requestId }) => requestId === 'the-request-that-is-cut')
  const common = { route: '/api/v1/buckets/{bucket}/object-content/{key}', status: 200, method: 'GET' }
  t.match(said, [common, { ...common, isCutOff: true, target: { bucket: 'cut', key: 'a/b c' } }])
  t.notMatch(JSON.stringify(said[0]), /"cut"|a\/b/, 'the line of the request has no names')
  t.match(failures, [{ name: 'PayloadDamagedError' }])
  t.equal(failures.length, 1, 'and no second line without the id')
  t.equal(server.apiGate.active, 0)
  // The outcome is a record that nothing waits for.
  await server.store.loop.drained()
  const { events } = await api.get<{ events: unknown[] }>('GET', '/audit/events?request_id=the-request-that-is-cut')
  t.match(events, [
    {
      request_id: 'the-request-that-is-cut',
      operation: `GET ${common.route}`,
      resource: common.route,
      result: 'success',
      metadata: { bucket: 'cut', key: 'a/b c' },
    },
    { operation: `GET ${common.route}`, result: 'failure', metadata: { error: 'object-damaged', sent_bytes: bytes } },
  ])
})
