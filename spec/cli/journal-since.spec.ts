/** `journal verify --since`: a verification that goes on from where an earlier one came to, and what it looks at. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { ChainVerdicts } from '../../engine/journal/chain-verdicts.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { FIRST, history, KeptJournal, python } from '../support/journals/kept-journal.ts'
import { logRoot, SignedJournal } from '../support/journals/signed-journal.ts'
import { type Outcome, run } from './command-runner.ts'

function verify(...words: readonly string[]): Promise<Outcome> {
  return run(['journal', 'verify', '--threads', '2', ...words])
}

/** A note with its state, by a whole verification. */
async function stateAt(kept: KeptJournal, size: number): Promise<string> {
  const note = kept.note(size)
  await verify(kept.journal, '--checkpoint', note, '--key', kept.key, '--keep-state')
  return note
}

const SIZES = [1, 2, 3, 8, 11, 12, 13, 24, 41, 42, 43, 44, 45, 60] as const

test('it goes on from each state, and both verifiers keep the same ones', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, signed, key } = kept
  const root = logRoot(signed.hashes(signed.size)).toString('base64')
  const states: Record<number, unknown> = {}
  for (const size of SIZES) states[size] = JSON.parse(readFileSync(`${await stateAt(kept, size)}.state`, 'utf8'))
  for (const size of SIZES) {
    const since = join(kept.root, `${size}.txt`)
    const outcome = await verify(journal, '--since', since, '--key', key)
    t.match(outcome, { exitCode: 0, stderr: '', stdout: /^The journal is intact\./ }, `from ${size} on`)
    t.ok(outcome.stdout.includes(`\nroot        of ${signed.size} records: ${root}\n`), 'the root of all records')
    t.ok(outcome.stdout.includes(`\nhead        ${signed.size - 1}:${signed.builder.lastHash.toString('hex')}\n`))
    t.match(outcome.stdout, /: earlier segments were not read\n/)
    t.match(outcome.stdout, /The records that the checkpoint covers are those that it was made of/)
    for (const next of SIZES.filter((one) => one >= size).slice(0, 3)) {
      const note = kept.note(next)
      const more = await verify(journal, '--since', since, '--checkpoint', note, '--key', key, '--keep-state')
      t.match(more, { exitCode: 0, stdout: /^extends {5}the checkpoint/m }, `${size} to ${next}`)
      t.same(JSON.parse(readFileSync(`${note}.state`, 'utf8')), states[next], 'the state of a whole verification')
    }
  }
  for (const size of [1, 11, 24, 45]) {
    t.match(python(journal, '--since', join(kept.root, `${size}.txt`), '--key', key).status, 0, 'Python takes it')
    t.same(JSON.parse(readFileSync(`${kept.state(size)}.state`, 'utf8')), states[size], 'and keeps the same')
  }
  const { stdout } = await verify(journal, '--json', '--since', join(kept.root, '24.txt'))
  t.match(JSON.parse(stdout), { intact: true, since: { origin: signed.origin, size: 24 }, first_sequence: 12 })
})

test('what it reads, and what it does not look at again', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = await stateAt(kept, FIRST.kept)
  const flipped = [
    [5, 0],
    [30, 0],
    [FIRST.segment, 21],
    [FIRST.kept - 1, 21],
    [FIRST.kept, 21],
    [55, 21],
  ] as const
  for (const [sequence, exitCode] of flipped) {
    const [segment, offset] = kept.offsetOf(sequence)
    kept.flip(segment, offset + 90)
    t.equal((await verify(kept.journal)).exitCode, 21, `a whole verification sees record ${sequence}`)
    const outcome = await verify(kept.journal, '--since', since, '--key', kept.key)
    t.equal(outcome.exitCode, exitCode, `since a checkpoint, record ${sequence}`)
    kept.flip(segment, offset + 90)
  }
})

test('a history that was written anew, with every hash', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = await stateAt(kept, FIRST.kept)
  const ask = () => verify(kept.journal, '--since', since, '--key', kept.key)
  kept.write(history('s3:GET'))
  t.match(await ask(), {
    exitCode: 21,
    stdout: /sequence 44: rewritten since a checkpoint: the checkpoint to go on from/,
  })
  const other = new SigningKey(Buffer.alloc(32, 3))
  const signed = new SignedJournal().records(5).seal().records(3)
  const short = new KeptJournal(t.testdir(), signed)
  const early = await stateAt(short, 8)
  short.write(signed.records(1).sign(signed.size, (stated) => (stated.key = other)))
  t.match(
    await verify(short.journal, '--since', early, '--key', short.key),
    { exitCode: 21, stdout: /checkpoint does not hold: it has the key .*, and nothing handed over to it/ },
    'another key signs what comes after the place',
  )
})

test('a record that was noted elsewhere is compared, or refused when --since does not read it', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = await stateAt(kept, FIRST.kept)
  const hashes = kept.signed.hashes(kept.signed.size).map((hash) => Buffer.from(hash).toString('hex'))
  const ask = (sequence: number, hash = hashes[sequence]) =>
    verify(kept.journal, '--since', since, '--key', kept.key, '--expect-head', `${sequence}:${hash}`)
  t.match(await ask(FIRST.segment), { exitCode: 0, stdout: /^The journal is intact\./ })
  t.match(await ask(FIRST.segment, '11'.repeat(32)), { exitCode: 21, stdout: /the caller knows this record/ })
  const refused = new RegExp(
    `record 41 of --expect-head is before record ${FIRST.segment}, from which --since reads on`,
  )
  for (const hash of [hashes[41], '11'.repeat(32)]) {
    t.match(await ask(FIRST.segment - 1, hash), { exitCode: 2, stdout: '', stderr: refused })
  }
  t.match(await verify(kept.journal, '--expect-head', `41:${'11'.repeat(32)}`), { exitCode: 21 })
})

test('a verdict from a state is about a part of the chain, also in the first segment', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = await stateAt(kept, 8)
  const deployment = kept.signed.builder.deploymentId.toString('hex')
  const verdicts = new ChainVerdicts(nodeDisk, new StorePaths(kept.root), deployment)
  t.match(await verify('--data-dir', kept.root), { exitCode: 0 })
  const { whole } = verdicts.read()
  t.match(whole, { from: 0, program: 'journal verify' })
  t.match(await verify('--data-dir', kept.root, '--since', since, '--key', kept.key), { exitCode: 0 })
  t.same(verdicts.read().whole, whole)
  t.match(verdicts.read().part, { from: 1, through: kept.signed.size - 1 })
})

test('a state that is not that of the note, a shorter journal and a missing segment are refused by name', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, key, signed } = kept
  const since = await stateAt(kept, FIRST.kept)
  const path = `${since}.state`
  const right = readFileSync(path, 'utf8')
  const values = JSON.parse(right) as Record<string, unknown>
  const [, ...tops] = values['tops'] as string[]
  const hash = '11'.repeat(32)
  const cases: readonly (readonly [edit: object | string, stderr: RegExp])[] = [
    [{ last_record: hash }, /is not the state of this checkpoint: it does not hash to its root/],
    [{ tops: [hash, ...tops] }, /is not the state of this checkpoint: it does not hash to its root/],
    [{ tops }, /has not the form of a state/],
    [{ size: 44 }, /45\.txt\.state /],
    [{ origin: 'other' }, /is not the state of this checkpoint/],
    [{ format_version: 2 }, /has not the form of a state/],
    [{ segment: 45 }, /has not the form of a state/],
    ['{', /has not the form of a state/],
    ['null', /has not the form of a state/],
  ]
  for (const [edit, stderr] of cases) {
    writeFileSync(path, typeof edit === 'string' ? edit : JSON.stringify({ ...values, ...edit }))
    t.match(await verify(journal, '--since', since, '--key', key), { exitCode: 8, stdout: '', stderr }, `${stderr}`)
  }
  rmSync(path)
  t.match(await verify(journal, '--since', since), { exitCode: 4, stderr: /45\.txt\.state/ }, 'no state')
  writeFileSync(path, right)
  const early = await verify(journal, '--since', since, '--checkpoint', kept.note(24))
  t.match(early, { exitCode: 2, stderr: /an earlier one than that of --since/ })
  t.match(await verify(journal, '--keep-state'), { exitCode: 2, stderr: /--keep-state is that at a --checkpoint/ })
  const third = signed.builder.segments[2]?.name ?? ''
  rmSync(join(journal, third))
  rmSync(join(journal, 'HEAD'))
  t.match(await verify(journal, '--since', since), {
    exitCode: 24,
    stderr: /the journal ends before it: it was rolled back/,
  })
  signed.seal().records(1)
  kept.write(signed)
  rmSync(join(journal, third))
  t.match(await verify(journal, '--since', since), {
    exitCode: 21,
    stderr: new RegExp(`${third}, where the state goes on`),
  })
})

test('a journal that ends in the segment of the place, before it', async (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = await stateAt(kept, 60)
  const shorter = new SignedJournal()
    .records(10, 's3:PUT')
    .seal()
    .records(12)
    .sign()
    .records(9)
    .sign()
    .records(6)
    .seal()
  kept.write(shorter.records(5))
  const outcome = await verify(kept.journal, '--since', since, '--key', kept.key)
  t.match(outcome, { exitCode: 24, stdout: /rolled back behind a checkpoint: the checkpoint to go on from covers 60/ })
})

test('no state is kept of a journal that is not right, and a verdict of a part is one', async (t) => {
  const root = t.testdir()
  const kept = new KeptJournal(root)
  const since = await stateAt(kept, FIRST.kept)
  const outcome = await verify('--data-dir', root, '--since', since, '--key', kept.key)
  t.equal(outcome.exitCode, 0)
  const verdicts = JSON.parse(readFileSync(new StorePaths(root).verified, 'utf8').slice(9)) as {
    part?: object
    whole?: object
  }
  t.match(verdicts, { part: { from: 42 } })
  t.equal(verdicts.whole ?? null, null)
  kept.flip(0, 600)
  t.notOk(existsSync(`${await stateAt(kept, 24)}.state`))
})
