/** rclone, with the settings that README.md names. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
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

test('2,000 files both ways', async (t) => {
  const tree = new Map(
    Array.from({ length: 2000 }, (_, index) => {
      const path = `${index % 7}/${index % 50}/file ${index}.txt`
      return [path, sampleBytes((index * 37) % 3000, index)] as const
    }),
  )
  writeTree(join(place, 'many'), tree)
  await succeeds(t, 'mkdir', 'store:many')
  await succeeds(t, '--transfers', '16', '--checkers', '16', 'sync', 'many', 'store:many/tree')
  t.equal((await succeeds(t, 'lsf', '-R', '--files-only', 'store:many/tree')).trim().split('\n').length, 2000)
  await succeeds(t, '--transfers', '16', 'sync', 'store:many/tree', 'many-back')
  t.same(digestsOf(join(place, 'many-back')), digestsOfTree(tree))
  await succeeds(t, '--checkers', '16', 'check', 'many', 'store:many/tree')
  const again = await rclone('--stats-one-line', '-v', 'sync', 'many', 'store:many/tree')
  t.match(again.stderr, /nothing to transfer/i, 'a second time there is nothing to do')
  await succeeds(t, '--checkers', '16', 'delete', 'store:many/tree')
  t.equal(await succeeds(t, 'lsf', '-R', '--files-only', 'store:many'), '')
})

test('files in parts', async (t) => {
  // Over its upload_cutoff of 200 MiB by itself; the smaller one by request.
  const large = sampleBytes(210 * 1024 ** 2 + 1)
  const bytes = large.subarray(0, 60 * 1024 ** 2 + 1)
  writeFileSync(join(place, 'large-parts'), large)
  writeFileSync(join(place, 'parts'), bytes)
  await succeeds(t, 'mkdir', 'store:parts')
  await succeeds(t, 'copyto', 'large-parts', 'store:parts/default')
  await succeeds(t, '--s3-upload-cutoff', '5M', '--s3-chunk-size', '5M', 'copyto', 'parts', 'store:parts/small')
  await succeeds(t, '--s3-upload-cutoff', '5M', '--s3-upload-concurrency', '8', 'copyto', 'parts', 'store:parts/many')
  for (const name of ['default', 'small', 'many']) {
    await succeeds(t, 'copyto', `store:parts/${name}`, 'parts-back')
    t.ok(readFileSync(join(place, 'parts-back')).equals(name === 'default' ? large : bytes), name)
  }
  t.match(await succeeds(t, 'md5sum', 'store:parts/small'), createHash('md5').update(bytes).digest('hex'))
  await succeeds(t, 'moveto', 'store:parts/small', 'store:parts/moved')
  const { stdout } = await rclone('cat', '--offset', '5242870', '--count', '20', 'store:parts/moved')
  t.ok(stdout.equals(bytes.subarray(5_242_870, 5_242_890)), 'over a border, after a move')
  const piped = await rclone('rcat', 'store:parts/piped')
  t.equal(piped.code, 0, 'nothing from a pipe', { stderr: piped.stderr })
  await succeeds(t, 'cleanup', 'store:parts')
  await succeeds(t, 'delete', 'store:parts')
  await succeeds(t, 'rmdir', 'store:parts')
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
  const parts = await rclone('--s3-copy-cutoff', '5M', 'copyto', 'store:large/two', 'store:large/parts')
  t.not(parts.code, 0)
  t.match(parts.stderr, 'UploadPartCopy is not supported')
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
