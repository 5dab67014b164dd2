/**
 * A note that was kept elsewhere, and a verification that goes on from where an earlier one came to: what the verifier in Python
 * says of a journal, honest or not.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { SigningKey } from '../../../engine/keys/signing-key.ts'
import { FIRST, history, KeptJournal, python, type Said } from '../../support/journals/kept-journal.ts'
import { logRoot, SignedJournal } from '../../support/journals/signed-journal.ts'

test('head, root and key of a journal that is right', (t) => {
  const { journal, signed, key } = new KeptJournal(t.testdir())
  const lines = [
    `intact ${signed.size} records`,
    `head ${signed.size - 1}:${signed.builder.lastHash.toString('hex')}`,
    `root of ${signed.size} records: ${logRoot(signed.hashes(signed.size)).toString('base64')}`,
    `key ${key}`,
  ]
  t.same(python(journal), { status: 0, said: `${lines.join('\n')}\n` })
  t.end()
})

test('a journal is tied to a note that was kept', (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, signed, key, root } = kept
  for (const size of [1, 11, 24, 42, 43, signed.size]) {
    const { status, said } = python(journal, '--checkpoint', kept.note(size), '--key', key)
    t.equal(status, 0, `${size}`)
    t.match(said, new RegExp(`^extends the checkpoint of ${size} records of ${signed.origin}$`, 'm'))
  }
  t.match(python(journal, '--checkpoint', kept.note(24)), { status: 0, said: /^signature: not proved, no --key$/m })
  const other = verifierKeyText(signed.origin, new SigningKey(Buffer.alloc(32, 3)).publicKey)
  const stranger = 'other.log/0123456789abcdef0123456789abcdef'
  const cases: readonly (readonly [note: string, words: readonly string[], said: RegExp])[] = [
    [kept.note(24), ['--key', other], /the checkpoint: it is not signed by the key/],
    [kept.note(24, signed.note(24).replace('\n24\n', '\n25\n')), ['--key', key], /not signed by the key/],
    [kept.note(24, signed.note(24, signed.key, stranger)), [], /it is of another log: its origin is other\.log/],
    [kept.note(24, signed.note(24, signed.key, stranger)), ['--key', key], /of another log than the key/],
    [kept.note(24, 'no note'), [], /refused: the text is not a checkpoint/],
    [join(root, 'none'), [], /No such file/],
    [kept.note(63, history('s3:GET').records(1).note(63)), ['--key', key], /rolled back behind a checkpoint/],
    [kept.note(24, history('s3:GET').note(24)), ['--key', key], /sequence 23: rewritten since a checkpoint/],
  ]
  for (const [note, words, said] of cases) {
    const answer = python(journal, '--checkpoint', note, ...words)
    t.match(answer, { status: 1, said }, `${said}`)
    t.notMatch(answer.said, /^extends|^intact.*$/m)
  }
  t.equal(python(journal, '--key', key).status, 2, 'a key without a note')
  t.end()
})

test('a note by a key after a hand-over, pinned by the key before', (t) => {
  const next = new SigningKey(Buffer.alloc(32, 5))
  const signed = history()
  signed.handOver(next)
  signed.records(2).sign(signed.size, (stated) => (stated.key = next))
  const { size } = signed
  const kept = new KeptJournal(t.testdir(), signed)
  const note = kept.note(size, signed.note(size, next))
  t.match(python(kept.journal, '--checkpoint', note, '--key', kept.key), { status: 0, said: /^extends/m })
  const early = kept.note(24, signed.note(24, next))
  t.match(python(kept.journal, '--checkpoint', early, '--key', kept.key), { status: 1, said: /not signed by the key/ })
  t.end()
})

test('a verification goes on from the state of an earlier one, and keeps the next', (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, signed, key } = kept
  const sizes = [1, 2, 11, 24, 43, signed.size]
  for (const size of sizes) kept.state(size)
  for (const size of sizes) {
    const since = join(kept.root, `${size}.txt`)
    t.ok(existsSync(`${since}.state`), `the state of ${size}`)
    const { status, said } = python(journal, '--since', since, '--key', key)
    t.equal(status, 0, `from ${size} on: ${said}`)
    const left = signed.size - size
    t.match(
      said,
      new RegExp(`^intact ${left} records after those of the checkpoint of ${size}\nhead ${signed.size - 1}:`),
    )
    const root = logRoot(signed.hashes(signed.size)).toString('base64')
    t.ok(said.includes(`\nroot of ${signed.size} records: ${root}\n`), 'the root of all records')
    for (const next of sizes.filter((one) => one >= size).slice(0, 2)) {
      const note = kept.note(next)
      const whole = readFileSync(`${note}.state`, 'utf8')
      const answer = python(journal, '--since', since, '--checkpoint', note, '--key', key, '--keep-state')
      t.match(answer, { status: 0, said: /^extends/m }, `${size} to ${next}`)
      t.equal(readFileSync(`${note}.state`, 'utf8'), whole, 'the state is that of a whole verification')
    }
  }
  const early = python(journal, '--since', join(kept.root, '43.txt'), '--checkpoint', kept.note(24))
  t.match(early, { status: 1, said: /refused: the checkpoint is an earlier one than that of --since/ })
  t.end()
})

test('what --since reads, and what it does not look at again', (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, key } = kept
  const since = kept.state(FIRST.kept)
  const whole = (): number | null => python(journal).status
  const ask = (): Said => python(journal, '--since', since, '--key', key)
  for (const [sequence, isSeen] of [
    [5, false],
    [30, false],
    [FIRST.segment, true],
    [FIRST.kept - 1, true],
    [FIRST.kept, true],
    [60, true],
  ] as const) {
    const [segment, offset] = kept.offsetOf(sequence)
    kept.flip(segment, offset + 90)
    t.equal(whole(), 1, `a whole verification sees record ${sequence}`)
    t.equal(ask().status, isSeen ? 1 : 0, `since a checkpoint, record ${sequence}`)
    kept.flip(segment, offset + 90)
  }
  t.equal(ask().status, 0, 'all bytes are right again')
  t.end()
})

test('a history that was written anew', (t) => {
  const kept = new KeptJournal(t.testdir())
  const since = kept.state(FIRST.kept)
  const ask = (): Said => python(kept.journal, '--since', since, '--key', kept.key)
  kept.write(history('s3:GET'))
  t.match(ask(), { status: 1, said: /sequence 44: rewritten since a checkpoint: the state has another record 44/ })
  const other = new SigningKey(Buffer.alloc(32, 3))
  const signed = history().records(2)
  signed.sign(signed.size, (stated) => (stated.key = other))
  kept.write(signed)
  t.match(ask(), { status: 1, said: /nothing handed over to its key/ }, 'by another key after the place')
  t.end()
})

test('a checkpoint by another key right after the place of a state is refused', (t) => {
  const other = new SigningKey(Buffer.alloc(32, 3))
  const signed = new SignedJournal().records(5).seal().records(3)
  const kept = new KeptJournal(t.testdir(), signed)
  const since = kept.state(8)
  kept.write(signed.records(1).sign(signed.size, (stated) => Object.assign(stated, { key: other })))
  t.match(python(kept.journal, '--since', since, '--key', kept.key), { status: 1, said: /nothing handed over/ })
  t.end()
})

test('a state that is not that of the note, a shorter journal and a missing segment are refused by name', (t) => {
  const kept = new KeptJournal(t.testdir())
  const { journal, key, signed } = kept
  const since = kept.state(FIRST.kept)
  const path = `${since}.state`
  const right = readFileSync(path, 'utf8')
  const values = JSON.parse(right) as Record<string, unknown>
  const edited = (edit: object): string => JSON.stringify({ ...values, ...edit })
  const [top, ...tops] = values['tops'] as string[]
  const hash = '11'.repeat(32)
  const cases: readonly (readonly [text: string, said: RegExp])[] = [
    [edited({ last_record: hash }), /refused: .*it does not hash to its root/],
    [edited({ tops: [hash, ...tops] }), /refused: .*it does not hash to its root/],
    [edited({ tops }), /refused: .*it has another size/],
    [edited({ tops: [top, ...tops, hash] }), /refused: .*it has another size/],
    [edited({ size: 44 }), /refused: .*not the state of this checkpoint/],
    [edited({ origin: 'other' }), /refused: .*not the state of this checkpoint/],
    [edited({ format: 'x' }), /refused: .*not a state of format 1/],
    [edited({ format_version: 2 }), /refused: .*not a state of format 1/],
    [edited({ last_record: 5 }), /refused: .*has not the form of a state/],
    [edited({ segment: '42' }), /refused: /],
    ['{', /refused: .*has not the form of a state/],
    ['[]', /refused: .*has not the form of a state/],
  ]
  for (const [text, said] of cases) {
    writeFileSync(path, text)
    t.match(python(journal, '--since', since, '--key', key), { status: 1, said }, `${said} ${text.slice(0, 40)}`)
  }
  writeFileSync(path, right)
  const other = kept.note(61)
  copyFileSync(path, `${other}.state`)
  t.match(python(journal, '--since', other), { status: 1, said: /not the state of this checkpoint/ })
  rmSync(`${other}.state`)
  t.match(python(journal, '--since', other), { status: 1, said: /No such file/ }, 'no state')
  const [, second, third] = signed.builder.segments.map(({ name }) => name)
  const copy = join(kept.root, 'copy')
  const without = (...names: readonly (string | undefined)[]): string => {
    rmSync(copy, { recursive: true, force: true })
    cpSync(journal, copy, { recursive: true })
    for (const name of names) rmSync(join(copy, name ?? ''))
    return copy
  }
  t.match(python(without(third, 'HEAD'), '--since', since), {
    status: 1,
    said: /rolled back behind a checkpoint: it covers 45 records/,
  })
  t.match(python(without(second), '--since', since), { status: 0 }, 'an earlier segment is not asked for')
  signed.seal().records(1)
  kept.write(signed)
  t.match(python(without(third), '--since', since), {
    status: 1,
    said: new RegExp(`refused: ${third}, where the state goes on, is not there: verify the whole journal`),
  })
  t.end()
})

test('no state is kept of a journal that is not right', (t) => {
  const kept = new KeptJournal(t.testdir())
  kept.flip(0, 600)
  t.notOk(existsSync(`${kept.state(24)}.state`))
  t.equal(python(kept.journal, '--keep-state').status, 2, 'nor without a note')
  t.end()
})

/** The verifier with room for the hashes of eight records, where it has some for 262,144. */
function inLittleRoom(journal: string): Said {
  const set = 'import sys; sys.path.insert(0, "spec/formats"); import verify_history; verify_history.LATE_MAXIMUM = 4'
  const program = `${set}; import verify_journal; sys.exit(verify_journal.verdict(sys.argv[1]))`
  const { status, stdout, stderr } = spawnSync('python3', ['-B', '-c', program, journal], { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

function farBefore(): SignedJournal {
  return new SignedJournal().records(5).seal().records(40)
}

test('checkpoints that cover far less than was before them are checked by a second reading', (t) => {
  const right = new KeptJournal(t.testdir(), farBefore().sign(9).records(20).sign(52))
  t.match(inLittleRoom(right.journal), { status: 0, said: /^intact 69 records/ })
  for (const alter of ['root', 'bundleRoot'] as const) {
    right.write(farBefore().sign(9, (stated) => (stated[alter] = Buffer.alloc(32, 1))))
    t.match(inLittleRoom(right.journal), { status: 1, said: /sequence 47: checkpoint does not hold: of 9 records/ })
  }
  t.end()
})
