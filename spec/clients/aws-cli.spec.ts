/** The AWS command line, every version that is installed, against a server process. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, COPY_SETTINGS, refuses, succeeds, tells } from './aws-command.ts'
import { largeFiles, treeBothWays } from './aws-round-trips.ts'
import { programs, run } from './client-programs.ts'
import { oddTree } from './file-tree.ts'

const server = await startProcess()
const place = temporaryDirectory()
const MEBIBYTE = 1024 ** 2

const tree = oddTree(200)
const large = sampleBytes(100 * MEBIBYTE)
// Sent in parts by default, unlike everything else in the tree.
tree.set('a/large', sampleBytes(20 * MEBIBYTE + 1))

for (const [index, program] of (await programs('aws', ['--version'])).entries()) {
  const bucket = `aws-${index}`
  const aws = awsCommand(program, server, place)
  const head = async (key: string) =>
    JSON.parse(String((await aws('s3api', 'head-object', '--bucket', bucket, '--key', key)).stdout))

  test(`${program.version}: large files`, async (t) => {
    await succeeds(t, aws('s3', 'mb', `s3://${bucket}`), 'mb')
    t.match(await succeeds(t, aws('s3', 'ls'), 'ls of buckets'), bucket)
    const whole = awsCommand(program, server, place, { settings: COPY_SETTINGS })
    const piped = awsCommand(program, server, place, { input: large })
    await largeFiles(t, { aws, copying: whole, piped }, large, bucket, place)
  })

  test(`${program.version}: a tree both ways`, async (t) => {
    await treeBothWays(t, aws, tree, bucket, place)
  })

  test(`${program.version}: single requests`, async (t) => {
    const object = ['--bucket', bucket, '--key', 'large']
    const range = ['--range', 'bytes=65530-65545', 'part']
    const part = await tells(t, aws('s3api', 'get-object', ...object, ...range), 'range')
    t.match(part, { ContentRange: `bytes 65530-65545/${large.length}` })
    t.same(readFileSync(join(place, 'part')), large.subarray(65_530, 65_546))
    t.match(await head('large'), { ContentLength: large.length, ContentType: 'binary/octet-stream', Metadata: {} })
    const named = ['s3api', 'put-object', '--bucket', bucket, '--key', 'named', '--body', 'part']
    const described = ['--content-type', 'text/x-odd', '--metadata', 'one=1,two=2', '--cache-control', 'no-store']
    await succeeds(t, aws(...named, ...described), 'put with metadata')
    t.match(await head('named'), {
      ContentType: 'text/x-odd',
      CacheControl: 'no-store',
      Metadata: { one: '1', two: '2' },
    })
    const replaced = ['--copy-source', `${bucket}/named`, '--metadata-directive', 'REPLACE', '--metadata', 'three=3']
    await succeeds(t, aws('s3api', 'copy-object', '--bucket', bucket, '--key', 'replaced', ...replaced), 'copy')
    const listing = ['s3api', 'list-objects-v2', '--bucket', bucket, '--query', 'Contents[].Key']
    t.same(await tells(t, aws(...listing, '--page-size', '1'), 'pages of one'), ['large', 'moved', 'named', 'replaced'])
    const url = (
      await succeeds(t, aws('s3', 'presign', `s3://${bucket}/named`, '--expires-in', '60'), 'presign')
    ).trim()
    const fetched = await run('curl', ['--silent', '--fail', url])
    t.same([fetched.code, fetched.stdout], [0, large.subarray(65_530, 65_546)])
  })

  test(`${program.version}: an upload by hand`, async (t) => {
    const object = ['--bucket', bucket, '--key', 'by-hand']
    const described = ['--content-type', 'text/x-parts', '--metadata', 'one=1']
    const begun = await tells(t, aws('s3api', 'create-multipart-upload', ...object, ...described), 'create')
    const { UploadId } = begun as { UploadId: string }
    const upload = [...object, '--upload-id', UploadId]
    const etags: string[] = []
    for (const [part, size] of [5 * MEBIBYTE, 1000].entries()) {
      writeFileSync(join(place, 'part'), large.subarray(part, part + size))
      const words = ['upload-part', ...upload, '--part-number', String(part + 1), '--body', 'part']
      const sent = await tells(t, aws('s3api', ...words), `part ${part + 1}`)
      etags.push((sent as { ETag: string }).ETag)
    }
    const parts = await tells(t, aws('s3api', 'list-parts', ...upload, '--page-size', '1'), 'list parts')
    t.match(parts, {
      Parts: [
        { PartNumber: 1, Size: 5 * MEBIBYTE },
        { PartNumber: 2, Size: 1000, ETag: etags[1] },
      ],
    })
    const uploads = await tells(t, aws('s3api', 'list-multipart-uploads', '--bucket', bucket), 'list uploads')
    t.match(uploads, { Uploads: [{ Key: 'by-hand', UploadId }] })
    const Parts = etags.map((ETag, part) => ({ ETag, PartNumber: part + 1 }))
    const list = ['--multipart-upload', JSON.stringify({ Parts })]
    const done = await tells(t, aws('s3api', 'complete-multipart-upload', ...upload, ...list), 'complete')
    t.match(done, { Location: `${server.endpoint}/${bucket}/by-hand`, ETag: /-2"$/ })
    const second = ['--part-number', '2', 'part-back']
    t.match(await tells(t, aws('s3api', 'get-object', ...object, ...second), 'get a part'), { PartsCount: 2 })
    t.same(readFileSync(join(place, 'part-back')), large.subarray(1, 1001))
    t.match(await head('by-hand'), { ContentType: 'text/x-parts', Metadata: { one: '1' } })
    const other = await tells(t, aws('s3api', 'create-multipart-upload', ...object), 'another')
    const { UploadId: givenUp } = other as { UploadId: string }
    await succeeds(t, aws('s3api', 'abort-multipart-upload', ...object, '--upload-id', givenUp), 'abort')
    const late = ['--upload-id', givenUp, '--part-number', '1', '--body', 'part']
    await refuses(t, aws('s3api', 'upload-part', ...object, ...late), 'NoSuchUpload')
  })

  test(`${program.version}: what is refused is refused by name`, async (t) => {
    const unsupported = 'NotImplemented'
    const copy = ['upload-part-copy', '--bucket', bucket, '--key', 'k', '--copy-source', `${bucket}/large`]
    const part = ['--part-number', '1', '--upload-id', 'u']
    await refuses(t, aws('s3api', ...copy, ...part), unsupported, 'UploadPartCopy is not supported')
    // A copy of many parts begins with a look at the tags.
    const copyOfParts = aws('s3', 'cp', '--no-progress', `s3://${bucket}/large`, `s3://${bucket}/copy`)
    await refuses(t, copyOfParts, unsupported)
    const listing = aws('s3api', 'list-objects', '--bucket', bucket)
    await refuses(t, listing, unsupported, 'ListObjects is not supported')
    const batch = aws('s3api', 'delete-objects', '--bucket', bucket, '--delete', 'Objects=[{Key=large}]')
    await refuses(t, batch, unsupported, 'DeleteObjects is not supported')
    const open = ['s3api', 'put-object', '--bucket', bucket, '--key', 'open', '--acl', 'public-read']
    await refuses(t, aws(...open), unsupported, 'ACLs are not supported')
    await succeeds(t, aws('s3', 'rb', '--force', `s3://${bucket}`), 'rb --force')
  })
}

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
