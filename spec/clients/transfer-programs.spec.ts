/** Programs that come with the tools: rclone of today, s5cmd, s3cmd and litestream, with the settings of the pages. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { refuses, succeeds } from './aws-command.ts'
import { startBoth, type Target } from './both-servers.ts'
import type { Outcome } from './client-programs.ts'
import { clientTools } from './client-tools.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

const tools = await clientTools()
const both = await startBoth()
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
function overBoth(name: string, body: (t: Test, target: Target) => Promise<void>): void {
  for (const target of both.targets) test(`${name} over ${target.name}`, (t) => body(t, target))
}

overBoth('rclone', async (t, target) => {
  const settings = [
    ['TYPE', 's3'],
    ['PROVIDER', 'Other'],
    ['ENDPOINT', target.endpoint],
    ['ACCESS_KEY_ID', target.accessKey],
    ['SECRET_ACCESS_KEY', target.secretKey],
  ].map(([key, value]) => [`RCLONE_CONFIG_STORE_${key}`, value ?? ''])
  const trusted = target.authority === undefined ? undefined : { RCLONE_CA_CERT: target.authority }
  const given = { ...Object.fromEntries(settings), ...trusted, RCLONE_CONFIG: '' }
  const rclone = (words: string[], listVersion = '2'): Promise<Outcome> => {
    const environment = { ...given, RCLONE_CONFIG_STORE_LIST_VERSION: listVersion }
    return tools.run('rclone', ['--retries', '1', ...words], { environment, directory: place })
  }
  const back = `back-rclone-${target.name}`
  await succeeds(t, rclone(['mkdir', 'store:rclone']), 'mkdir')
  await succeeds(t, rclone(['sync', 'tree', 'store:rclone/tree']), 'sync up')
  await succeeds(t, rclone(['check', 'tree', 'store:rclone/tree']), 'check')
  await succeeds(t, rclone(['sync', 'store:rclone/tree', back]), 'sync down')
  t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  await succeeds(t, rclone(['moveto', 'store:rclone/tree/plain.txt', 'store:rclone/moved']), 'moveto')
  await refuses(t, rclone(['lsf', 'store:rclone'], '0'), 'list_version = 2 (rclone)')
  await succeeds(t, rclone(['purge', 'store:rclone']), 'purge')
  t.notMatch(await succeeds(t, rclone(['lsd', 'store:']), 'lsd'), 'rclone')
})

overBoth('s5cmd', async (t, target) => {
  const s5cmd = (...words: string[]): Promise<Outcome> => {
    const options = { environment: keysOf(target), directory: place }
    return tools.run('s5cmd', ['--endpoint-url', target.endpoint, ...words], options)
  }
  const back = `back-s5cmd-${target.name}`
  await succeeds(t, s5cmd('mb', 's3://s5cmd'), 'mb')
  await succeeds(t, s5cmd('sync', 'tree/', 's3://s5cmd/tree/'), 'sync')
  await succeeds(t, s5cmd('cp', 's3://s5cmd/tree/*', `${back}/`), 'cp')
  t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  await refuses(t, s5cmd('rm', 's3://s5cmd/tree/plain.txt'), ONE_AT_A_TIME)
  await refuses(t, s5cmd('mv', 's3://s5cmd/tree/plain.txt', 's3://s5cmd/moved'), ONE_AT_A_TIME)
  t.match(await succeeds(t, s5cmd('ls', 's3://s5cmd/'), 'ls'), 'moved', 'which was copied all the same')
  mkdirSync(join(place, `empty-${target.name}`))
  await refuses(t, s5cmd('sync', '--delete', `empty-${target.name}/`, 's3://s5cmd/tree/'), ONE_AT_A_TIME)
})

overBoth('s3cmd', async (t, target) => {
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
  await refuses(t, s3cmd('ls', 's3://s3cmd'), 'ListObjects is not supported')
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

overBoth('litestream', async (t, target) => {
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
  await refuses(t, litestream('replicate', ...configuration, ...snapshot), ONE_AT_A_TIME)
})

test('end', async () => {
  await both.stop()
  rmSync(place, { recursive: true })
})
