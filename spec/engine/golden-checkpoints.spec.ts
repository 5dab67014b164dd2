/** The golden journal with checkpoints. */
import { test } from 'tap'
import { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { storeKeys } from '../../engine/keys/store-keys.ts'
import {
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import { handoverFile, keyForSize, readHandovers } from '../../engine/checkpoints/key-handover.ts'
import type { HandoverState } from '../../engine/checkpoints/state.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import { OtherLog } from '../support/other-log.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import {
  copyGolden,
  GOLDEN_DEPLOYMENT,
  GOLDEN_JOURNALS,
  GOLDEN_MASTER_KEY,
  openGolden,
} from '../support/journals/golden-journals.ts'

test('golden journal 12: its checkpoints are signed with the key of the store, over the trees of its records', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[11])
  const store = await openGolden(paths)
  const key = new SigningKey(storeKeys(GOLDEN_MASTER_KEY, Buffer.from(GOLDEN_DEPLOYMENT, 'hex')).checkpointSigning)
  const signing = signingOf(
    { ...store, paths },
    { name: 'golden.log', key, clock: () => Date.UTC(2026, 10, 23, 16, 2) },
  )
  const signed = signing.reader.after(-1, 9)
  t.match(signed, [{ size: 125 }, { size: 128 }, { size: 132 }])
  const origin = `golden.log/${GOLDEN_DEPLOYMENT}`
  for (const checkpoint of signed) {
    const note = readCheckpointNote(noteOf(checkpoint))
    t.ok(isSignedBy(note, readVerifierKey(verifierKeyText(origin, key.publicKey))))
  }
  await signing.settle()
  const [first, , last] = signed
  t.equal(
    Buffer.from(last?.root ?? []).toString('hex'),
    'af3e73f49c355f7dac5167f994ee2260409a67eafcf56aade333691c121d39d5',
  )
  t.match(signing.log.consistency(first?.size ?? 0, last?.size), /^old 125\n/)
  await signing.close()
  await store.close(true)
})

test('golden journal 14: receipts of its checkpoints, and a checkpoint that was withheld until it had one', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[13])
  const store = await openGolden(paths)
  const signing = signingOf({ ...store, paths })
  t.match(signing.reader.receiptsOf(128), [{ kind: 'rfc3161', giver: 'https://tsa.example/' }])
  t.match(signing.reader.receiptsOf(132), [{ kind: 'cosignature' }, { kind: 'lock', assertedMicroseconds: undefined }])
  t.match(signing.reader.receiptsOf(138), [{ kind: 'rfc3161', assertedMicroseconds: 1_795_000_002_000_000 }])
  t.equal(signing.reader.receiptsAfter(1, 0, 9).length, 4)
  t.match(signing.reader.state(), { withheld: undefined, last: { size: 138 } })
  t.match(signing.log.note(), /\n138\n/)
  t.match(signing.log.noteOf(signing.log.ofSize(132)), /\n— witness\.example\/w1 /)
  await signing.close()
  await store.close(true)
})

test('golden journal 15: what its store has seen of other logs', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[14])
  const store = await openGolden(paths)
  const signing = signingOf({ ...store, paths })
  const [one, two] = [new OtherLog('other.example/log'), new OtherLog('two.example/log', { seed: 6 })]
  const first = signing.reader.witnessed(one.origin)
  t.match(first, { size: 70_000, root: one.root(70_000), publicKey: one.key.publicKey })
  t.equal((first?.sequence ?? 0) - (first?.first.sequence ?? 0), 4, 'and since when')
  t.match(signing.reader.allWitnessed(), [{ origin: one.origin }, { origin: two.origin, size: 1, root: two.root(1) }])
  await signing.close()
  await store.close(true)
})

test('golden journal 16: the key of its log was handed over, and the new one is made of the key of the store', async (t) => {
  const paths = copyGolden(t.testdir(), GOLDEN_JOURNALS[15])
  const store = await openGolden(paths)
  const signing = signingOf({ ...store, paths })
  const keys = new CheckpointKeys(storeKeys(GOLDEN_MASTER_KEY, Buffer.from(GOLDEN_DEPLOYMENT, 'hex')))
  const [handover, ...others] = signing.reader.handovers() as [HandoverState]
  t.same(others, [])
  t.match(handover, { generation: 1, size: 138, origin: `golden.log/${GOLDEN_DEPLOYMENT}` })
  const digits = 'fc3cfa77e5b713329767fa190bc11c4486ec634a0b7d15101b90e79740deb662'
  t.equal(keys.newest(1).publicKey.toString('hex'), digits, 'a generation is what it always was')
  const trusted = readVerifierKey(verifierKeyText(handover.origin, keys.newest(0).publicKey))
  const key = keyForSize(trusted, 145, readHandovers(handoverFile([handover])))
  t.equal(key.publicKey.toString('hex'), digits)
  t.ok(isSignedBy(readCheckpointNote(signing.log.note()), key))
  t.same(keys.inForce(signing.reader.state()).publicKey, key.publicKey)
  await signing.close()
  await store.close(true)
})
