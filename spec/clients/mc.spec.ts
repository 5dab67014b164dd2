/**
 * MinIO's mc over HTTP and over TLS, in `compatible`, where it is on the PATH:
 * `go install github.com/minio/mc@v0.0.0-20250313080218-cf909e1063a9`. It comes from nowhere else, so CI may be without it.
 */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { succeeds } from './aws-command.ts'
import { startBoth, type Target } from './both-servers.ts'
import { type Outcome, programs, run, type RunOptions } from './client-programs.ts'
import { digestsOf, digestsOfTree, oddTree, writeTree } from './file-tree.ts'

/** Midnight Commander has the name too. */
async function findMc(): Promise<string | undefined> {
  const found = await programs('mc', ['--version']).catch(() => [])
  return found.find(({ version }) => version.startsWith('mc version'))?.path
}

const path = await findMc()
const place = temporaryDirectory()
// In parts, and more than one of them where it does not know the size.
const large = sampleBytes(40_000_000)
const tree = oddTree(20).set('deep/er/large', large)

async function roundTrips(t: Test, program: string, target: Target): Promise<void> {
  const settings = join(place, `settings-${target.name}`)
  mkdirSync(join(settings, 'certs', 'CAs'), { recursive: true })
  if (target.authority !== undefined) copyFileSync(target.authority, join(settings, 'certs', 'CAs', 'ca.pem'))
  const mc = (words: readonly string[], options: RunOptions = {}): Promise<Outcome> =>
    run(program, ['--config-dir', settings, '--quiet', ...words], { directory: place, ...options })
  const works = (...words: readonly string[]): Promise<string> => succeeds(t, mc(words), words.join(' '))
  const { endpoint, accessKey, secretKey } = target
  await works('alias', 'set', 'store', endpoint, accessKey, secretKey, '--api', 'S3v4', '--path', 'on')
  await works('mb', 'store/mcs')
  await works('mirror', 'tree', 'store/mcs/tree')
  t.equal(await works('diff', 'tree', 'store/mcs/tree'), '', 'no difference')
  const back = `back-${target.name}`
  await works('mirror', 'store/mcs/tree', back)
  t.same(digestsOf(join(place, back)), digestsOfTree(tree))
  for (const [key, input] of [
    ['nothing', Buffer.alloc(0)],
    ['few', Buffer.from('few')],
    ['large', large],
  ] as const) {
    await succeeds(t, mc(['pipe', '--part-size', '16MiB', `store/mcs/${key}`], { input }), `pipe ${key}`)
    t.ok((await mc(['cat', `store/mcs/${key}`])).stdout.equals(input), `what was piped: ${key}`)
  }
  t.match(await works('stat', 'store/mcs/large'), /Checksum\s*: CRC32C:\S+-3/, 'with a checksum of those of its parts')
  await works('cp', 'store/mcs/large', 'store/mcs/copy')
  await works('mv', 'store/mcs/copy', 'store/mcs/moved')
  t.notMatch(await works('ls', 'store/mcs'), 'copy')
  t.ok((await mc(['cat', 'store/mcs/moved'])).stdout.equals(large), 'what was copied and moved')
  mkdirSync(join(place, `empty-${target.name}`))
  await works('mirror', '--remove', `empty-${target.name}`, 'store/mcs/tree')
  t.same(await target.heldBy('mcs'), ['few', 'large', 'moved', 'nothing'])
  await works('version', 'enable', 'store/mcs')
  await works('cp', join('tree', 'plain.txt'), 'store/mcs/moved')
  await works('rm', 'store/mcs/few')
  await works('undo', '--force', 'store/mcs/moved')
  t.ok((await mc(['cat', 'store/mcs/moved'])).stdout.equals(large), 'the version before')
  await works('rm', '--recursive', '--force', '--versions', 'store/mcs')
  t.same(await target.heldBy('mcs'), [], 'nothing is left, no open upload either')
  await works('rb', 'store/mcs')
}

if (path === undefined) tap.plan(0, 'mc is not on the PATH, and left out')
else {
  const both = await startBoth({ extended: true })
  writeTree(join(place, 'tree'), tree)
  for (const target of both.targets) test(`mc over ${target.name}`, (t) => roundTrips(t, path, target))
  test('end', async () => {
    await both.stop()
  })
}
tap.teardown(() => rmSync(place, { recursive: true }))
