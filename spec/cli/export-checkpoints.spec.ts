/**
 * checkpoints.json of audit exports.
 * Proves: RES-EXP-03, RES-EXP-09.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { systemAudit } from '../../workers/system-audit.ts'
import { run } from './command-runner.ts'

let signs = false
const server = await startManaged({
  checkpointFacts: () => ({
    isOn: signs,
    treeSize: undefined,
    mendedHashes: 0,
    signed: 0,
    waitsFor: [],
    refusal: undefined,
    refusalCode: undefined,
  }),
})
tap.teardown(() => server.stop())
const environment = { OBJECT_STORE_URL: server.apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

function askedIn(workingDirectory: string, ...words: readonly string[]) {
  return run(words, { environment, workingDirectory })
}

/** checkpoints.json. */
interface Present {
  readonly origin?: string
  readonly vkey?: string
  readonly checkpoints?: readonly {
    readonly note: string
    readonly bundle_root: string
    readonly previous_checkpoint_hash: string
  }[]
}

test('an export has the checkpoints that cover its range, once there are any', async (t) => {
  const directory = t.testdir()
  let now = Date.now()
  const signing = signingOf({ ...server.store, paths: server.paths }, { intervalSeconds: 1, clock: () => now })
  const read = (output: string) =>
    JSON.parse(readFileSync(join(directory, output, 'checkpoints.json'), 'utf8')) as Present
  const exported = async (output: string, ...words: readonly string[]) => {
    t.match(await askedIn(directory, 'audit', 'export', '--output', output, ...words), { exitCode: 0, stderr: '' })
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: join(directory, output) })
    return read(output)
  }
  signs = true
  t.match(await exported('none'), { status: 'unavailable', detail: 'No checkpoint covers a record of the range yet.' })
  t.match(await exported('empty', '--to', '2020-01-01T00:00:00Z'), { detail: 'The range has no records.' })
  const until = new Date().toISOString()
  for (let at = 0; at < 3; at += 1) {
    await server.api.get('POST', '/buckets', { name: `covered-${at}` })
    now = Math.max(now, Date.now()) + 10_000
    await signing.settle()
  }
  const all = await exported('all')
  const key = all.vkey ?? ''
  t.match(all, { status: 'present', covers_range: false, receipts: [], checkpoints: [{}, {}, {}] })
  t.match(key, new RegExp(`^${all.origin}\\+`))
  for (const { note, bundle_root, previous_checkpoint_hash } of all.checkpoints ?? []) {
    t.ok(isSignedBy(readCheckpointNote(note), readVerifierKey(key)))
    t.match([bundle_root, previous_checkpoint_hash], [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}$/])
  }
  const [first] = all.checkpoints ?? []
  const size = signing.reader.last()?.size ?? 0
  await server.store.client.execute({
    kind: 'record-receipt',
    audit: systemAudit('checkpoints', 'checkpoint.receipt', 'x'),
    receipt: { size, kind: 'lock', giver: 's3://lock', receipt: Buffer.from('seen'), assertedMicroseconds: undefined },
  })
  t.match(await exported('again'), {
    receipts: [{ size, kind: 'lock', receipt: Buffer.from('seen').toString('base64') }],
  })
  const early = await exported('early', '--to', until)
  t.match(
    early,
    { covers_range: true, receipts: [], checkpoints: [first] },
    'the first one that covers its last record, and no more',
  )
  t.equal(early.checkpoints?.length, 1)
  signs = false
  t.match(await exported('off'), {
    status: 'unavailable',
    detail: /^This server makes no checkpoints: checkpoints\.interval_seconds is 0\./,
  })
  await signing.close()
})
