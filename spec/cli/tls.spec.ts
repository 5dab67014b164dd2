/** The server and its commands with TLS, as processes. */
import { existsSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { test } from 'tap'
import type { TlsFiles } from '../../planes/http/tls-files.ts'
import { presign, signHeaders } from '../support/signing.ts'
import { until } from '../support/waiting.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { filesIn, install, shownBy } from '../planes/tls-client.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { environment, run } from './command-runner.ts'

const [first, second] = [selfSignedCertificate({ name: 'first' }), selfSignedCertificate({ name: 'second' })]
const trusted = [first.certificate, second.certificate]

function tlsOf(listeners: readonly ('S3' | 'API')[], { certificateFile, keyFile }: TlsFiles): Record<string, string> {
  const pairs = listeners.flatMap((listener) => [
    [`OBJECT_STORE_${listener}_TLS_CERTIFICATE_FILE`, certificateFile],
    [`OBJECT_STORE_${listener}_TLS_KEY_FILE`, keyFile],
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}

/** Every object of the log with a message, in order. */
function logged(server: ProcessServer, message: string): Record<string, unknown>[] {
  return server.log.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message)
}

/** Sends SIGHUP and waits until the log has `count` lines more with a message; gives them. */
async function hangUp(server: ProcessServer, message: string, count: number): Promise<Record<string, unknown>[]> {
  const before = logged(server, message).length
  server.process.kill('SIGHUP')
  await until(() => logged(server, message).length >= before + count || server.process.exitCode !== null)
  return logged(server, message).slice(before)
}

function clientOf(server: ProcessServer, agent: Agent): S3Client {
  return new S3Client({
    endpoint: `https://127.0.0.1:${server.port}`,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
    requestHandler: { httpsAgent: agent },
  })
}

/** Begins an upload; `rest` sends what is missing and gives the status. */
function beginUpload(server: ProcessServer, path: string, half: Buffer): (rest: Buffer) => Promise<number> {
  const { accessKey, secretKey, port } = server
  const endpoint = `https://127.0.0.1:${port}`
  const signing = { accessKey, secretKey, region: 'us-east-1', now: Date.now(), expiresSeconds: 300 }
  const headers = { 'content-length': String(half.length * 2) }
  const outgoing = request(presign({ method: 'PUT', path, endpoint, ...signing }), {
    method: 'PUT',
    headers,
    ca: trusted,
    agent: false,
  })
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
  outgoing.write(half)
  return (rest) => {
    outgoing.end(rest)
    return status
  }
}

test('S3 over TLS, and certificates that are replaced under load', async (t) => {
  const files = filesIn(t.testdir(), first)
  const server = await startProcess({ frontEnds: 2, environment: tlsOf(['S3', 'API'], files) })
  t.teardown(() => server.stop())
  const agent = new Agent({ ca: trusted, keepAlive: false })
  const s3 = clientOf(server, agent)
  t.teardown(() => s3.destroy())
  const half = Buffer.alloc(400_000, 'half')
  await s3.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'small', Body: 'small' }))
  await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'large', Body: half }))

  const read = async (Key: string) => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  const failures: unknown[] = []
  const load = { on: true, reads: 0 }
  const reading = async (): Promise<void> => {
    while (load.on) {
      try {
        if (!(await read('large')).equals(half)) failures.push('other bytes')
        load.reads += 1
      } catch (error) {
        failures.push(error)
      }
    }
  }
  const readers = [reading(), reading(), reading()]
  const upload = beginUpload(server, '/bucket/upload', half)

  const begun = logged(server, 'serving a certificate')
  t.match(begun, [
    { listener: 's3', subject: 'CN=first', names: /DNS:first/ },
    { listener: 'api', subject: 'CN=first' },
  ])
  for (const pair of [second, first, second]) {
    install(files, pair)
    t.match(await hangUp(server, 'serving a certificate', 2), [{ listener: 's3' }, { listener: 'api' }])
    const seen = new Set<string>()
    // So many connections come to both front ends.
    for (let look = 0; look < 24; look += 1) seen.add(await shownBy(server.port))
    seen.add(await shownBy(Number(server.apiEndpoint.split(':').at(-1))))
    t.strictSame([...seen], [pair === first ? 'first' : 'second'])
  }
  load.on = false
  await Promise.all(readers)
  t.strictSame(failures, [])
  t.ok(load.reads > 0)
  t.equal(await upload(half), 200, 'an upload that began under the first certificate ends under the fourth')
  t.ok((await read('upload')).equals(Buffer.concat([half, half])))

  install(files, { certificate: first.certificate, key: second.key })
  const refusals = await hangUp(server, 'the certificate could not be replaced; the old one is still served', 2)
  for (const refusal of refusals) {
    t.match(refusal, { level: 'error', reason: `${files.keyFile}: the key is not that of the first certificate in` })
  }
  t.equal(await shownBy(server.port), 'second')
  t.equal((await read('small')).toString(), 'small')
  install(files, second)
  t.equal((await hangUp(server, 'the certificate files have not changed', 2)).length, 2)
  t.equal(await server.terminate(), 0, 'it ends in order')
})

/** The status of ListBuckets, asked under a name. */
function listAt(server: ProcessServer, host: string): Promise<number> {
  const { accessKey, secretKey, port } = server
  const signing = { method: 'GET', path: '/', query: [], headers: [], region: 'us-east-1', now: Date.now(), host }
  const lines = signHeaders({ ...signing, accessKey, secretKey, payloadHash: 'UNSIGNED-PAYLOAD' }).flat()
  return new Promise((resolve, reject) => {
    const headers = lines as unknown as Record<string, string>
    const outgoing = request({ host: '127.0.0.1', port, path: '/', headers, ca: trusted, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

test('the names of the store are those of its certificate, also after SIGHUP, or those of the setting', async (t) => {
  const files = filesIn(t.testdir(), first)
  const server = await startProcess({ frontEnds: 2, environment: tlsOf(['S3'], files) })
  t.teardown(() => server.stop())
  // So many connections come to both front ends.
  const statuses = async (host: string) => {
    const seen = new Set<number>()
    for (let look = 0; look < 12; look += 1) seen.add(await listAt(server, host))
    return [...seen]
  }
  t.strictSame(await statuses('first:1'), [200])
  t.strictSame(await statuses('second'), [501])
  t.strictSame(await statuses(hostname()), [200])
  install(files, second)
  await hangUp(server, 'serving a certificate', 1)
  t.strictSame(await statuses('second'), [200])
  t.strictSame(await statuses('first'), [501])
  const named = await startProcess({
    environment: { ...tlsOf(['S3'], files), OBJECT_STORE_S3_HOSTNAMES: 'store.example, Other.example' },
  })
  t.teardown(() => named.stop())
  t.equal(await listAt(named, 'other.example:7600'), 200)
  t.equal(await listAt(named, 'localhost'), 200)
  t.equal(await listAt(named, 'second'), 501)
  t.equal(await listAt(named, 'photos.store.example'), 501)
})

test('SIGHUP without TLS changes nothing', async (t) => {
  const server = await startProcess()
  t.teardown(() => server.stop())
  await hangUp(server, 'nothing to reload: no listener has a certificate', 1)
  await hangUp(server, 'nothing to reload: no listener has a certificate', 1)
  t.equal((await fetch(`${server.apiEndpoint}/ready`)).status, 200)
  t.equal(await server.terminate(), 0)
})

test('a start with TLS files that cannot be used is refused before anything is made', async (t) => {
  const directory = t.testdir()
  const files = filesIn(directory, { certificate: first.certificate, key: second.key })
  const dataDirectory = join(directory, 'data')
  const settings = { ...environment, OBJECT_STORE_DATA_DIR: dataDirectory, ...tlsOf(['S3'], files) }
  const missing = join(directory, 'none.pem')
  const { exitCode, stderr } = await run(['server'], {
    environment: { ...settings, ...tlsOf(['API'], { ...files, certificateFile: missing }) },
  })
  t.equal(exitCode, 2)
  t.ok(stderr.includes(`TLS of s3.bind: ${files.keyFile}: the key is not that of the first certificate in`))
  t.ok(stderr.includes(`TLS of api.bind: ${missing}: the file cannot be read: ENOENT`), 'all of it at once')
  t.notOk(existsSync(dataDirectory))
  const half = await run(['server'], { environment: { ...settings, OBJECT_STORE_S3_TLS_KEY_FILE: '' } })
  t.equal(half.exitCode, 2)
  t.match(half.stderr, /s3\.tls_certificate_file and s3\.tls_key_file: TLS needs both, and s3\.tls_key_file is not set/)
})

test('status asks a listener that speaks TLS', async (t) => {
  const files = filesIn(t.testdir(), first)
  const tls = tlsOf(['API'], files)
  const server = await startProcess({ environment: tls })
  t.teardown(() => server.stop())
  const argv = ['status', '--api-bind', server.apiEndpoint.slice('https://'.length)]
  t.match(await run(argv, { environment: tls }), { exitCode: 0, stdout: `${server.apiEndpoint}/ready: ready\n` })
  t.match(await run([...argv, '--ca-file', files.certificateFile]), { exitCode: 0, stdout: /: ready\n$/ })
  t.equal((await run(argv)).exitCode, 10, 'plain HTTP is not answered')

  install(files, second)
  const renewed = await run(argv, { environment: tls })
  t.match(renewed, {
    exitCode: 10,
    stderr: /cannot be reached: .+; has the server had a SIGHUP since it was renewed\?\n$/,
  })
  const stranger = await run([...argv, '--ca-file', files.certificateFile])
  t.match(stranger, { exitCode: 10, stderr: /cannot be reached: .+certificate\b/ })
  await hangUp(server, 'serving a certificate', 1)
  t.equal((await run(argv, { environment: tls })).exitCode, 0)

  rmSync(files.certificateFile)
  t.match(await run(argv, { environment: tls }), { exitCode: 2, stderr: /no certificate can be read from it: ENOENT/ })
  const empty = await run([...argv, '--ca-file', files.keyFile])
  t.match(empty, { exitCode: 2, stderr: /key\.pem: no certificate can be read from it/ })
})
