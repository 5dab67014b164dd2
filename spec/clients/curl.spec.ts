/** curl, which signs by itself and leaves everything else to the user. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { run } from './client-programs.ts'

const server = await startProcess()
const place = temporaryDirectory()
const SIGNING = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD']

/** Prints the status behind the body. */
function curl(path: string, ...words: string[]) {
  const user = ['--user', `${server.accessKey}:${server.secretKey}`]
  const asked = ['--silent', '--show-error', '--path-as-is', '--write-out', ' %{http_code}', server.endpoint + path]
  return run('curl', [...SIGNING, ...user, ...words, ...asked], { directory: place })
}

async function answer(path: string, ...words: string[]): Promise<string> {
  const { stdout, stderr } = await curl(path, ...words)
  return String(stdout) + stderr
}

test('a bucket and an object, from the first request to the last', async (t) => {
  const bytes = sampleBytes(3_000_000)
  writeFileSync(join(place, 'up'), bytes)
  t.equal(await answer('/curl', '--request', 'PUT'), ' 200')
  t.equal(await answer('/curl/a/up', '--upload-file', 'up'), ' 200', 'with Expect: 100-continue')
  t.equal(await answer('/curl/a/up', '--output', 'down'), ' 200')
  t.same(readFileSync(join(place, 'down')), bytes)
  t.equal(await answer('/curl/a/up', '--range', '10-19', '--output', 'part'), ' 206')
  t.same(readFileSync(join(place, 'part')), bytes.subarray(10, 20))
  t.match(await answer('/curl/a/up', '--head'), /content-length: 3000000\r\n[^]* 200$/i)
  t.match(await answer('/curl?list-type=2&prefix=a%2F'), /<Key>a\/up<\/Key>[^]* 200$/)
  t.equal(await answer('/curl/a/up', '--request', 'DELETE'), ' 204')
  t.match(await answer('/curl/a/up'), /<Code>NoSuchKey<\/Code>[^]* 404$/)
  t.equal(await answer('/curl', '--request', 'DELETE'), ' 204')
})

test('what is refused says why', async (t) => {
  const bare = await run('curl', ['--silent', `${server.endpoint}/curl?list-type=2`])
  t.match(String(bare.stdout), '<Code>AccessDenied</Code>')
  const sigv4 = SIGNING.slice(0, 2)
  const account = ['--user', `${server.accessKey}:${server.secretKey}`]
  const silent = await run('curl', ['--silent', ...sigv4, ...account, `${server.endpoint}/curl`])
  t.match(String(silent.stdout), 'Missing required header for this request: x-amz-content-sha256')
  const user = `${server.accessKey}:wrong`
  const wrong = await run('curl', ['--silent', ...SIGNING, '--user', user, `${server.endpoint}/curl`])
  t.match(String(wrong.stdout), '<Code>SignatureDoesNotMatch</Code>')
})

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
