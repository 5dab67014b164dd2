/**
 * Programs that come with the tools: rclone of today, s5cmd, s3cmd and litestream, with the settings of the pages; and with
 * their defaults against servers in `compatible`, where they leave nothing behind.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { extended, succeeds } from './aws-command.ts'
import { startAll, type Target } from './both-servers.ts'
import { type Outcome, programs, run } from './client-programs.ts'
import { clientTools } from './client-tools.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const tools = await clientTools()
const all = await startAll()
const place = temporaryDirectory()
const tree = oddTree(20)
// In parts by s5cmd and s3cmd.
const large = sampleBytes(60_000_000)
tree.set('deep/er/large', large)
writeTree(join(place, 'tree'), tree)
const ONE_AT_A_TIME = 'delete objects one at a time'

function keysOf({ accessKey, secretKey, authority }: Target): Record<string, string> {
  const trusted = authority === undefined ? undefined : { SSL_CERT_FILE: authority }
  return { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey, AWS_REGION: 'us-east-1', ...trusted }
}

/** A test against each of the servers. */
function overAll(name: string, body: (t: Test, target: Target) => Promise<void>): void {
  for (const target of all.targets) test(`${name} over ${target.name}`, (t) => body(t, target))
}

/** One version of rclone. @param bucket of its own */
async function rcloneRoundTrips(t: Test, target: Target, path: string, bucket: string): Promise<void> {
  const there = `store:${bucket}`
  const settings = [
    ['TYPE', 's3'],
    ['PROVIDER', 'Other'],
    ['ENDPOINT', target.endpoint],
    ['ACCESS_KEY_ID', target.accessKey],
    ['SECRET_ACCESS_KEY', target.secretKey],
  ].map(([key, value]) => [`RCLONE_CONFIG_STORE_${key}`, value ?? ''])
  const trusted = target.authority === undefined ? undefined : { RCLONE_CA_CERT: target.authority }
  const given = { ...Object.fromEntries(settings), ...trusted, RCLONE_CONFIG: '' }
  const listing: Record<string, string> = target.extended ? {} : { RCLONE_CONFIG_STORE_LIST_VERSION: '2' }
  const rclone = (words: string[], more: Readonly<Record<string, string>> = listing): Promise<Outcome> =>
    run(path, ['--retries', '1', ...words], { environment: { ...given, ...more }, directory: place })
  const back = `back-${bucket}-${target.name}`
  await succeeds(t, rclone(['mkdir', there]), 'mkdir')
  await succeeds(t, rclone(['sync', 'tree', `${there}/tree`]), 'sync up')
  await succeeds(t, rclone(['check', 'tree', `${there}/tree`]), 'check')
  await succeeds(t, rclone(['sync', `${there}/tree`, back]), 'sync down')
  t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  await succeeds(t, rclone(['moveto', `${there}/tree/plain.txt`, `${there}/moved`]), 'moveto')
  await extended(t, target, rclone(['lsf', there], {}), 'lsf by default', 'list_version = 2 (rclone)')
  const parts = rclone(['--s3-copy-cutoff', '5M', 'copyto', `${there}/tree/deep/er/large`, `${there}/copy`])
  await extended(t, target, parts, 'a copy in parts', 'UploadPartCopy is not supported')
  if (target.extended) t.ok((await rclone(['cat', `${there}/copy`])).stdout.equals(large), 'the copy')
  await succeeds(t, rclone(['purge', there]), 'purge')
  t.notMatch(await succeeds(t, rclone(['lsd', 'store:']), 'lsd'), bucket)
}

const rclones = await programs('rclone', ['version'])
overAll('rclone', async (t, target) => {
  await rcloneRoundTrips(t, target, tools.path('rclone'), 'rclone')
  // Those of the machine have a spec of their own, with the settings of the page.
  if (!target.extended) return
  for (const [index, { path }] of rclones.entries()) await rcloneRoundTrips(t, target, path, `rclone-${index}`)
})

overAll('s5cmd', async (t, target) => {
  const s5cmd = (...words: string[]): Promise<Outcome> => {
    const options = { environment: keysOf(target), directory: place }
    return tools.run('s5cmd', ['--endpoint-url', target.endpoint, ...words], options)
  }
  const back = `back-s5cmd-${target.name}`
  await succeeds(t, s5cmd('mb', 's3://s5cmd'), 'mb')
  await succeeds(t, s5cmd('sync', 'tree/', 's3://s5cmd/tree/'), 'sync')
  await succeeds(t, s5cmd('cp', 's3://s5cmd/tree/*', `${back}/`), 'cp')
  t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  await extended(t, target, s5cmd('rm', 's3://s5cmd/tree/.hidden'), 'rm', ONE_AT_A_TIME)
  await extended(t, target, s5cmd('mv', 's3://s5cmd/tree/plain.txt', 's3://s5cmd/moved'), 'mv', ONE_AT_A_TIME)
  t.match(await succeeds(t, s5cmd('ls', 's3://s5cmd/'), 'ls'), 'moved', 'which is copied in any case')
  const left = await target.heldBy('s5cmd')
  t.equal(left.includes('tree/plain.txt'), !target.extended, 'what mv left')
  mkdirSync(join(place, `empty-${target.name}`))
  const sync = s5cmd('sync', '--delete', `empty-${target.name}/`, 's3://s5cmd/tree/')
  await extended(t, target, sync, 'sync --delete', ONE_AT_A_TIME)
  if (!target.extended) return
  t.same(await target.heldBy('s5cmd'), ['moved'], 'sync --delete took all of the tree')
  await succeeds(t, s5cmd('rm', 's3://s5cmd/*'), 'rm of everything')
  await succeeds(t, s5cmd('rb', 's3://s5cmd'), 'rb')
})

overAll('s3cmd', async (t, target) => {
  const host = target.endpoint.split('//')[1] ?? ''
  const secure = target.authority === undefined ? ['--no-ssl'] : [`--ca-certs=${target.authority}`]
  const keys = [`--access_key=${target.accessKey}`, `--secret_key=${target.secretKey}`, '--region=us-east-1']
  const s3cmd = (...words: string[]): Promise<Outcome> =>
    tools.run('s3cmd', [`--host=${host}`, `--host-bucket=${host}`, ...secure, ...keys, ...words], { directory: place })
  await succeeds(t, s3cmd('mb', 's3://s3cmd'), 'mb')
  await succeeds(t, s3cmd('put', 'tree/deep/er/large', 's3://s3cmd/one'), 'put')
  await succeeds(t, s3cmd('cp', 's3://s3cmd/one', 's3://s3cmd/two'), 'cp')
  const file = `large-${target.name}`
  await succeeds(t, s3cmd('get', 's3://s3cmd/two', file), 'get')
  t.ok(readFileSync(join(place, file)).equals(large))
  await succeeds(t, s3cmd('del', 's3://s3cmd/two'), 'del')
  const unlisted = 'ListObjects is not supported'
  await extended(t, target, s3cmd('ls', 's3://s3cmd'), 'ls', unlisted)
  const trees = ['sync', '--no-progress']
  await extended(t, target, s3cmd(...trees, 'tree/', 's3://s3cmd/tree/'), 'sync up', unlisted)
  const back = `back-s3cmd-${target.name}`
  mkdirSync(join(place, back))
  await extended(t, target, s3cmd(...trees, 's3://s3cmd/tree/', `${back}/`), 'sync down', unlisted)
  if (target.extended) t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  await extended(t, target, s3cmd('rb', '--recursive', '--force', 's3://s3cmd'), 'rb --recursive', unlisted)
})

/** A database of one table with 1,000 rows more than it had. */
const FILL = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA journal_mode = WAL")
database.execute("CREATE TABLE IF NOT EXISTS t (a)")
database.executemany("INSERT INTO t VALUES (?)", [(index,) for index in range(1000)])
database.commit()
`
const COUNT = 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM t").fetchone()[0])'

function python(script: string, file: string): Promise<Outcome> {
  return tools.run('python', ['-c', script, file])
}

overAll('litestream', async (t, target) => {
  await target.makeBucket('litestream')
  const directory = join(place, `litestream-${target.name}`)
  mkdirSync(directory)
  const database = join(directory, 'app.db')
  const replica = `url: s3://litestream/app\n      endpoint: ${target.endpoint}\n      region: us-east-1\n      force-path-style: true`
  const kept = 'snapshot:\n  interval: 1ms\n  retention: 1ms\n'
  writeFileSync(
    join(directory, 'litestream.yml'),
    `${kept}dbs:\n  - path: ${database}\n    replica:\n      ${replica}\n`,
  )
  const litestream = (...words: string[]): Promise<Outcome> =>
    tools.run('litestream', words, { environment: keysOf(target), directory })
  const configuration = ['-config', 'litestream.yml']
  await succeeds(t, python(FILL, database), 'a database')
  await succeeds(t, litestream('replicate', ...configuration, '-once'), 'replicate')
  await succeeds(t, python(FILL, database), 'more rows')
  const snapshot = ['-once', '-force-snapshot', '-enforce-retention']
  await succeeds(t, litestream('replicate', ...configuration, '-once', '-force-snapshot'), 'replicate again')
  const restored = join(directory, 'restored.db')
  await succeeds(t, litestream('restore', ...configuration, '-o', restored, database), 'restore')
  t.equal((await succeeds(t, python(COUNT, restored), 'count')).trim(), '2000')
  await succeeds(t, python(FILL, database), 'rows for another snapshot')
  const before = await target.heldBy('litestream')
  await extended(t, target, litestream('replicate', ...configuration, ...snapshot), 'retention', ONE_AT_A_TIME)
  const after = await target.heldBy('litestream')
  t.equal(
    before.every((key) => after.includes(key)),
    !target.extended,
    'whether something old is gone',
  )
  if (!target.extended) return
  const again = join(directory, 'again.db')
  await succeeds(t, litestream('restore', ...configuration, '-o', again, database), 'restore after retention')
  t.equal((await succeeds(t, python(COUNT, again), 'count')).trim(), '3000')
})

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
