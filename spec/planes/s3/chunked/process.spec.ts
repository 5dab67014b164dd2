/** Uploads in chunks on a whole server: one that is killed in the middle of one, and a sender that takes its time. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { verifyJournal } from '../../../../engine/verify/journal-verifier.ts'
import { CHUNK_FORMS, type ChunkedRequest, encodedBody } from '../../../support/chunked-requests.ts'
import { chunkedFor } from '../../../support/chunked-sends.ts'
import { openRaw, type RawClient } from '../../../support/raw/raw-client.ts'
import { requestText } from '../../../support/raw/request-text.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'

const MEBIBYTE = 1024 ** 2
const ENVIRONMENT = {
  OBJECT_STORE_S3_EXTENSIONS: 'aws-chunked',
  OBJECT_STORE_S3_UNSIGNED_CHUNKS_OVER_HTTP: 'true',
}
const LOOK_MILLISECONDS = 20

interface Sending {
  readonly client: RawClient
  readonly body: Buffer
}

/** Sends the head of a request, its body left to the caller. */
function begin(port: number, target: string, { headers, parts }: ChunkedRequest): Sending {
  const body = encodedBody(parts)
  const text = requestText('PUT', target, [...headers, `content-length: ${body.length}`])
  return { client: openRaw(port).send(text), body }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(LOOK_MILLISECONDS)
}

test('a server that is killed in the middle of uploads in chunks shows nothing of them, and keeps nothing', async (t) => {
  const dataDirectory = temporaryDirectory()
  t.teardown(() => rmSync(dataDirectory, { recursive: true }))
  const { uploads, journal } = new StorePaths(dataDirectory)
  const server = await startProcess({ dataDirectory, environment: ENVIRONMENT })
  await server.raw('PUT', '/killed')
  const payload = sampleBytes(20 * MEBIBYTE)
  const begun = CHUNK_FORMS.map((form) => {
    const target = `/killed/${form}`
    const sending = begin(server.port, target, chunkedFor(server, target, { form, payload }))
    // All of it but the end: every chunk is there, and nothing says yet that they are all.
    sending.client.socket.write(sending.body.subarray(0, -40))
    return sending
  })
  await until(() => {
    const sizes = readdirSync(uploads).map((name) => statSync(join(uploads, name)).size)
    return sizes.filter((size) => size >= 15 * MEBIBYTE).length === begun.length
  })
  for (const form of CHUNK_FORMS)
    isError(t, await server.raw('GET', `/killed/${form}`), 'NoSuchKey', `${form} under way`)
  await server.kill9()
  for (const { client } of begun) {
    t.equal(client.received, '', 'nothing was acknowledged')
    client.socket.destroy()
  }
  const again = await startProcess({ dataDirectory, environment: ENVIRONMENT })
  for (const form of CHUNK_FORMS)
    isError(t, await again.raw('GET', `/killed/${form}`), 'NoSuchKey', `${form} afterwards`)
  t.same(readdirSync(uploads), [], 'no file is left')
  await again.stop()
  const { intact } = await verifyJournal(journal, { threads: 0, settleMilliseconds: 0 })
  t.ok(intact, 'the journal is intact')
})

test('a sender that takes its time, byte by byte and chunk by chunk', async (t) => {
  const server = await startProcess({ environment: ENVIRONMENT })
  t.teardown(() => server.stop())
  await server.raw('PUT', '/slow')
  for (const form of CHUNK_FORMS) {
    const payload = sampleBytes(200_000)
    const target = `/slow/${form}`
    const { client, body } = begin(server.port, target, chunkedFor(server, target, { form, payload }))
    const { socket } = client
    socket.setNoDelay(true)
    for (let at = 0; at < body.length; ) {
      // Heads and the end come byte by byte.
      const step = at < 200 || at > body.length - 200 ? 1 : 7919
      socket.write(body.subarray(at, at + step))
      at += step
      if (step > 1 || at % 50 === 0) await pause(1)
    }
    t.match(await client.until(/./), /^HTTP\/1\.1 200 /, form)
    t.ok((await server.raw('GET', target)).body.equals(payload), `${form} comes back`)
    socket.destroy()
  }
})
