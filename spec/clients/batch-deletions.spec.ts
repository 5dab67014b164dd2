/** Clients that delete in batches and list with the first version, against a server whose extensions do both. */
import { rmSync } from 'node:fs'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListObjectsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { test } from 'tap'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { awsCommand, refuses, succeeds, tells } from './aws-command.ts'
import { programs, run } from './client-programs.ts'
import { clientTools } from './client-tools.ts'

const server = await startProcess({ environment: { OBJECT_STORE_S3_EXTENSIONS: 'delete-objects,list-objects-v1' } })
const place = temporaryDirectory()
const { s3 } = server
const KEYS = ['plain', 'a/b', ' blanks ', 'ümläut & <tag>', 'line\nend', '%41+']

async function fill(bucket: string): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  for (const Key of KEYS) await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Key }))
}

test('the SDK for JavaScript, with its defaults', async (t) => {
  const Bucket = 'sdk'
  await fill(Bucket)
  const listed = await s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 2 }))
  t.match(listed, { IsTruncated: true, Contents: [{ Key: ' blanks ' }, { Key: '%41+' }] })
  const rest = await s3.send(new ListObjectsCommand({ Bucket, Marker: '%41+', Delimiter: '/' }))
  t.same(rest.CommonPrefixes, [{ Prefix: 'a/' }])
  const Objects = KEYS.map((Key) => ({ Key }))
  const deleted = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  t.same(deleted.Deleted, Objects)
  t.equal(deleted.Errors, undefined)
  t.equal((await s3.send(new ListObjectsCommand({ Bucket }))).Contents, undefined)
  const versioned = { Bucket, VersioningConfiguration: { Status: 'Enabled' as const } }
  await s3.send(new PutBucketVersioningCommand(versioned))
  const hidden = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'k' }] } }))
  t.match(hidden.Deleted, [{ Key: 'k', DeleteMarker: true, DeleteMarkerVersionId: String }])
  const VersionId = hidden.Deleted?.[0]?.DeleteMarkerVersionId
  const Quiet = {
    Objects: [
      { Key: 'k', VersionId },
      { Key: 'k', VersionId: 'not one!' },
    ],
    Quiet: true,
  }
  const quiet = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: Quiet }))
  t.equal(quiet.Deleted, undefined)
  t.match(quiet.Errors, [{ Key: 'k', Code: 'NoSuchVersion', VersionId: 'not one!' }])
})

for (const [index, program] of (await programs('aws', ['--version'])).entries()) {
  test(program.version, async (t) => {
    const bucket = `aws-${index}`
    await fill(bucket)
    const aws = awsCommand(program, server, place)
    const listed = await tells(t, aws('s3api', 'list-objects', '--bucket', bucket, '--page-size', '2'), 'list')
    t.same((listed as { Contents: { Key: string }[] }).Contents.map(({ Key }) => Key).toSorted(), KEYS.toSorted())
    const objects = JSON.stringify({ Objects: KEYS.slice(0, 3).map((Key) => ({ Key })) })
    const words = ['s3api', 'delete-objects', '--bucket', bucket, '--delete', objects]
    const deleted = await tells(t, aws(...words), 'delete')
    t.same(deleted, { Deleted: KEYS.slice(0, 3).map((Key) => ({ Key })) })
    const missing = aws('s3api', 'delete-objects', '--bucket', 'no-such-bucket', '--delete', 'Objects=[{Key=k}]')
    await refuses(t, missing, 'NoSuchBucket')
    await succeeds(t, aws('s3', 'rm', '--recursive', `s3://${bucket}`), 'rm --recursive')
    await succeeds(t, aws('s3', 'rb', `s3://${bucket}`), 'which leaves nothing')
  })
}

const SCRIPT = `
import boto3, json, sys
from botocore.config import Config
endpoint, key, secret, bucket = sys.argv[1:5]
config = Config(s3={"addressing_style": "path"}, signature_version="s3v4")
s3 = boto3.resource("s3", endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=secret,
                    region_name="us-east-1", config=config)
there = s3.Bucket(bucket)
print(json.dumps(sorted(one.key for one in there.objects.all())))
print(json.dumps(sorted(one.key for one in there.objects.filter(Prefix="a/"))))
print(json.dumps(sum(len(page["Deleted"]) for page in there.objects.all().delete())))
print(json.dumps([one.key for one in there.objects.all()]))
there.delete()
`

const tools = await clientTools()
const VERSION = ['-c', 'import boto3; print("boto3", boto3.__version__)']
const pythons = [...(await programs('python3', VERSION)), { path: tools.path('python'), version: 'boto3 of the tools' }]

for (const [index, program] of pythons.entries()) {
  test(program.version, async (t) => {
    const bucket = `boto3-${index}`
    await fill(bucket)
    const { accessKey, secretKey, endpoint } = server
    const { code, stdout, stderr } = await run(program.path, ['-c', SCRIPT, endpoint, accessKey, secretKey, bucket])
    t.equal(code, 0, String(stderr))
    const lines = String(stdout).trim().split('\n')
    t.same(
      lines.map((line) => JSON.parse(line) as unknown),
      [[...KEYS].toSorted(), ['a/b'], KEYS.length, []],
    )
  })
}

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
