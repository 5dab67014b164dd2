/** The commands that talk to a server, when what answers breaks off, is something else, or has another certificate. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { run } from './command-runner.ts'

async function addressOf(listener: Server): Promise<string> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`
}

test('a download that breaks off leaves what was there', async (t) => {
  const directory = t.testdir({ kept: 'what was there' })
  const listener = createServer((_, response) => {
    response.setHeader('content-length', 100)
    response.write('half', () => response.destroy())
  })
  t.teardown(() => listener.close())
  const url = `http://${await addressOf(listener)}`
  for (const name of ['kept', 'new']) {
    const outcome = await run(['object', 'get', 'b', 'k', join(directory, name), '--url', url])
    t.match(outcome, { exitCode: 1, stderr: /was not written/ })
  }
  t.same(readdirSync(directory), ['kept'])
  t.equal(readFileSync(join(directory, 'kept'), 'utf8'), 'what was there')
  for (const command of ['get', 'show']) {
    t.match(await run(['object', command, 'b', 'k', '--url', url]), { exitCode: 1, stderr: /broke off/ }, command)
  }
})

test('what answers may be no Object Store', async (t) => {
  const answers = ['<html>', '{"error":{"message":"\\u001b[2J","code":"X","request_id":"r"}}']
  const listener = createServer((request, response) => {
    response.statusCode = request.url?.includes('/buckets/') === true ? 500 : 200
    response.end(answers[response.statusCode === 500 ? 1 : 0])
  })
  t.teardown(() => listener.close())
  const url = `http://${await addressOf(listener)}`
  t.match(await run(['session', '--url', url]), { exitCode: 1, stderr: /did not answer with JSON/ })
  t.match(await run(['bucket', 'show', 'b', '--url', url]), { exitCode: 1, stderr: /\\u\{1b\}\[2J \(X, request r\)/ })
})

test('TLS: the certificate of the file is believed, and no other', async (t) => {
  const { certificate, key } = selfSignedCertificate()
  const directory = t.testdir({ 'own.pem': certificate, 'other.pem': selfSignedCertificate().certificate })
  const listener = createTlsServer({ cert: certificate, key }, (_, response) => response.end('{"role":"auditor"}'))
  t.teardown(() => listener.close())
  const url = `https://${await addressOf(listener)}`
  const ask = (command: string, ...words: string[]) =>
    run([command, '--url', url, ...words], { workingDirectory: directory })
  t.match(await ask('session', '--ca-file', 'own.pem'), { exitCode: 0 })
  for (const command of ['session', 'status']) {
    const other = await ask(command, '--ca-file', 'other.pem')
    t.match(other, { exitCode: 10, stderr: /cannot be reached: .+; no certificate of --ca-file vouches for it\n$/ })
    const bare = await ask(command)
    t.match(bare, {
      exitCode: 10,
      stderr: /; give the certificate of its issuer with --ca-file, or ca_file in a profile\n$/,
    })
    const plain = await run([command, '--url', url.replace('https:', 'http:')])
    t.match(
      plain,
      { exitCode: 10, stderr: /; if the server speaks TLS, the address begins with https:\/\/\n$/ },
      command,
    )
  }
})

test('https:// to a server that speaks plain HTTP', async (t) => {
  const listener = createServer((_, response) => response.end())
  t.teardown(() => listener.close())
  const url = `https://${await addressOf(listener)}`
  for (const command of ['session', 'status']) {
    const outcome = await run([command, '--url', url])
    t.match(outcome, {
      exitCode: 10,
      stderr: /; if the server speaks plain HTTP, the address begins with http:\/\/\n$/,
    })
  }
})
