/**
 * The end of the grace period: what has not come in whole is answered, and the journal is closed.
 * Proves: API-PRO-09, LIM-VAL-14.
 */
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { type ProcessServer, startProcess } from '../support/server-process.ts'

interface Answered {
  readonly status: number | undefined
  readonly text: string
}

/** Sends a request of which a part of the body never comes. */
function sendPart(server: ProcessServer, target: string, length: number, part: Buffer): Promise<Answered> {
  const signing = { payloadHash: 'UNSIGNED-PAYLOAD' }
  const headers = server.wire.headersOf('PUT', target, { sign: signing })
  const { hostname, port } = new URL(server.endpoint)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method: 'PUT', path: target, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.once('close', () => {
        sent.destroy()
        resolve({ status: response.statusCode, text })
      })
    })
    sent.on('error', reject)
    for (const [name, value] of headers) sent.setHeader(name, value)
    sent.setHeader('content-length', length)
    sent.write(part)
  })
}

test('uploads that are not whole at the end of the grace period are 503, in the answer and in the log', async (t) => {
  const environment = { OBJECT_STORE_SERVER_SHUTDOWN_GRACE_PERIOD_SECONDS: '1', OBJECT_STORE_LOG_REQUESTS: 'all' }
  const server = await startProcess({ dataDirectory: t.testdir(), environment })
  t.teardown(() => server.kill9())
  t.equal((await server.wire.send('PUT', '/photos')).status, 200)
  const answers = Promise.all([
    sendPart(server, '/photos/small', 100, Buffer.alloc(10)),
    sendPart(server, '/photos/large', 20_000_000, Buffer.alloc(100_000)),
  ])
  await pause(500)
  t.equal(await server.terminate(), 0)
  t.match(JSON.parse(server.log.at(-1) ?? '{}'), { level: 'info', msg: 'stopped', exitCode: 0 }, 'the last line')
  for (const { status, text } of await answers) {
    t.equal(status, 503)
    t.match(text, /<Code>ServiceUnavailable<.*The server is stopping/)
  }
  const lines = server.log.filter((line) => /"route":"\/\{bucket\}\/\{key\}"/.test(line))
  t.match(lines, [/"status":503/, /"status":503/])
  const puts = (await server.journal()).filter(
    ({ operation, result }) => operation === 's3:PUT' && result === 'failure',
  )
  t.equal(puts.length, 2, 'and in the journal')
})
