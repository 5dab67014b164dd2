/** rclone, with the settings that README.md names. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const server = await startProcess()
const place = temporaryDirectory()
const [program] = await programs('rclone', ['version'])
const CONFIGURATION = `[store]
type = s3
provider = Other
endpoint = ${server.endpoint}
access_key_id = ${server.accessKey}
secret_access_key = ${server.secretKey}
force_path_style = true
list_version = 2
upload_cutoff = 5G
`

function rclone(...words: string[]) {
  const environment = { RCLONE_CONFIG: join(place, 'rclone.conf') }
  return run(program?.path ?? '', ['--retries', '1', ...words], { environment, directory: place })
}

async function succeeds(t: Test, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await rclone(...words)
  t.equal(code, 0, words.join(' '), { stderr })
  return String(stdout)
}

writeFileSync(join(place, 'rclone.conf'), CONFIGURATION)

test('a tree both ways', async (t) => {
  const tree = oddTree(200)
  writeTree(join(place, 'tree'), tree)
  await succeeds(t, 'mkdir', 'store:trees')
  t.match(await succeeds(t, 'lsd', 'store:'), 'trees')
  await succeeds(t, 'copy', 'tree', 'store:trees/tree')
  await succeeds(t, 'check', 'tree', 'store:trees/tree')
  await succeeds(t, 'sync', 'store:trees/tree', 'back')
  t.same(digestsOf(join(place, 'back')), digestsOfTree(tree))
  rmSync(join(place, 'back', 'plain.txt'))
  await succeeds(t, 'sync', 'back', 'store:trees/tree')
  t.equal((await succeeds(t, 'lsf', '-R', '--files-only', 'store:trees/tree')).includes('\nplain.txt\n'), false)
  await succeeds(t, 'purge', 'store:trees/tree')
  t.equal(await succeeds(t, 'lsf', '-R', 'store:trees'), '')
  await succeeds(t, 'rmdir', 'store:trees')
})

test('a large file, moved and read', async (t) => {
  const bytes = sampleBytes(20_000_000)
  writeFileSync(join(place, 'large'), bytes)
  utimesSync(join(place, 'large'), new Date(), new Date('2001-02-03T04:05:06Z'))
  await succeeds(t, 'mkdir', 'store:large')
  await succeeds(t, 'copyto', 'large', 'store:large/one')
  await succeeds(t, 'moveto', 'store:large/one', 'store:large/two')
  const { code, stdout } = await rclone('cat', 'store:large/two')
  t.equal(code, 0)
  t.ok(stdout.equals(bytes))
  t.match(await succeeds(t, 'ls', 'store:large'), /^ *20000000 two$/m)
  t.match(await succeeds(t, 'lsl', 'store:large/two'), '2001-02-03', 'the time of the file came with it')
})

test('what is refused is refused by name', async (t) => {
  const parts = await rclone('--s3-upload-cutoff', '5M', 'copyto', 'large', 'store:large/parts')
  t.not(parts.code, 0)
  t.match(parts.stderr, 'CreateMultipartUpload is not supported')
  const acl = await rclone('--s3-acl', 'public-read', 'copyto', 'rclone.conf', 'store:large/open')
  t.not(acl.code, 0)
  t.match(acl.stderr, 'ACLs are not supported')
  const listing = await rclone('--s3-list-version', '1', 'lsf', 'store:large')
  t.not(listing.code, 0)
  t.match(listing.stderr, 'ListObjects is not supported')
})

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
