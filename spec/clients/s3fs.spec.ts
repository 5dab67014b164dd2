/**
 * s3fs: a bucket as a directory, with the options that README.md names, and without those that the extensions make needless.
 * Wants FUSE and the right to mount.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { startAll, type Target } from './both-servers.ts'
import { programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const all = await startAll()
const place = temporaryDirectory()
const [program] = await programs('s3fs', ['--version'])
const MEBIBYTE = 1024 ** 2
const BUCKET = 'mounted'

await Promise.all(all.targets.map((target) => target.makeBucket(BUCKET)))

function isMounted(directory: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(` ${directory} fuse.s3fs `)
}

/** Mounts the bucket until the test is over. A machine that cannot mount fails the test: it would prove nothing. */
async function mount(t: Test, target: Target, name: string): Promise<string> {
  const { endpoint, accessKey, secretKey, authority, extended } = target
  const directory = join(place, `${name}-${target.name.replaceAll(' ', '-')}`)
  const password = join(place, `password ${target.name}`)
  mkdirSync(directory)
  writeFileSync(password, `${accessKey}:${secretKey}`, { mode: 0o600 })
  const needless = extended ? '' : ',listobjectsv2,nocopyapi'
  const options = `url=${endpoint},passwd_file=${password},use_path_request_style${needless}`
  const environment = authority === undefined ? {} : { CURL_CA_BUNDLE: authority }
  const { code, stderr } = await run(program?.path ?? '', [BUCKET, directory, '-o', options], { environment })
  if (code !== 0 || !isMounted(directory)) {
    throw new Error(`s3fs cannot mount here; it needs /dev/fuse, fusermount and the right to mount: ${stderr}`)
  }
  t.teardown(() => unmount(directory))
  return directory
}

function unmount(directory: string): void {
  if (isMounted(directory)) spawnSync('fusermount', ['-u', directory])
}

async function treeOfFiles(t: Test, target: Target): Promise<void> {
  const tree = oddTree(60)
  const directory = await mount(t, target, 'tree')
  writeTree(join(directory, 'tree'), tree)
  t.same(digestsOf(join(directory, 'tree')), digestsOfTree(tree))
  unmount(directory)
  const again = await mount(t, target, 'tree-again')
  t.same(digestsOf(join(again, 'tree')), digestsOfTree(tree), 'mounted again, all of it is there')
  rmSync(join(again, 'tree'), { recursive: true })
  t.same(readdirSync(again), [])
}

async function largeFile(t: Test, target: Target): Promise<void> {
  const directory = await mount(t, target, 'large')
  const path = join(directory, 'large')
  const bytes = sampleBytes(48 * MEBIBYTE + 1)
  const kept = (name: string): Promise<Buffer> => target.ask('GET', `${BUCKET}/${name}`)
  writeFileSync(path, bytes)
  // With the copy API it then copies what it wrote, in parts that it cuts in another way.
  const parts = target.extended ? '4' : '5'
  t.match(
    String(await target.ask('HEAD', `${BUCKET}/large`)),
    new RegExp(`^etag: "\\w+-${parts}"\\r$`, 'im'),
    'in parts of 10 MiB',
  )
  t.ok(readFileSync(path).equals(bytes))
  const file = openSync(path, 'r+')
  writeSync(file, 'changed', 30 * MEBIBYTE)
  closeSync(file)
  appendFileSync(path, 'appended')
  bytes.write('changed', 30 * MEBIBYTE)
  const changed = Buffer.concat([bytes, Buffer.from('appended')])
  t.ok((await kept('large')).equals(changed), 'changed in the middle and at the end')
  renameSync(path, join(directory, 'renamed'))
  chmodSync(join(directory, 'renamed'), 0o600)
  t.equal(statSync(join(directory, 'renamed')).mode & 0o777, 0o600)
  t.ok((await kept('renamed')).equals(changed), 'renamed')
  truncateSync(join(directory, 'renamed'), 6 * MEBIBYTE)
  t.ok((await kept('renamed')).equals(changed.subarray(0, 6 * MEBIBYTE)), 'cut off')
  rmSync(join(directory, 'renamed'))
  t.same(await target.heldBy(BUCKET), [], 'nothing is left, no open upload either')
}

// Over TLS nothing is different by default.
for (const target of all.targets.filter(({ authority, extended }) => authority === undefined || extended)) {
  test(`a tree of files over ${target.name}`, (t) => treeOfFiles(t, target))
  test(`a large file, written in parts and changed, over ${target.name}`, (t) => largeFile(t, target))
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
