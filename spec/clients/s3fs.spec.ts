/** s3fs: a bucket as a directory, with the options that README.md names. Wants FUSE and the right to mount. */
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
import { startProcess, temporaryDirectory } from '../support/test-server.ts'
import { firstElement } from '../support/wire-client.ts'
import { programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const server = await startProcess()
const place = temporaryDirectory()
const [program] = await programs('s3fs', ['--version'])
const OPTIONS = 'use_path_request_style,listobjectsv2,nocopyapi'
const MEBIBYTE = 1024 ** 2

await server.raw('PUT', '/mounted')
writeFileSync(join(place, 'password'), `${server.accessKey}:${server.secretKey}`, { mode: 0o600 })

function isMounted(directory: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(` ${directory} fuse.s3fs `)
}

/** Mounts the bucket until the test is over. A machine that cannot mount fails the test: it would prove nothing. */
async function mount(t: Test, name: string): Promise<string> {
  const directory = join(place, name)
  mkdirSync(directory)
  const options = `url=${server.endpoint},passwd_file=${join(place, 'password')},${OPTIONS}`
  const { code, stderr } = await run(program?.path ?? '', ['mounted', directory, '-o', options])
  if (code !== 0 || !isMounted(directory)) {
    throw new Error(`s3fs cannot mount here; it needs /dev/fuse, fusermount and the right to mount: ${stderr}`)
  }
  t.teardown(() => unmount(directory))
  return directory
}

function unmount(directory: string): void {
  if (isMounted(directory)) spawnSync('fusermount', ['-u', directory])
}

test('a tree of files', async (t) => {
  const tree = oddTree(60)
  const directory = await mount(t, 'tree')
  writeTree(join(directory, 'tree'), tree)
  t.same(digestsOf(join(directory, 'tree')), digestsOfTree(tree))
  unmount(directory)
  const again = await mount(t, 'tree-again')
  t.same(digestsOf(join(again, 'tree')), digestsOfTree(tree), 'mounted again, all of it is there')
  rmSync(join(again, 'tree'), { recursive: true })
  t.same(readdirSync(again), [])
})

test('a large file, written in parts and changed', async (t) => {
  const directory = await mount(t, 'large')
  const path = join(directory, 'large')
  const bytes = sampleBytes(48 * MEBIBYTE + 1)
  writeFileSync(path, bytes)
  t.match((await server.raw('HEAD', '/mounted/large')).headers.etag, /-5"$/, 'in parts of 10 MiB')
  t.ok(readFileSync(path).equals(bytes))
  const file = openSync(path, 'r+')
  writeSync(file, 'changed', 30 * MEBIBYTE)
  closeSync(file)
  appendFileSync(path, 'appended')
  bytes.write('changed', 30 * MEBIBYTE)
  const changed = Buffer.concat([bytes, Buffer.from('appended')])
  t.ok((await server.raw('GET', '/mounted/large')).body.equals(changed), 'changed in the middle and at the end')
  renameSync(path, join(directory, 'renamed'))
  chmodSync(join(directory, 'renamed'), 0o600)
  t.equal(statSync(join(directory, 'renamed')).mode & 0o777, 0o600)
  t.ok((await server.raw('GET', '/mounted/renamed')).body.equals(changed), 'renamed')
  truncateSync(join(directory, 'renamed'), 6 * MEBIBYTE)
  t.ok((await server.raw('GET', '/mounted/renamed')).body.equals(changed.subarray(0, 6 * MEBIBYTE)), 'cut off')
  rmSync(join(directory, 'renamed'))
  const listed = await server.raw('GET', '/mounted?list-type=2')
  t.equal(firstElement(listed.text, 'KeyCount'), '0')
  const uploads = await server.raw('GET', '/mounted?uploads')
  t.equal(firstElement(uploads.text, 'Upload'), undefined, 'no upload is left behind')
})

test('end', async () => {
  await server.stop()
  rmSync(place, { recursive: true })
})
