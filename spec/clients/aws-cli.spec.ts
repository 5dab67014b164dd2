/** The AWS command line, every version that is installed, against a server process. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { type Outcome, type Program, programs, run } from './client-programs.ts'
import { digestOf, digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const server = await startProcess()
const place = temporaryDirectory()
const CONFIGURATION = { default: '', whole: '  multipart_threshold = 5GB\n' } as const
const MEBIBYTE = 1024 ** 2

/** The command with the settings that README.md names; `default` leaves the multipart threshold where it is. */
function awsOf(program: Program, settings: keyof typeof CONFIGURATION) {
  const configuration = join(place, `config-${settings}`)
  writeFileSync(
    configuration,
    `[default]\nregion = us-east-1\ns3 =\n  addressing_style = path\n  signature_version = s3v4\n${CONFIGURATION[settings]}`,
  )
  const environment = {
    AWS_CONFIG_FILE: configuration,
    AWS_SHARED_CREDENTIALS_FILE: join(place, 'none'),
    AWS_ACCESS_KEY_ID: server.accessKey,
    AWS_SECRET_ACCESS_KEY: server.secretKey,
    AWS_MAX_ATTEMPTS: '1',
    AWS_PAGER: '',
  }
  return (...words: string[]) =>
    run(program.path, ['--endpoint-url', server.endpoint, ...words], { environment, directory: place })
}

async function succeeds(t: Test, running: Promise<Outcome>, what: string): Promise<string> {
  const { code, stdout, stderr } = await running
  t.equal(code, 0, what, { stderr })
  return String(stdout)
}

async function refuses(t: Test, running: Promise<Outcome>, words: string): Promise<void> {
  const { code, stderr } = await running
  t.not(code, 0)
  t.match(stderr, 'NotImplemented')
  t.match(stderr, words)
}

const tree = oddTree(200)
const large = sampleBytes(64 * MEBIBYTE)
writeTree(join(place, 'tree'), tree)
writeFileSync(join(place, 'large'), large)

for (const [index, program] of (await programs('aws', ['--version'])).entries()) {
  const bucket = `aws-${index}`
  const aws = awsOf(program, 'whole')

  test(`${program.version}: whole files`, async (t) => {
    await succeeds(t, aws('s3', 'mb', `s3://${bucket}`), 'mb')
    t.match(await succeeds(t, aws('s3', 'ls'), 'ls of buckets'), bucket)
    await succeeds(t, aws('s3', 'cp', '--no-progress', 'large', `s3://${bucket}/large`), '64 MiB up')
    await succeeds(t, aws('s3', 'cp', '--no-progress', `s3://${bucket}/large`, 'large-back'), '64 MiB down')
    t.equal(digestOf(readFileSync(join(place, 'large-back'))), digestOf(large))
    await succeeds(t, aws('s3', 'cp', '--no-progress', `s3://${bucket}/large`, `s3://${bucket}/copy`), 'copy')
    await succeeds(t, aws('s3', 'mv', '--no-progress', `s3://${bucket}/copy`, `s3://${bucket}/moved`), 'move')
    const list = await succeeds(t, aws('s3', 'ls', '--recursive', `s3://${bucket}`), 'ls')
    t.same(list.match(/67108864 (large|moved)$/gm), ['67108864 large', '67108864 moved'])
  })

  test(`${program.version}: a tree both ways`, async (t) => {
    const there = `s3://${bucket}/tree`
    await succeeds(t, aws('s3', 'sync', '--no-progress', 'tree', there), 'sync up')
    const back = join(place, `back-${index}`)
    await succeeds(t, aws('s3', 'sync', '--no-progress', there, back), 'sync down')
    t.same(digestsOf(back), digestsOfTree(tree))
    t.equal(await succeeds(t, aws('s3', 'sync', '--no-progress', there, back), 'sync again'), '', 'nothing to do')
    rmSync(join(back, 'plain.txt'))
    const up = await succeeds(t, aws('s3', 'sync', '--no-progress', '--delete', back, there), 'sync --delete')
    t.equal(up.trim(), `delete: ${there}/plain.txt`)
    await succeeds(t, aws('s3', 'rm', '--recursive', there), 'rm --recursive')
    t.equal((await aws('s3', 'ls', there)).code, 1, 'nothing is left')
  })

  test(`${program.version}: single requests`, async (t) => {
    const object = ['--bucket', bucket, '--key', 'large']
    const range = ['--range', 'bytes=65530-65545', 'part']
    const part = JSON.parse(await succeeds(t, aws('s3api', 'get-object', ...object, ...range), 'range'))
    t.equal(part.ContentRange, `bytes 65530-65545/${large.length}`)
    t.same(readFileSync(join(place, 'part')), large.subarray(65_530, 65_546))
    const head = JSON.parse(await succeeds(t, aws('s3api', 'head-object', ...object), 'head'))
    t.match(head, { ContentLength: large.length, ContentType: 'binary/octet-stream', Metadata: {} })
    const named = ['s3api', 'put-object', '--bucket', bucket, '--key', 'named', '--body', 'part']
    const described = ['--content-type', 'text/x-odd', '--metadata', 'one=1,two=2', '--cache-control', 'no-store']
    await succeeds(t, aws(...named, ...described), 'put with metadata')
    const told = JSON.parse(
      await succeeds(t, aws('s3api', 'head-object', '--bucket', bucket, '--key', 'named'), 'head'),
    )
    t.match(told, { ContentType: 'text/x-odd', CacheControl: 'no-store', Metadata: { one: '1', two: '2' } })
    const replaced = ['--copy-source', `${bucket}/named`, '--metadata-directive', 'REPLACE', '--metadata', 'three=3']
    await succeeds(t, aws('s3api', 'copy-object', '--bucket', bucket, '--key', 'replaced', ...replaced), 'copy')
    const listing = ['s3api', 'list-objects-v2', '--bucket', bucket, '--query', 'Contents[].Key']
    const keys = JSON.parse(await succeeds(t, aws(...listing, '--page-size', '1'), 'pages of one'))
    t.same(keys, ['large', 'moved', 'named', 'replaced'])
    const url = (
      await succeeds(t, aws('s3', 'presign', `s3://${bucket}/named`, '--expires-in', '60'), 'presign')
    ).trim()
    const fetched = await run('curl', ['--silent', '--fail', url])
    t.same([fetched.code, fetched.stdout], [0, large.subarray(65_530, 65_546)])
  })

  test(`${program.version}: what is refused is refused by name`, async (t) => {
    const plain = awsOf(program, 'default')
    const cp = plain('s3', 'cp', '--no-progress', 'large', `s3://${bucket}/parts`)
    await refuses(t, cp, 'CreateMultipartUpload is not supported')
    const listing = aws('s3api', 'list-objects', '--bucket', bucket)
    await refuses(t, listing, 'ListObjects is not supported')
    const batch = aws('s3api', 'delete-objects', '--bucket', bucket, '--delete', 'Objects=[{Key=large}]')
    await refuses(t, batch, 'DeleteObjects is not supported')
    const open = ['s3api', 'put-object', '--bucket', bucket, '--key', 'open', '--acl', 'public-read']
    await refuses(t, aws(...open), 'ACLs are not supported')
    await succeeds(t, aws('s3', 'rb', '--force', `s3://${bucket}`), 'rb --force')
  })
}

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
