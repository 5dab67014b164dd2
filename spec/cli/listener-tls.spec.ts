import { microsecondsOf } from '../../engine/brands.ts'
import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { logCertificate } from '../../cli/server/tls/certificate-reload.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { ListenerTls } from '../../cli/server/tls/listener-tls.ts'
import type { Logger } from '../../cli/server/log/logger.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { filesIn, install } from '../planes/tls-client.ts'
import { run } from './command-runner.ts'

test('the URL of a listener has a name that its certificate has', async (t) => {
  const files = filesIn(t.testdir(), selfSignedCertificate({ name: 'store.example' }))
  const flags = { 's3.tls_certificate_file': files.certificateFile, 's3.tls_key_file': files.keyFile }
  const tls = new ListenerTls(readConfig({ workingDirectory: '/', flags }).config)
  t.equal(tls.url('s3', { host: '127.0.0.1', port: 1 }), 'https://127.0.0.1:1')
  t.equal(tls.url('s3', { host: '0.0.0.0', port: 1 }), 'https://127.0.0.1:1', 'where a client on this machine finds it')
  t.equal(tls.url('s3', { host: 'store.example', port: 2 }), 'https://store.example:2')
  t.equal(tls.url('s3', { host: '::', port: 3 }), 'https://store.example:3', 'the address is not in the certificate')
  t.equal(tls.url('s3', { host: 'localhost', port: 4 }), 'https://store.example:4')
  t.equal(tls.url('api', { host: '::', port: 5 }), 'http://[::1]:5')
  t.equal(tls.isSelfSigned('s3'), true)
  t.equal(tls.isSelfSigned('api'), false)
  t.strictSame(tls.files('s3'), files)
  t.equal(tls.files('api'), undefined)
  install(files, selfSignedCertificate({ name: '*.example' }))
  const wild = new ListenerTls(readConfig({ workingDirectory: '/', flags }).config)
  t.equal(wild.url('s3', { host: '::1', port: 6 }), 'https://[::1]:6', 'a name with a star is nobody')
  t.equal(wild.url('s3', { host: 'a.example', port: 7 }), 'https://a.example:7')
})

test('a certificate outside of its dates is warned of', async (t) => {
  const certificate = new X509Certificate(selfSignedCertificate({ until: '20300102030405' }).certificate)
  const warnings = (time: string): string[] => {
    const messages: string[] = []
    const log = { info: () => {}, warn: (_fields: unknown, message: string) => messages.push(message) }
    logCertificate(log as unknown as Logger, 's3', certificate, () => microsecondsOf(Date.parse(time) * 1000))
    return messages
  }
  t.strictSame(warnings('2019-12-31T23:59:59Z'), ['the certificate is not valid yet'])
  t.strictSame(warnings('2020-01-01T00:00:00Z'), [])
  t.strictSame(warnings('2029-12-19T03:04:05Z'), [], 'two weeks are left')
  t.strictSame(warnings('2029-12-19T03:04:06Z'), ['the certificate expires soon'])
  t.strictSame(warnings('2030-01-02T03:04:05Z'), ['the certificate expires soon'])
  t.strictSame(warnings('2030-01-02T03:04:06Z'), ['the certificate has expired'])
})

test('status believes a certificate for the same names as the one in the file, and no other', async (t) => {
  const answers = async (name: string): Promise<string> => {
    const { certificate, key } = selfSignedCertificate({ name })
    const server = createServer({ cert: certificate, key }, (_request, response) => response.end('{"status":"ready"}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    // The file vouches for what the server shows, and its first certificate is for `store.example`.
    const own = selfSignedCertificate({ name: 'store.example' })
    const files = filesIn(directory, { certificate: own.certificate + certificate, key: own.key })
    const settings = [`api.tls_certificate_file=${files.certificateFile}`, `api.tls_key_file=${files.keyFile}`]
    const bind = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { exitCode, stderr } = await run(['status', '--api-bind', bind, ...settings.flatMap((one) => ['--set', one])])
    return `${exitCode} ${stderr}`
  }
  const directory = t.testdir()
  t.equal(await answers('store.example'), '0 ')
  t.match(await answers('else.example'), /^10 .+its certificate is for other names than the one in .+certificate\.pem/)
})
