/** Journals whose hand-overs of the key are forged, with every hash right, as the verifiers judge them (T11). */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { SigningKey } from '../../../engine/keys/signing-key.ts'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { handoverFile, type SignedHandover } from '../../../engine/checkpoints/key-handover.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { askStranger, verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'
import { SignedJournal, type StatedHandover } from '../../support/journals/signed-journal.ts'

const [SECOND, THIRD, THIEF] = [10, 11, 12].map((seed) => new SigningKey(Buffer.alloc(32, seed))) as [
  SigningKey,
  SigningKey,
  SigningKey,
]
const HANDOVER = 'hand-over does not hold'
const CHECKPOINT = 'checkpoint does not hold'
const signedBy = (key: SigningKey) => (stated: { key: SigningKey }) => void (stated.key = key)

/** A journal of two checkpoints by the first key. */
function begun(): SignedJournal {
  return new SignedJournal().records(4).sign().records(3).sign()
}

/** It ends with a checkpoint by the key that signs then. */
function ended(journal: SignedJournal, key: SigningKey): SignedJournal {
  return journal.records(2).sign(undefined, signedBy(key)).records(1).seal().records(1)
}

test('two hand-overs that hold, over three segments', async (t) => {
  const journal = begun()
  journal.handOver(SECOND)
  ended(journal, SECOND).handOver(THIRD)
  ended(journal, THIRD)
  const directory = writeJournal(t.testdir(), journal.builder, journal.builder.head())
  for (const threads of [0, 2]) {
    const report = await verifyJournal(directory, { threads, settleMilliseconds: 0 })
    t.match(report, { intact: true, notes: [], checkpoints: { count: 4, handovers: [{}, {}] } })
  }
  t.same(askStranger(directory), [`intact ${journal.size} records\n`])
  const fromSegment = journal.builder.segments[1]?.firstSequence ?? 0
  t.match(await verifyAtRest(directory, { fromSegment }), { intact: true, checkpoints: { handovers: [{}] } })
})

interface Forgery {
  readonly verdict: string
  /** Of the verifier in TypeScript, and of the one in Python. */
  readonly details: readonly [RegExp, RegExp]
  /** Writes what is wrong into a journal; returns the sequence of its entry. */
  readonly make: (journal: SignedJournal) => number
}

function forgedHandover(ours: RegExp, theirs: RegExp, alter: (stated: StatedHandover) => void): Forgery {
  return {
    verdict: HANDOVER,
    details: [ours, theirs],
    make: (journal) => {
      const { newKey } = journal.handOver(SECOND, alter)
      const sequence = journal.size - 1
      const key = [SECOND, THIEF, journal.key].find(({ publicKey }) => publicKey.equals(newKey)) as SigningKey
      ended(journal, key)
      return sequence
    },
  }
}

const BOTH = /it is not signed by both keys/
const FOLLOW = /its keys or its generation do not follow/
const NAME = /it does not name the checkpoint before it/

const FORGERIES: Readonly<Record<string, Forgery>> = {
  'a checkpoint with another key, and no hand-over': {
    verdict: CHECKPOINT,
    details: [/it has the key [0-9a-f]{64}, and nothing handed over to it from/, /nothing handed over to its key/],
    make: (journal) => {
      const sequence = journal.records(2).size
      journal.sign(undefined, signedBy(THIEF)).records(1).seal().records(1)
      return sequence
    },
  },
  'a checkpoint by the old key behind its hand-over': {
    verdict: CHECKPOINT,
    details: [/nothing handed over to it from/, /nothing handed over to its key/],
    make: (journal) => {
      journal.handOver(SECOND)
      const sequence = journal.records(2).size
      journal.sign().seal().records(1)
      return sequence
    },
  },
  'a checkpoint by a key that the new one did not hand over to': {
    verdict: CHECKPOINT,
    details: [/nothing handed over to it from/, /nothing handed over to its key/],
    make: (journal) => {
      journal.handOver(SECOND)
      const sequence = journal.records(2).size
      journal.sign(undefined, signedBy(THIRD)).records(1)
      return sequence
    },
  },
  'signed by the old key alone': forgedHandover(/it is not signed by the new key/, BOTH, (stated) => {
    stated.signers = [stated.oldKey, stated.oldKey]
  }),
  'signed by the new key alone': forgedHandover(/it is not signed by the old key/, BOTH, (stated) => {
    stated.signers = [stated.newKey, stated.newKey]
  }),
  'the signatures exchanged': forgedHandover(/it is not signed by the old key/, BOTH, (stated) => {
    stated.signers = [stated.newKey, stated.oldKey]
  }),
  'for another origin': forgedHandover(/it is for other\.log, and the log is spec\.log/, NAME, (stated) => {
    stated.origin = 'other.log'
  }),
  'from a key that never signed': forgedHandover(/it is from [0-9a-f]{64}, and the key is/, FOLLOW, (stated) => {
    stated.oldKey = THIRD
    stated.signers = [THIRD, stated.newKey]
  }),
  'to the key itself': forgedHandover(/it goes back to [0-9a-f]{64}, a key of before/, FOLLOW, (stated) => {
    stated.newKey = stated.oldKey
    stated.signers = [stated.oldKey, stated.oldKey]
  }),
  'of a later generation': forgedHandover(/it is of generation 2, and the one before of 0/, FOLLOW, (stated) => {
    stated.generation = 2
  }),
  'about an earlier checkpoint': forgedHandover(/it does not name the checkpoint of 9 records/, NAME, (stated) => {
    stated.size = 5
  }),
  'about another root': forgedHandover(/it does not name the checkpoint of 9 records/, NAME, (stated) => {
    stated.root = Buffer.alloc(32, 7)
  }),
  'back to the first key': {
    verdict: HANDOVER,
    details: [/it goes back to/, FOLLOW],
    make: (journal) => {
      journal.handOver(SECOND)
      ended(journal, SECOND).handOver(journal.key)
      const sequence = journal.size - 1
      ended(journal, journal.key)
      return sequence
    },
  },
  'a second one from the same key': {
    verdict: HANDOVER,
    details: [/it is from [0-9a-f]{64}, and the key is/, FOLLOW],
    make: (journal) => {
      journal.handOver(SECOND)
      journal.handOver(THIEF)
      const sequence = journal.size - 1
      ended(journal, THIEF)
      return sequence
    },
  },
  'without its form': {
    verdict: 'damaged batch',
    details: [/has not the form of one/, /has not the form of one/],
    make: (journal) => {
      journal.handOver(SECOND, undefined, 'short')
      return journal.size - 1
    },
  },
}

test('the first hand-over or checkpoint that does not hold is named by both verifiers of journals', async (t) => {
  const root = t.testdir()
  const journals = Object.entries(FORGERIES).map(([name, { verdict, details, make }]) => {
    const journal = begun()
    const sequence = make(journal)
    return { name, verdict, details, sequence, directory: writeJournal(root, journal.builder) }
  })
  const stranger = askStranger(...journals.map(({ directory }) => directory))
  for (const [index, { name, verdict, details, sequence, directory }] of journals.entries()) {
    const [ours, theirs] = details
    const { intact, problems } = await verifyAtRest(directory)
    t.match({ intact, problems }, { intact: false, problems: [{ sequence, verdict, detail: ours }] }, name)
    t.equal(problems.length, 1, name)
    t.match(stranger[index], new RegExp(`sequence ${sequence}: ${verdict}`), name)
    t.match(stranger[index], theirs, name)
    t.notMatch(stranger[index], /^intact/m, name)
  }
})

test('a hand-over before any checkpoint', async (t) => {
  const journal = new SignedJournal().records(2)
  journal.handOver(SECOND)
  const sequence = journal.size - 1
  const directory = writeJournal(t.testdir(), ended(journal, SECOND).builder)
  const problems = [{ sequence, verdict: HANDOVER, detail: 'there is no checkpoint before it' }]
  t.match(await verifyAtRest(directory), { intact: false, problems, problemCount: 1 })
  t.match(askStranger(directory), [new RegExp(`sequence ${sequence}: ${HANDOVER}`)])
})

test('who has notes alone is led to no other key by a forged hand-over', (t) => {
  const root = t.testdir()
  const judged = (alter?: (stated: StatedHandover) => void) => {
    const journal = begun()
    const said: SignedHandover = journal.handOver(SECOND, alter)
    const paths = ['checkpoint.txt', 'handovers.txt'].map((name) => join(root, name)) as [string, string]
    writeFileSync(paths[0], journal.records(2).note(journal.size, SECOND))
    writeFileSync(paths[1], handoverFile([said]))
    const key = verifierKeyText(journal.origin, journal.key.publicKey)
    const words = ['spec/formats/verify_checkpoint.py', paths[0], '--key', key, '--handovers', paths[1]]
    const { status, stdout } = spawnSync('python3', ['-B', ...words], { encoding: 'utf8' })
    return { status, stdout }
  }
  t.same(judged(), { status: 0, stdout: 'signature: passed\n' })
  const half = { status: 1, stdout: /^failed: a hand-over is not signed by both keys/ }
  t.match(
    judged((stated) => (stated.signers = [stated.oldKey, stated.oldKey])),
    half,
  )
  t.match(
    judged((stated) => (stated.signers = [stated.newKey, stated.newKey])),
    half,
  )
  t.match(
    judged((stated) => (stated.origin = 'other.log')),
    { status: 1, stdout: /^signature: failed/ },
  )
  t.match(
    judged((stated) => {
      stated.oldKey = THIRD
      stated.signers = [THIRD, stated.newKey]
    }),
    { status: 1, stdout: /^signature: failed/ },
  )
  t.end()
})
