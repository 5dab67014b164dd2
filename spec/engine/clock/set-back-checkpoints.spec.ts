/**
 * Checkpoints before, while and after the clock of the host was ahead and the journal was set back: one log that only grows, with
 * the times of the host, for every verifier.
 */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { noteOf } from '../../../projections/checkpoints/checkpoint-log.ts'
import { run } from '../../cli/command-runner.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../../support/commands.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { signedHistory } from '../../support/signed-history.ts'
import { openTestStore } from '../../support/test-store.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

interface Life {
  readonly root: string
  /** One for each step. */
  readonly checkpoints: readonly CheckpointState[]
  /** From each of them to the last one, with its note. */
  readonly proofs: readonly string[]
  readonly publicKey: Buffer
}

/** A store that signs before, while its host is two days ahead, behind its journal, just set back, and later. */
async function live(t: Test): Promise<Life> {
  const root = t.testdir()
  let now = START
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now })
  const audit = auditOf('POST /api/v1/clock/set-back', 'clock')
  const write = async (name: string) => {
    await store.client.execute(createBucket(name))
    now += MINUTE
    await signing.settle()
  }
  await write('before')
  now += 2 * DAY
  await write('ahead')
  now -= 2 * DAY
  await write('behind')
  await store.client.execute({ kind: 'set-clock-back', audit, reason: 'the clock was ahead' })
  now += MINUTE
  await signing.settle()
  await write('after')
  const checkpoints = signing.reader.after(-1, 100)
  const proofs = checkpoints.slice(0, -1).map(({ size }) => signing.log.consistency(size, undefined))
  t.same([signing.rollbacks, signing.discarded, signing.worker.facts.refusal], [[], [], undefined])
  await signing.close()
  await store.close(true)
  return { root, checkpoints, proofs, publicKey: signing.publicKey }
}

/** What the verifier of checkpoints in Python says of an old and a new note and what joins them. */
function stranger(root: string, key: string, old: string, proof: string): string {
  const [oldPath, proofPath, newPath] = ['old.txt', 'since.proof', 'new.txt'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(oldPath, old)
  writeFileSync(proofPath, proof)
  writeFileSync(newPath, proof.slice(proof.indexOf('\n\n') + 2))
  const words = [
    'spec/formats/verify_checkpoint.py',
    newPath,
    '--key',
    key,
    '--old',
    oldPath,
    '--consistency',
    proofPath,
  ]
  const { stdout, stderr, status } = spawnSync('python3', words, { encoding: 'utf8' })
  return `${status} ${stdout}${stderr}`
}

test('checkpoints across a journal that was set back', { timeout: 120_000 }, async (t) => {
  const { root, checkpoints, proofs, publicKey } = await live(t)
  t.equal(checkpoints.length, 5, 'each interval has one, also while the clock is behind')
  const [first] = checkpoints as [CheckpointState]
  const key = verifierKeyText(first.origin, publicKey)
  t.same(signedHistory(root).faults, [], 'each names the one before, and covers what it says')
  t.ok(new Set(checkpoints.map(({ origin }) => origin)).size === 1, 'it is one log')
  for (const [index, { size, timeMicroseconds }] of checkpoints.entries()) {
    t.ok(size > (checkpoints[index - 1]?.size ?? 0), 'and it grows')
    const offset = timeMicroseconds / 1000 - START
    const ahead = index === 1 ? 2 * DAY : 0
    t.ok(offset >= ahead && offset < ahead + 10 * MINUTE, `checkpoint ${index} has the time of the host: ${offset}`)
  }
  const back = journalEntries(root).find(({ changes }) => changes.some(({ name }) => name === 'clock.set-back'))
  t.ok(back !== undefined && checkpoints.some(({ sequence }) => sequence < back.sequence))
  t.ok(checkpoints.some(({ sequence }) => sequence > (back?.sequence ?? Number.NaN)))
  for (const [index, proof] of proofs.entries()) {
    const said = stranger(root, key, noteOf(checkpoints[index] as CheckpointState), proof)
    t.match(said, /^0 /, `from checkpoint ${index}: ${said}`)
  }
  const journal = join(root, 'journal')
  t.match(await verifyAtRest(journal), { intact: true, problems: [], checkpoints: { count: 5 } })
  t.match(askStranger(journal), [/^intact /])
  for (const checkpoint of checkpoints) {
    const kept = join(root, 'kept.txt')
    writeFileSync(kept, noteOf(checkpoint))
    const { exitCode, stdout } = await run(['journal', 'verify', root, '--checkpoint', kept, '--key', key])
    t.equal(exitCode, 0)
    t.match(stdout, 'extends     the checkpoint of ')
  }
})

test('journal show --since has the records of the time when the clock was ahead', async (t) => {
  const { root } = await live(t)
  const since = new Date(START + DAY).toISOString()
  const { exitCode, stdout, stderr } = await run(['journal', 'show', root, '--since', since])
  t.same([exitCode, stderr], [0, ''])
  const shown = stdout.trimEnd().split('\n')
  const ahead = journalEntries(root).filter(({ timeMicroseconds }) => timeMicroseconds / 1000 >= START + DAY)
  t.ok(ahead.length >= 3)
  t.same(
    shown
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence)
      .filter((one) => ahead.some(({ sequence }) => sequence === one)),
    ahead.map(({ sequence }) => sequence),
  )
})

test('a store without projections and trees has the same checkpoints, and goes on signing', async (t) => {
  const { root, checkpoints, proofs } = await live(t)
  for (const name of ['projections', 'snapshots']) rmSync(join(root, name), { recursive: true, force: true })
  let now = START + DAY
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now })
  t.same(signing.reader.after(-1, 100), checkpoints)
  await store.client.execute(createBucket('later'))
  now += MINUTE
  await signing.settle()
  t.same(
    checkpoints.slice(0, -1).map(({ size }) => signing.log.consistency(size, checkpoints.at(-1)?.size)),
    proofs,
    'the trees are the same',
  )
  t.equal(signing.reader.after(-1, 100).length, 6)
  t.notOk(signing.worker.facts.refusal)
  await signing.close()
  await store.close(true)
  t.same(signedHistory(root).faults, [])
})
