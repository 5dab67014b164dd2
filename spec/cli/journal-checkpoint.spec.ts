/** `journal verify --checkpoint`: that a journal, a copy, a backup, cold or not, extends a checkpoint that was kept elsewhere. */
import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { backUp } from '../support/backups.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { SignedJournal } from '../support/journals/signed-journal.ts'
import { openTestStore } from '../support/test-store.ts'
import { type Outcome, run } from './command-runner.ts'

function verify(...words: readonly string[]): Promise<Outcome> {
  return run(['journal', 'verify', ...words])
}

test('a store, a copy of it, a backup and cold segments extend a checkpoint that was kept', async (t) => {
  const root = t.testdir()
  const file = (name: string) => join(root, name)
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(file('data'), { segmentBytes: 64 * 1024, clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now })
  await store.client.execute(createBucket('one'))
  const write = async () => {
    for (let at = 0; at < 400; at += 1) store.client.record(auditOf('s3:GET', `bucket:one/${at}`), 'success')
    await store.loop.drained()
    now += 100_000
    await signing.settle()
  }
  await write()
  await write()
  const kept = signing.reader.last() as CheckpointState
  writeFileSync(file('kept.txt'), noteOf(kept))
  const key = verifierKeyText(kept.origin, signing.publicKey)
  await write()
  await signing.close()
  await store.close(true)
  cpSync(file('data'), file('copy'), { recursive: true })
  await backUp(file('data'), file('backup'))
  t.ok((await compressJournal(new StorePaths(file('copy')))) > 1)
  for (const place of ['data', 'copy', 'backup']) {
    const outcome = await verify(file(place), '--checkpoint', file('kept.txt'), '--key', key)
    t.match(outcome, { exitCode: 0, stderr: '' }, place)
    t.match(
      outcome.stdout,
      `extends     the checkpoint of ${kept.size.toLocaleString('en')} records of ${kept.origin}\n`,
    )
    t.match(outcome.stdout, `, by ${key}\n`)
    const { stdout } = await verify(file(place), '--json', '--checkpoint', file('kept.txt'))
    t.match(JSON.parse(stdout), {
      intact: true,
      checkpoints: { count: 3, last: { origin: kept.origin, key } },
      kept_checkpoint: { origin: kept.origin, size: kept.size, extended: true, signature: 'not proved' },
    })
  }
  const plain = await verify(file('data'), '--checkpoint', file('kept.txt'))
  t.match(plain, { exitCode: 0, stdout: /The signature of the checkpoint was not checked: no --key/ })
  const stranger = spawnSync('python3', ['spec/formats/verify_checkpoint.py', '--key', key, file('kept.txt')])
  t.equal(stranger.stdout.toString(), 'signature: passed\n')
})

function build(operation: string): SignedJournal {
  return new SignedJournal().records(6, operation).seal().records(20).sign()
}

test('what does not extend it is refused by name', async (t) => {
  const root = t.testdir()
  const file = (name: string, text: string) => {
    writeFileSync(join(root, name), text)
    return join(root, name)
  }
  const [honest, rewritten] = [build('s3:PUT'), build('s3:DELETE')]
  rewritten.builder.write(join(root, 'journal'), rewritten.builder.head())
  const asked = (note: string, ...words: string[]) => verify(root, '--checkpoint', note, ...words)
  const key = verifierKeyText(honest.origin, honest.key.publicKey)
  const other = verifierKeyText(honest.origin, Buffer.from('44'.repeat(32), 'hex'))
  const stranger = 'other.log/0123456789abcdef0123456789abcdef'
  const kept = file('kept.txt', honest.note(12))
  t.match(await asked(kept, '--key', key), {
    exitCode: 21,
    stdout: /sequence 11: rewritten since a checkpoint: .*\n[^]*NOT extends the checkpoint of 12 records/,
  })
  const longer = file('longer.txt', honest.records(40).note())
  t.match(await asked(longer, '--key', key), { exitCode: 24, stdout: /rolled back behind a checkpoint: / })
  const refused: readonly (readonly [note: string, words: readonly string[], exitCode: number, stderr: RegExp])[] = [
    [kept, ['--key', other], 8, /kept\.txt has no valid signature of the key/],
    [file('changed.txt', honest.note(12).replace('\n12\n', '\n13\n')), ['--key', key], 8, /no valid signature/],
    [
      kept,
      ['--key', verifierKeyText(stranger, honest.key.publicKey)],
      8,
      /is a checkpoint of the log spec\.log.*the key is that of other\.log/,
    ],
    [
      file('strange.txt', honest.note(12, honest.key, stranger)),
      [],
      8,
      /the checkpoint is of another log: its origin is other\.log/,
    ],
    [file('none.txt', 'no checkpoint'), [], 8, /none\.txt: the text is not a checkpoint/],
    [kept, ['--key', 'no key'], 2, /--key: the key is not an Ed25519 key/],
    [join(root, 'missing.txt'), [], 4, /missing\.txt/],
  ]
  for (const [note, words, exitCode, stderr] of refused) {
    t.match(await asked(note, ...words), { exitCode, stdout: '', stderr }, `${stderr}`)
  }
  t.match(await verify(root, '--key', key), {
    exitCode: 2,
    stderr: /--key is that of a --checkpoint or of --since, which are missing/,
  })
})
