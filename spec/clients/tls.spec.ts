/** Clients over TLS, with a certificate that nobody else has signed: restic, which works in no other way, and others. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, refuses, succeeds } from './aws-command.ts'
import { type Outcome, programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

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
const MEBIBYTE = 1024 ** 2
const tree = oddTree(150)
// Large enough to be cut into many blobs, and sent in parts by those who do.
tree.set('deep/er/large', Buffer.concat([sampleBytes(20 * MEBIBYTE), randomBytes(20 * MEBIBYTE)]))
writeTree(join(place, 'tree'), tree)

function restic(...words: string[]): Promise<Outcome> {
  const environment = {
    RESTIC_REPOSITORY: `s3:${endpoint}/restic/repository`,
    RESTIC_PASSWORD: 'the password of the repository',
    AWS_ACCESS_KEY_ID: server.accessKey,
    AWS_SECRET_ACCESS_KEY: server.secretKey,
  }
  return run(restics[0]?.path ?? '', ['--cacert', certificate, '-o', 's3.region=us-east-1', ...words], {
    environment,
    directory: place,
  })
}

const restics = await programs('restic', ['version'])

/** What a snapshot holds, restored into a directory of its own. */
async function restored(t: Test, snapshot: string): Promise<[path: string, digest: string][]> {
  const target = join(place, `restored-${snapshot}`)
  await succeeds(t, restic('restore', snapshot, '--target', target), `restore ${snapshot}`)
  return digestsOf(join(target, 'tree'))
}

test('restic: backup, restore, check', async (t) => {
  await succeeds(t, restic('init'), 'init, which makes the bucket')
  await succeeds(t, restic('backup', 'tree'), 'backup')
  const first = digestsOfTree(tree)
  tree.set('new file', sampleBytes(3 * MEBIBYTE, 9))
  tree.delete('plain.txt')
  writeTree(join(place, 'tree'), tree)
  rmSync(join(place, 'tree', 'plain.txt'))
  await succeeds(t, restic('backup', 'tree'), 'backup of the changes')
  const listed = JSON.parse(await succeeds(t, restic('snapshots', '--json'), 'snapshots')) as { short_id: string }[]
  const [older = '', newer = ''] = listed.map((snapshot) => snapshot.short_id)
  t.same(await restored(t, older), first)
  t.same(await restored(t, newer), digestsOfTree(tree))
  t.match(await succeeds(t, restic('check', '--read-data'), 'check of all data'), 'no errors were found')
  await succeeds(t, restic('forget', '--prune', older), 'forget and prune')
  t.match(await succeeds(t, restic('check', '--read-data'), 'check of what is left'), 'no errors were found')
  rmSync(join(place, `restored-${newer}`), { recursive: true })
  t.same(await restored(t, newer), digestsOfTree(tree))
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
  const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${server.accessKey}:${server.secretKey}`]
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
