/** Clients over TLS, with a certificate that nobody else has signed: restic, which has no other way by default, and others. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, refuses, succeeds } from './aws-command.ts'
import { programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'
import { resticRoundTrips } from './restic-round-trips.ts'

const place = temporaryDirectory()
const certificate = join(place, 'certificate.pem')
const made = selfSignedCertificate({ name: 'localhost' })
writeFileSync(certificate, made.certificate)
writeFileSync(join(place, 'key.pem'), made.key)
const server = await startProcess({
  environment: {
    OBJECT_STORE_S3_TLS_CERTIFICATE_FILE: certificate,
    OBJECT_STORE_S3_TLS_KEY_FILE: join(place, 'key.pem'),
  },
})
const endpoint = `https://127.0.0.1:${server.port}`
const { accessKey, secretKey } = server
const tree = oddTree(150)
// In parts by those who send parts.
tree.set('deep/er/large', sampleBytes(40 * 1024 ** 2))
writeTree(join(place, 'tree'), tree)

test('restic: backup, restore, check', async (t) => {
  await resticRoundTrips(t, { endpoint, accessKey, secretKey, authority: certificate }, place)
})

for (const [index, program] of (await programs('aws', ['--version'])).entries()) {
  test(`${program.version} over TLS`, async (t) => {
    const checksums = { AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required' }
    const environment = { AWS_CA_BUNDLE: certificate }
    const aws = awsCommand(program, server, place, { endpoint, environment: { ...environment, ...checksums } })
    const there = `s3://tls-${index}`
    await succeeds(t, aws('s3', 'mb', there), 'mb')
    await succeeds(t, aws('s3', 'sync', '--no-progress', 'tree', there), 'sync up')
    await succeeds(t, aws('s3', 'sync', '--no-progress', there, `back-${index}`), 'sync down')
    t.same(digestsOf(join(place, `back-${index}`)), digestsOfTree(tree))
    const standard = awsCommand(program, server, place, { endpoint, environment })
    const put = standard('s3api', 'put-object', '--bucket', `tls-${index}`, '--key', 'k', '--body', 'certificate.pem')
    // Versions from 2.23 and 1.37 on send a checksum behind the body unless they are told not to.
    if (/^aws-cli\/(2\.[0-9]\.|2\.1[0-9]\.|1\.[0-2]|1\.3[0-6]\.)/.test(program.version)) await succeeds(t, put, 'put')
    else await refuses(t, put, 'NotImplemented')
  })
}

test('rclone and curl over TLS', async (t) => {
  const settings = [
    ['TYPE', 's3'],
    ['PROVIDER', 'Other'],
    ['ENDPOINT', endpoint],
    ['ACCESS_KEY_ID', server.accessKey],
    ['SECRET_ACCESS_KEY', server.secretKey],
    ['LIST_VERSION', '2'],
  ].map(([name, value]) => [`RCLONE_CONFIG_STORE_${name}`, value ?? ''])
  const environment = { ...Object.fromEntries(settings), RCLONE_CA_CERT: certificate, RCLONE_CONFIG: '' }
  const [program] = await programs('rclone', ['version'])
  const rclone = (...words: string[]) => run(program?.path ?? '', words, { environment, directory: place })
  await succeeds(t, rclone('mkdir', 'store:tls'), 'mkdir')
  await succeeds(t, rclone('sync', 'tree', 'store:tls/tree'), 'sync up')
  await succeeds(t, rclone('sync', 'store:tls/tree', 'back-rclone'), 'sync down')
  t.same(digestsOf(join(place, 'back-rclone')), digestsOfTree(tree))
  const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${accessKey}:${secretKey}`]
  const unsigned = ['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD']
  const curl = (...words: string[]) =>
    run('curl', ['--silent', '--fail', '--cacert', certificate, ...signing, ...unsigned, ...words], {
      directory: place,
    })
  await succeeds(t, curl('--upload-file', 'certificate.pem', `${endpoint}/tls/by-curl`), 'put')
  const stranger = await run('curl', ['--silent', endpoint])
  t.equal(stranger.code, 60, 'a client that does not know who signed the certificate')
  const got = await curl(`${endpoint}/tls/by-curl`)
  t.same([got.code, got.stdout], [0, readFileSync(certificate)])
})

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
