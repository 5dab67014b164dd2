/** The key of the log is handed over: by an administrator, by a change of the master key, and in no other way (T11). */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import { storeKeys } from '../../engine/keys/store-keys.ts'
import {
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import {
  handoverFile,
  handoverText,
  keyForSize,
  readHandovers,
  type SignedHandover,
} from '../../engine/checkpoints/key-handover.ts'
import type { CheckpointState, HandoverState } from '../../engine/checkpoints/state.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { signingOf, type TestSigning } from '../support/checkpoint-signing.ts'
import { auditOf, createBucket } from '../support/commands.ts'
import { MASTER_KEY, openTestStore, roomyDisk, type TestStore } from '../support/test-store.ts'

const MINUTE = 60_000
const OTHER_KEY = Buffer.alloc(32, 0x17)
const AUDIT = auditOf('management:rotateCheckpointKey', 'log')

function keysOf({ deploymentId }: TestStore, masterKey = MASTER_KEY): CheckpointKeys {
  return new CheckpointKeys(storeKeys(masterKey, Buffer.from(deploymentId, 'hex')))
}

async function storeAndWorker(root: string, keysFor = keysOf, options: Parameters<typeof signingOf>[1] = {}) {
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const keys = keysFor(store)
  const signing = signingOf(store, { clock: () => now, keys, ...options })
  let count = 0
  const sign = async (): Promise<CheckpointState> => {
    count += 1
    await store.client.execute(createBucket(`bucket-${count}-${now % MINUTE}`))
    now += MINUTE
    await signing.settle()
    return signing.reader.state().last as CheckpointState
  }
  return { store, signing, keys, sign, pass: (milliseconds: number) => void (now += milliseconds) }
}

/** What an administrator's request does. */
function rotate(
  store: TestStore,
  signing: TestSigning,
  keys: CheckpointKeys,
  change = (one: Omit<HandoverState, 'sequence'>) => one,
) {
  const { last, handover } = signing.reader.state()
  const made = change(keys.handOver({ last: last as CheckpointState, handover }))
  return store.client.execute({ kind: 'rotate-checkpoint-key', audit: AUDIT, handover: made })
}

function vkey({ origin, publicKey }: Pick<CheckpointState, 'origin' | 'publicKey'>): string {
  return verifierKeyText(origin, publicKey)
}

const python = (program: string, ...given: readonly string[]) =>
  execFileSync('python3', [join('spec/formats', program), ...given], { encoding: 'utf8' })

const verified = (store: TestStore, masterKey = MASTER_KEY) =>
  verifyJournal(store.paths.journal, { threads: 0, settleMilliseconds: 0, masterKey })

test('the next checkpoint is signed by the new key, and whoever trusts the old one follows the hand-over', async (t) => {
  const { store, signing, keys, sign } = await storeAndWorker(t.testdir())
  const first = await sign()
  t.same(Buffer.from(first.publicKey), keys.newest(0).publicKey)
  await rotate(store, signing, keys)
  const second = await sign()
  t.same(Buffer.from(second.publicKey), keys.newest(1).publicKey)
  t.equal(second.origin, first.origin)
  await rotate(store, signing, keys)
  const third = await sign()
  t.same(Buffer.from(third.publicKey), keys.newest(2).publicKey)
  t.match(signing.worker.facts, { refusal: undefined })

  const file = handoverFile(signing.log.handovers())
  const read = readHandovers(file)
  t.match(read, [{ size: first.size }, { size: second.size }])
  const trusted = readVerifierKey(vkey(first))
  for (const one of [first, second, third]) {
    t.ok(isSignedBy(readCheckpointNote(noteOf(one)), keyForSize(trusted, one.size, read)), `of ${one.size}`)
  }
  const behind = keys.newest(0)
  t.notOk(keyForSize(trusted, first.size + 1, read).publicKey.equals(behind.publicKey), 'the old key signs no more')

  const at = (name: string) => join(store.paths.root, name)
  for (const [name, text] of [
    ['first.txt', noteOf(first)],
    ['third.txt', noteOf(third)],
    ['handovers.txt', file],
  ] as const) {
    writeFileSync(at(name), text)
  }
  t.match(
    python('verify_checkpoint.py', at('third.txt'), '--key', vkey(first), '--handovers', at('handovers.txt')),
    'signature: passed',
  )
  t.throws(() => python('verify_checkpoint.py', at('third.txt'), '--key', vkey(first)), /Command failed/)
  t.throws(
    () => python('verify_checkpoint.py', at('first.txt'), '--key', vkey(third), '--handovers', at('handovers.txt')),
    /Command failed/,
  )

  await signing.close()
  await store.close(true)
  t.match(await verified(store), {
    intact: true,
    notes: [],
    checkpoints: { count: 3, handovers: [{ size: first.size }, { size: second.size }] },
  })
  t.match(python('verify_journal.py', store.paths.journal), /^intact /)
})

test('after a restart, and with the projections made again, the same key signs', async (t) => {
  const root = t.testdir()
  const begun = await storeAndWorker(root)
  await begun.sign()
  await rotate(begun.store, begun.signing, begun.keys)
  const rotated = await begun.sign()
  const before = begun.signing.reader.handovers()
  await begun.signing.close()
  await begun.store.kill()
  rmSync(begun.store.paths.projections, { recursive: true })
  const again = await storeAndWorker(root)
  t.same(again.signing.reader.handovers(), before)
  again.pass(10 * MINUTE)
  const next = await again.sign()
  t.same(next.publicKey, rotated.publicKey)
  await again.signing.close()
  await again.store.close(true)
  t.match(await checkProjections(roomyDisk, again.store.paths), { differenceCount: 0 })
  t.match(await verified(again.store), { intact: true, notes: [] })
})

test('a change of the master key hands over by itself: who has the old master key signs no more', async (t) => {
  const root = t.testdir()
  const begun = await storeAndWorker(root)
  const first = await begun.sign()
  await rotate(begun.store, begun.signing, begun.keys)
  await begun.signing.close()
  await begun.store.close(true)
  const changed = await openTestStore(root, { masterKey: OTHER_KEY, previousMasterKey: MASTER_KEY })
  t.ok(changed.report.changedMasterKey)
  const keys = keysOf(changed, OTHER_KEY)
  const signing = signingOf(changed, { keys, clock: () => Date.now() + 60 * MINUTE })
  const [, second] = signing.reader.handovers()
  t.match(second, { generation: 2, size: first.size, origin: first.origin })
  t.same(Buffer.from(second?.newKey ?? []), keys.newest(2).publicKey)
  t.notSame(keys.newest(2).publicKey, begun.keys.newest(2).publicKey)
  await changed.client.execute(createBucket('after'))
  await signing.settle()
  const last = signing.reader.last() as CheckpointState
  t.same(Buffer.from(last.publicKey), keys.newest(2).publicKey)
  t.ok(
    isSignedBy(
      readCheckpointNote(noteOf(last)),
      keyForSize(readVerifierKey(vkey(first)), last.size, readHandovers(handoverFile(signing.log.handovers()))),
    ),
  )
  await signing.close()
  await changed.close(true)
  t.match(await verified(changed, OTHER_KEY), { intact: true, notes: [], checkpoints: { handovers: [{}, {}] } })
  t.match(python('verify_journal.py', changed.paths.journal), /^intact /)
})

test('a store without checkpoints has nothing to hand over, and begins with a key of its newest master key', async (t) => {
  const root = t.testdir()
  await (await openTestStore(root)).close(true)
  const changed = await openTestStore(root, { masterKey: OTHER_KEY, previousMasterKey: MASTER_KEY })
  const keys = keysOf(changed, OTHER_KEY)
  const signing = signingOf(changed, { keys })
  t.same(signing.reader.handovers(), [])
  await signing.settle()
  t.same(Buffer.from(signing.reader.last()?.publicKey ?? []), keys.newest(0).publicKey)
  await signing.close()
  await changed.close(true)
})

test('refused by name: nothing signed yet, one withheld, twice in one turn, another key, another log, back to an old key', async (t) => {
  let withholds = false
  const { store, signing, keys, sign } = await storeAndWorker(t.testdir(), keysOf, { withholds: () => withholds })
  const other = new CheckpointKeys({
    checkpointSigning: Buffer.alloc(32, 1),
    checkpointGenerations: Buffer.alloc(32, 2),
    earlier: [],
  })
  const unsigned: Partial<CheckpointState> = {
    origin: 'x',
    size: 1,
    root: Buffer.alloc(32),
    publicKey: other.newest(0).publicKey,
  }
  const early = other.handOver({ last: unsigned as CheckpointState, handover: undefined })
  await t.rejects(store.client.execute({ kind: 'rotate-checkpoint-key', audit: AUDIT, handover: early }), {
    code: 'checkpoint-missing',
  })
  await sign()
  const twice = await Promise.allSettled([rotate(store, signing, keys), rotate(store, signing, keys)])
  t.match(twice, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'checkpoint-key-unused' } }])
  await t.rejects(rotate(store, signing, keys), { code: 'checkpoint-key-unused' })
  const last = await sign()

  const resign =
    (changed: Partial<SignedHandover>, oldKey = keys.newest(1), newKey = keys.newest(2)) =>
    (one: Omit<HandoverState, 'sequence'>) => {
      const statement = { ...one, ...changed }
      const text = handoverText(statement)
      return { ...statement, oldSignature: oldKey.sign(text), newSignature: newKey.sign(text) }
    }
  const refused: readonly (readonly [
    string,
    (one: Omit<HandoverState, 'sequence'>) => Omit<HandoverState, 'sequence'>,
  ])[] = [
    ['it is for another origin', resign({ origin: 'other.log' })],
    ['the old key is not the one in force', resign({ oldKey: keys.newest(0).publicKey }, keys.newest(0))],
    ['it goes back to an old key', resign({ newKey: keys.newest(0).publicKey }, keys.newest(1), keys.newest(0))],
    ['it goes back to an old key', resign({ newKey: keys.newest(1).publicKey }, keys.newest(1), keys.newest(1))],
    ['it is not the next generation', (one) => ({ ...one, generation: 3 })],
    ['it does not name the last checkpoint', resign({ size: last.size - 1 })],
    ['it is not signed by both keys', (one) => ({ ...one, oldSignature: one.newSignature })],
    ['it is not signed by both keys', (one) => ({ ...one, newSignature: one.oldSignature })],
  ]
  for (const [subject, change] of refused) {
    await t.rejects(rotate(store, signing, keys, change), { code: 'checkpoint-handover-refused', subject })
  }
  await t.rejects(
    store.client.execute({
      kind: 'sign-checkpoint',
      audit: AUDIT,
      checkpoint: { ...last, size: last.sequence + 1, publicKey: keys.newest(0).publicKey },
      after: last.sequence,
    }),
    { code: 'checkpoint-key-changed' },
  )
  withholds = true
  await sign()
  await t.rejects(rotate(store, signing, keys), { code: 'checkpoint-withheld' })
  t.equal(signing.reader.handovers().length, 1)
  await signing.close()
  await store.close(true)
  t.match(await verified(store), { intact: true, checkpoints: { handovers: [{}] } })
})

test('a key that this store cannot make signs nothing, and the message says which', async (t) => {
  const { keys, store, signing, sign } = await storeAndWorker(t.testdir())
  await sign()
  const strange = { last: { publicKey: Buffer.alloc(32, 5) }, handover: undefined }
  t.throws(() => keys.inForce(strange), { name: 'CheckpointKeyError', message: /0505/ })
  await signing.close()
  await store.close(true)
})

test('files of hand-overs that are none, are signed by one key, or contradict each other', async (t) => {
  const { store, signing, keys, sign } = await storeAndWorker(t.testdir())
  const first = await sign()
  await rotate(store, signing, keys)
  await sign()
  const [handover] = signing.log.handovers() as [HandoverState]
  const file = handoverFile([handover])
  const trusted = readVerifierKey(vkey(first))
  t.same(readHandovers(''), [])
  for (const [text, message] of [
    ['hello', /not one of hand-overs/],
    [noteOf(first), /not one of hand-overs/],
    [file.replace(/\n$/, ''), /not one of hand-overs/],
    [file.replace(/\n— [^\n]*\n$/, '\n'), /not signed by the new key/],
    [file.replace(/\n\n— [^\n]*\n/, '\n\n'), /not signed by the old key/],
    [file.replace(`\n${first.size}\n`, `\n${first.size + 1}\n`), /not signed/],
    [file.replaceAll('spec.log', 'spec.lag'), /key/],
  ] as const) {
    t.throws(() => readHandovers(text), { name: 'CheckpointNoteError', message })
    writeFileSync(join(store.paths.root, 'forged.txt'), text)
    writeFileSync(join(store.paths.root, 'note.txt'), noteOf(first))
    const given = [
      join(store.paths.root, 'note.txt'),
      '--key',
      vkey(first),
      '--handovers',
      join(store.paths.root, 'forged.txt'),
    ]
    t.throws(() => python('verify_checkpoint.py', ...given), /Command failed/)
  }
  const [one] = readHandovers(file)
  if (one === undefined) throw new Error('no hand-over was read')
  const back = { ...one, oldKey: one.newKey, newKey: one.oldKey }
  const fork = { ...one, newKey: readVerifierKey(verifierKeyText(first.origin, keys.newest(5).publicKey)) }
  t.throws(() => keyForSize(trusted, 1, [one, fork]), { message: /two keys/ })
  t.throws(() => keyForSize(trusted, 2 ** 40, [one, back]), { message: /goes back/ })
  await signing.close()
  await store.close(true)
})
