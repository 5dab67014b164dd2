/** What a user of restic does: backups, restores, checks of all bytes, and forgetting. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { succeeds } from './aws-command.ts'
import type { Target } from './both-servers.ts'
import { type Outcome, programs, run } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const MEBIBYTE = 1024 ** 2
const restics = await programs('restic', ['version'])

type Server = Pick<Target, 'endpoint' | 'accessKey' | 'secretKey' | 'authority'>

/** The command with a repository at a server, in a directory. */
function resticCommand({ endpoint, accessKey, secretKey, authority }: Server, directory: string) {
  const environment = {
    RESTIC_REPOSITORY: `s3:${endpoint}/restic/repository`,
    RESTIC_PASSWORD: 'the password of the repository',
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
  }
  const trusting = authority === undefined ? [] : ['--cacert', authority]
  const always = [...trusting, '-o', 's3.region=us-east-1']
  return (...words: string[]): Promise<Outcome> =>
    run(restics[0]?.path ?? '', [...always, ...words], { environment, directory })
}

/** @param place a directory to work in: one of its own is made in it and removed */
export async function resticRoundTrips(t: Test, server: Server, place: string): Promise<void> {
  const directory = join(place, 'restic')
  mkdirSync(directory)
  const restic = resticCommand(server, directory)
  const tree = oddTree(150)
  // Large enough to be cut into many blobs.
  tree.set('deep/er/large', Buffer.concat([sampleBytes(20 * MEBIBYTE), randomBytes(20 * MEBIBYTE)]))
  writeTree(join(directory, 'tree'), tree)

  /** What a snapshot holds, restored into a directory of its own. */
  const restored = async (snapshot: string): Promise<[path: string, digest: string][]> => {
    const target = join(directory, `restored-${snapshot}`)
    await succeeds(t, restic('restore', snapshot, '--target', target), `restore ${snapshot}`)
    return digestsOf(join(target, 'tree'))
  }
  await succeeds(t, restic('init'), 'init, which makes the bucket')
  await succeeds(t, restic('backup', 'tree'), 'backup')
  const first = digestsOfTree(tree)
  tree.set('new file', sampleBytes(3 * MEBIBYTE, 9))
  tree.delete('plain.txt')
  writeTree(join(directory, 'tree'), tree)
  rmSync(join(directory, 'tree', 'plain.txt'))
  await succeeds(t, restic('backup', 'tree'), 'backup of the changes')
  const listed = JSON.parse(await succeeds(t, restic('snapshots', '--json'), 'snapshots')) as { short_id: string }[]
  const [older = '', newer = ''] = listed.map((snapshot) => snapshot.short_id)
  t.same(await restored(older), first)
  t.same(await restored(newer), digestsOfTree(tree))
  t.match(await succeeds(t, restic('check', '--read-data'), 'check of all data'), 'no errors were found')
  await succeeds(t, restic('forget', '--prune', older), 'forget and prune')
  t.match(await succeeds(t, restic('check', '--read-data'), 'check of what is left'), 'no errors were found')
  rmSync(join(directory, `restored-${newer}`), { recursive: true })
  t.same(await restored(newer), digestsOfTree(tree))
  rmSync(directory, { recursive: true })
}
