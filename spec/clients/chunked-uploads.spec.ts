/** Programs that send bodies in chunks by default, unmodified, against servers with the extension aws-chunked. */
import { createReadStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { succeeds } from './aws-command.ts'
import { startBoth, type Target } from './both-servers.ts'
import { type Outcome, programs, run } from './client-programs.ts'
import { clientTools, SOURCES } from './client-tools.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

/** Over plain HTTP the SDK for JavaScript and pyarrow send unsigned chunks. */
const both = await startBoth({
  OBJECT_STORE_S3_EXTENSIONS: 'aws-chunked',
  OBJECT_STORE_S3_UNSIGNED_CHUNKS_OVER_HTTP: 'true',
})
const tools = await clientTools()
const place = temporaryDirectory()
const tree = oddTree(20)
tree.set('deep/er/large', sampleBytes(20_000_000))
writeTree(join(place, 'tree'), tree)

function keysOf({ accessKey, secretKey, authority }: Target): Record<string, string> {
  const trusted = authority === undefined ? {} : { AWS_CA_BUNDLE: authority, SSL_CERT_FILE: authority }
  return { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey, AWS_DEFAULT_REGION: 'us-east-1', ...trusted }
}

/** A test against each of the servers, with a bucket of its own. */
function overBoth(name: string, body: (t: Test, target: Target, bucket: string) => Promise<void>): void {
  for (const target of both.targets) {
    test(`${name} over ${target.name}`, async (t) => {
      const bucket = name.replaceAll(/[^a-z0-9]+/g, '-')
      await target.makeBucket(bucket)
      await body(t, target, bucket)
    })
  }
}

interface Check {
  readonly name: string
  readonly got: unknown
  readonly expected: unknown
}

overBoth('boto3, pyarrow, s3fs', async (t, target, bucket) => {
  const { endpoint, accessKey, secretKey, authority = '' } = target
  const words = [join(SOURCES, 'chunked_uploads.py'), endpoint, accessKey, secretKey, bucket, authority]
  const { stdout, stderr } = await tools.run('python', words, { environment: keysOf(target) })
  const lines = String(stdout)
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const checks = lines.map((line) => JSON.parse(line) as Check)
  for (const { name, got, expected } of checks) t.same(got, expected, name)
  t.equal(checks.at(-1)?.name, 'end', 'it came to its end', { stderr })
})

overBoth('javascript', async (t, target, Bucket) => {
  const ca = target.authority === undefined ? undefined : readFileSync(target.authority)
  const s3 = new S3Client({
    endpoint: target.endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: target.accessKey, secretAccessKey: target.secretKey },
    ...(ca && { requestHandler: { httpsAgent: new Agent({ ca }) } }),
  })
  t.teardown(() => s3.destroy())
  const file = join(place, `stream-${target.name}`)
  for (const size of [0, 1000, 100_000, 5_000_000]) {
    const bytes = sampleBytes(size, size)
    writeFileSync(file, bytes)
    const Key = `stream-${size}`
    const stored = await s3.send(
      new PutObjectCommand({ Bucket, Key, Body: createReadStream(file), ContentLength: size }),
    )
    t.ok(stored.ChecksumCRC32, `${size} bytes: with a checksum`)
    const got = await s3.send(new GetObjectCommand({ Bucket, Key }))
    t.ok(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(bytes), `${size} bytes come back`)
    t.equal(got.ContentEncoding, undefined)
  }
  const small = Readable.from([sampleBytes(100), sampleBytes(9000)])
  const refused = s3.send(new PutObjectCommand({ Bucket, Key: 'small', Body: small, ContentLength: 9100 }))
  await t.rejects(refused, { name: 'InvalidChunkSizeError' }, 'as on S3, which wants chunks of 8 KiB')
})

overBoth('aws', async (t, target, bucket) => {
  for (const { path, version } of await programs('aws', ['--version'])) {
    const aws = (...words: string[]): Promise<Outcome> =>
      run(path, ['--endpoint-url', target.endpoint, ...words], { environment: keysOf(target), directory: place })
    const back = `back-aws-${target.name}`
    await succeeds(t, aws('s3', 'cp', '--recursive', 'tree', `s3://${bucket}/tree`), `${version} up`)
    await succeeds(t, aws('s3', 'cp', '--recursive', `s3://${bucket}/tree`, back), `${version} down`)
    t.same(digestsOf(join(place, back)), digestsOfTree(tree))
    rmSync(join(place, back), { recursive: true })
  }
})

overBoth('rclone', async (t, target, bucket) => {
  const own = await programs('rclone', ['version'])
  for (const path of [tools.path('rclone'), ...own.map((program) => program.path)]) {
    const environment = {
      RCLONE_CONFIG: '',
      RCLONE_CONFIG_STORE_TYPE: 's3',
      RCLONE_CONFIG_STORE_PROVIDER: 'Other',
      RCLONE_CONFIG_STORE_ENDPOINT: target.endpoint,
      RCLONE_CONFIG_STORE_ACCESS_KEY_ID: target.accessKey,
      RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY: target.secretKey,
      RCLONE_CONFIG_STORE_LIST_VERSION: '2',
      ...(target.authority !== undefined && { RCLONE_CA_CERT: target.authority }),
    }
    const rclone = (...words: string[]): Promise<Outcome> =>
      run(path, ['--retries', '1', ...words], { environment, directory: place })
    await succeeds(t, rclone('sync', 'tree', `store:${bucket}/tree`), 'up')
    await succeeds(t, rclone('check', '--download', 'tree', `store:${bucket}/tree`), 'check')
    await succeeds(t, rclone('purge', `store:${bucket}/tree`), 'purge')
  }
})

overBoth('restic', async (t, target, bucket) => {
  const [program] = await programs('restic', ['version'])
  const environment = { ...keysOf(target), RESTIC_PASSWORD: 'a password of this spec' }
  const trusted = target.authority === undefined ? [] : ['--cacert', target.authority]
  const repository = ['-o', 's3.region=us-east-1', '-r', `s3:${target.endpoint}/${bucket}`]
  const directory = join(place, `restic-${target.name}`)
  mkdirSync(directory)
  const restic = (...words: string[]): Promise<Outcome> =>
    run(program?.path ?? '', [...trusted, ...repository, '--no-cache', ...words], { environment, directory: place })
  await succeeds(t, restic('init'), 'init')
  await succeeds(t, restic('backup', 'tree'), 'backup')
  await succeeds(t, restic('check', '--read-data'), 'check')
  await succeeds(t, restic('restore', 'latest', '--target', directory), 'restore')
  t.same(digestsOf(join(directory, 'tree')), digestsOfTree(tree))
})

test('end', async () => {
  await both.stop()
  rmSync(place, { recursive: true })
})
