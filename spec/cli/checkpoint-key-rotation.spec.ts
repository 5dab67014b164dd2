/** The key of the log changes while a server runs and with the master key, and whoever pinned the first one follows (T11). */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { test } from 'tap'
import { ApiClient, basic } from '../support/api-client.ts'
import { startProcess } from '../support/server-process.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { run } from './command-runner.ts'

const LOOK_MILLISECONDS = 50
const OTHER_KEY = Buffer.alloc(32, 0x2a)
const [KEY, PREVIOUS] = ['OBJECT_STORE_CREDENTIAL_MASTER_KEY', 'OBJECT_STORE_PREVIOUS_CREDENTIAL_MASTER_KEY']

interface Status {
  readonly checkpoints: { readonly last_size: number | null }
}

/** A server that signs each second, and commands that ask it. */
async function begin(dataDirectory: string, environment: Readonly<Record<string, string>> = {}) {
  const server = await startProcess({
    dataDirectory,
    environment: {
      OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1',
      OBJECT_STORE_CHECKPOINTS_ORIGIN: 'spec.store',
      ...environment,
    },
  })
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  const made = await api.get<{ token: string }>('POST', '/management-tokens', {
    name: `spec ${server.apiEndpoint}`,
    role: 'system-administrator',
  })
  const asked = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: made.token }
  const size = async () => (await api.get<Status>('GET', '/storage/status')).checkpoints.last_size ?? 0
  return {
    server,
    ask: (...words: readonly string[]) => run(['checkpoint', ...words], { environment: asked }),
    /** Until a checkpoint covers a bucket that is made now. */
    async sign(bucket: string): Promise<void> {
      const before = await size()
      await server.s3.send(new CreateBucketCommand({ Bucket: bucket }))
      while ((await size()) <= before) await pause(LOOK_MILLISECONDS)
    },
  }
}

test('T11 by the route, and with the master key: auditors with the first key follow, before and after a replay', async (t) => {
  const root = t.testdir({ data: {} })
  const [data, file] = [join(root, 'data'), (name: string) => join(root, name)]
  const first = await begin(data)
  await first.sign('one')
  await first.ask('show', '--output', file('kept.txt'))
  const pinned = (await first.ask('key')).stdout.trim()
  t.match(await first.ask('handovers'), { exitCode: 0, stdout: '' })
  const rotated = await first.ask('rotate-key', '--json')
  t.equal(rotated.exitCode, 0, rotated.stderr)
  const { old_key, new_key, note } = JSON.parse(rotated.stdout) as Record<string, string>
  t.equal(old_key, pinned)
  t.equal((await first.ask('handovers')).stdout, note)
  await first.sign('two')
  t.equal((await first.ask('key')).stdout.trim(), new_key)
  await first.server.kill9()

  const changed = { [KEY]: OTHER_KEY.toString('hex'), [PREVIOUS]: MASTER_KEY.toString('hex') }
  const second = await begin(data, changed)
  await second.sign('three')
  const handovers = (await second.ask('handovers')).stdout
  const newest = (await second.ask('key')).stdout
  t.ok(handovers.startsWith(note ?? 'none'))
  t.not(newest.trim(), new_key, 'the change of the master key handed over too')
  await second.ask('show', '--output', file('new.txt'))
  await second.ask('handovers', '--output', file('handovers.txt'))
  await second.server.terminate()
  rmSync(join(data, 'projections'), { recursive: true })
  const third = await begin(data, { [KEY]: OTHER_KEY.toString('hex') })
  t.equal((await third.ask('handovers')).stdout, handovers)
  t.equal((await third.ask('key')).stdout, newest)
  await third.server.terminate()

  const verify = (...words: readonly string[]) => run(['checkpoint', 'verify', file('new.txt'), ...words])
  t.match(await verify('--key', pinned, '--handovers', file('handovers.txt')), { exitCode: 0, stdout: /: passed/ })
  t.match(await verify('--key', pinned), { exitCode: 8, stdout: /signature: failed/ })
  const journal = ['journal', 'verify', '--data-dir', data]
  for (const kept of ['kept.txt', 'new.txt']) {
    const outcome = await run([...journal, '--checkpoint', file(kept), '--key', pinned])
    t.equal(outcome.exitCode, 0, outcome.stdout + outcome.stderr)
  }
  const python = execFileSync('python3', ['spec/formats/verify_journal.py', join(data, 'journal')], {
    encoding: 'utf8',
  })
  t.match(python, /^intact /)
})
