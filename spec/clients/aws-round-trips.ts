/** What a user of the AWS command line does with files, whatever the settings. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Aws, succeeds, tells } from './aws-command.ts'
import { digestOf, digestsOf, digestsOfTree, writeTree } from './file-tree.ts'

/** The size from which on it sends parts, and that of each. */
const PART_BYTES = 8 * 1024 ** 2

export interface Commands {
  readonly aws: Aws
  /** For copies inside the store. */
  readonly copying: Aws
  /** What it reads from a pipe is the file. */
  readonly piped: Aws
}

/** A file in parts: up, down, from a pipe, into one, copied and moved inside the store. `large` and `moved` stay. */
export async function largeFiles(
  t: Test,
  { aws, copying, piped }: Commands,
  bytes: Buffer,
  bucket: string,
  place: string,
): Promise<void> {
  const there = `s3://${bucket}`
  const digest = digestOf(bytes)
  const described = { ContentLength: bytes.length, ETag: new RegExp(`-${Math.ceil(bytes.length / PART_BYTES)}"$`) }
  const head = (key: string): Promise<unknown> =>
    tells(t, aws('s3api', 'head-object', '--bucket', bucket, '--key', key), `head of ${key}`)
  writeFileSync(join(place, 'large'), bytes)
  await succeeds(t, aws('s3', 'cp', '--no-progress', 'large', `${there}/large`), 'up')
  t.match(await head('large'), described, 'in parts of 8 MiB')
  await succeeds(t, aws('s3', 'cp', '--no-progress', `${there}/large`, 'large-back'), 'down')
  t.equal(digestOf(readFileSync(join(place, 'large-back'))), digest)
  await succeeds(t, piped('s3', 'cp', '-', `${there}/piped`), 'from a pipe')
  const back = await aws('s3', 'cp', `${there}/piped`, '-')
  t.equal(digestOf(back.stdout), digest, 'and into one')
  await succeeds(t, copying('s3', 'cp', '--no-progress', `${there}/large`, `${there}/copy`), 'copy')
  await succeeds(t, copying('s3', 'mv', '--no-progress', `${there}/copy`, `${there}/moved`), 'move')
  t.match(await head('moved'), described, 'which keeps the ETag')
  await succeeds(t, aws('s3', 'cp', '--no-progress', `${there}/moved`, 'moved-back'), 'down again')
  t.equal(digestOf(readFileSync(join(place, 'moved-back'))), digest)
  const list = await succeeds(t, aws('s3', 'ls', '--recursive', there), 'ls')
  const names = ['large', 'moved', 'piped']
  t.same(
    list
      .trim()
      .split('\n')
      .map((line) => line.slice('2026-01-01 00:00:00 '.length).trim()),
    names.map((name) => `${bytes.length} ${name}`),
  )
  await succeeds(t, aws('s3', 'rm', `${there}/piped`), 'rm')
}

/** A tree into the bucket and back, changed and removed. */
export async function treeBothWays(
  t: Test,
  aws: Aws,
  tree: ReadonlyMap<string, Buffer>,
  bucket: string,
  place: string,
): Promise<void> {
  const there = `s3://${bucket}/tree`
  const back = join(place, 'back')
  mkdirSync(join(place, 'tree'), { recursive: true })
  writeTree(join(place, 'tree'), tree)
  await succeeds(t, aws('s3', 'sync', '--no-progress', 'tree', there), 'sync up')
  await succeeds(t, aws('s3', 'sync', '--no-progress', there, back), 'sync down')
  t.same(digestsOf(back), digestsOfTree(tree))
  t.equal(await succeeds(t, aws('s3', 'sync', '--no-progress', there, back), 'sync again'), '', 'nothing to do')
  rmSync(join(back, 'plain.txt'))
  const up = await succeeds(t, aws('s3', 'sync', '--no-progress', '--delete', back, there), 'sync --delete')
  t.equal(up.trim(), `delete: ${there}/plain.txt`)
  rmSync(back, { recursive: true })
  await succeeds(t, aws('s3', 'rm', '--recursive', there), 'rm --recursive')
  t.equal((await aws('s3', 'ls', there)).code, 1, 'nothing is left')
}
