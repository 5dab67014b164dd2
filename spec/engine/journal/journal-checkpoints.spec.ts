/**
 * Checkpoints in a journal, and checkpoints that were kept elsewhere, as both verifiers of journals judge them.
 * Proves: RES-CHN-08.
 */
import { hash } from 'node:crypto'
import { test } from 'tap'
import { SigningKey } from '../../../engine/keys/signing-key.ts'
import { CompactRange } from '../../../engine/verify/checkpoints/compact-range.ts'
import { TreeHasher } from '../../../engine/verify/checkpoints/tree-hasher.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { askStranger, verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'
import { logRoot, SignedJournal, type Stated } from '../../support/journals/signed-journal.ts'
import { strideOf } from '../../support/share-of-cases.ts'
import { treeRoot } from '../../support/proofs/audit-tree.ts'

const leaves = Array.from({ length: 130 }, (_, index) => hash('sha256', `leaf ${index}`, 'buffer'))

test('every tree of up to 130 leaves, made of three ranges', async (t) => {
  const wrong: string[] = []
  const trees = [
    { hasher: TreeHasher.log(), root: (size: number) => logRoot(leaves.slice(0, size)).toString('hex') },
    { hasher: TreeHasher.bundle(), root: (size: number) => treeRoot(leaves.slice(0, size)) },
  ]
  for (const { hasher, root } of trees) {
    for (let size = 1; size <= leaves.length; size += strideOf(3)) {
      const expected = root(size)
      for (const cut of [0, 1, Math.floor(size / 3), Math.floor(size / 2), size - 1, size]) {
        const whole = new CompactRange(hasher, 0)
        for (const [from, to] of [
          [0, Math.floor(cut / 2)],
          [Math.floor(cut / 2), cut],
          [cut, size],
        ] as const) {
          const range = new CompactRange(hasher, from)
          for (const leaf of leaves.slice(from, to)) range.append(leaf)
          whole.extend(range.take())
        }
        if (whole.root() !== expected || whole.end !== size) wrong.push(`${size} cut at ${cut}`)
      }
    }
  }
  t.same(wrong, [])
})

/** A journal of three segments with four checkpoints, the third of which covers what is in the segment before. */
function signedJournal(): SignedJournal {
  const journal = new SignedJournal().records(5).sign().records(7).sign(9)
  const early = journal.size
  return journal.records(3).seal().records(2).sign(early).records(300).seal().sign().records(1)
}

test('what checkpoints say of the records before them holds', async (t) => {
  const journal = signedJournal()
  const directory = writeJournal(t.testdir(), journal.builder, journal.builder.head())
  for (const threads of [0, 3]) {
    const report = await verifyJournal(directory, { threads, settleMilliseconds: 0 })
    t.match(report, { intact: true, problems: [], notes: [], checkpoints: { count: 4, extendsKept: undefined } })
    t.equal(report.checkpoints.last?.origin, journal.origin)
  }
  t.same(askStranger(directory), [`intact ${journal.size} records\n`])
  const rest = await verifyAtRest(directory, { fromSegment: journal.builder.segments[1]?.firstSequence ?? 0 })
  t.match(rest, {
    intact: true,
    notes: [/^The roots of 2 checkpoints were not checked: this is not the whole journal/],
  })
})

const OTHER = Buffer.alloc(32, 7)

test('the first checkpoint that does not hold is named', async (t) => {
  const cases: Readonly<Record<string, readonly [detail: RegExp, make: (journal: SignedJournal) => void]>> = {
    'another root': [/it signs the root/, (journal) => journal.sign(9, (stated) => (stated.root = OTHER))],
    'another bundle root': [
      /it states the bundle root/,
      (journal) => journal.sign(9, (stated) => (stated.bundleRoot = OTHER)),
    ],
    'the trees exchanged': [
      /it signs the root/,
      (journal) =>
        journal.sign(9, (stated) => {
          const { root, bundleRoot } = stated
          Object.assign(stated, { root: bundleRoot, bundleRoot: root } satisfies Partial<Stated>)
        }),
    ],
    'another checkpoint before it': [
      /names another checkpoint before it/,
      (journal) => journal.sign(9, (stated) => (stated.previous = OTHER)),
    ],
    'one that does not cover the one before': [/does not cover/, (journal) => journal.sign(5)],
    'records that are not there': [
      /it covers 900 records/,
      (journal) => journal.sign(9, (stated) => (stated.size = 900)),
    ],
    'no records': [/it covers 0 records/, (journal) => journal.sign(0)],
    'the size of another': [/it signs the root/, (journal) => journal.sign(9, (stated) => (stated.size = 10))],
  }
  const root = t.testdir()
  const journals = Object.entries(cases).map(([name, [detail, make]]) => {
    const journal = new SignedJournal().records(4).sign().records(5)
    const sequence = journal.size
    make(journal)
    return { name, detail, sequence, directory: writeJournal(root, journal.records(3).seal().records(1).builder) }
  })
  const stranger = askStranger(...journals.map(({ directory }) => directory))
  for (const [index, { name, detail, sequence, directory }] of journals.entries()) {
    const { problems } = await verifyAtRest(directory)
    t.match(problems, [{ sequence, verdict: 'checkpoint does not hold', detail }], name)
    t.equal(problems.length, 1, name)
    t.match(stranger[index], new RegExp(`sequence ${sequence}: checkpoint does not hold`), name)
  }
})

/** Says that its key is another one than it signs with. */
class FalseKey extends SigningKey {
  override readonly publicKey = Buffer.alloc(32, 1)
}

test('a first one that names another, a signature by another key, and no form', async (t) => {
  const cases: readonly (readonly [SignedJournal, verdict: string, detail: RegExp])[] = [
    [
      new SignedJournal().records(3).sign(2, (stated) => (stated.previous = OTHER)),
      'checkpoint does not hold',
      /and there is none/,
    ],
    [
      new SignedJournal().records(3).sign(2, (stated) => (stated.key = new FalseKey(Buffer.alloc(32, 8)))),
      'checkpoint does not hold',
      /its signature is not one of its key/,
    ],
    [new SignedJournal().records(3).sign(2, undefined, 'short'), 'damaged batch', /has not the form of one/],
  ]
  const root = t.testdir()
  const directories = cases.map(([{ builder }]) => writeJournal(root, builder))
  const stranger = askStranger(...directories)
  for (const [index, [, verdict, detail]] of cases.entries()) {
    t.match((await verifyAtRest(directories[index] ?? '')).problems, [{ sequence: 4, verdict, detail }])
    t.match(stranger[index], verdict)
  }
})

function build(operation: string): SignedJournal {
  return new SignedJournal().records(6, operation).records(300).seal().records(20)
}

test('a history that was rewritten with every hash does not extend what was signed', async (t) => {
  const root = t.testdir()
  const [honest, rewritten] = [build('s3:PUT'), build('s3:DELETE')]
  const directory = writeJournal(root, rewritten.builder)
  t.match(await verifyAtRest(directory), { intact: true }, 'by itself it is whole')
  for (const size of [3, 250, 307, 320, honest.size]) {
    const kept = (journal: SignedJournal) => ({ size, root: logRoot(journal.hashes(size)).toString('hex') })
    for (const threads of [0, 2]) {
      const report = await verifyJournal(directory, { threads, settleMilliseconds: 0, checkpoint: kept(honest) })
      t.match(report, {
        intact: false,
        problems: [{ verdict: 'rewritten since a checkpoint', sequence: size - 1 }],
        checkpoints: { extendsKept: false },
      })
    }
    const own = await verifyAtRest(directory, { checkpoint: kept(rewritten) })
    t.match(own, { intact: true, checkpoints: { extendsKept: true } }, 'its own it extends')
  }
  const longer = { size: rewritten.size + 1, root: '00'.repeat(32) }
  t.match(await verifyAtRest(directory, { checkpoint: longer }), {
    intact: false,
    problems: [{ verdict: 'rolled back behind a checkpoint', sequence: rewritten.size }],
    checkpoints: { extendsKept: false },
  })
})

test('what cannot be read is said, and no root is made up', async (t) => {
  const journal = signedJournal()
  const size = journal.size
  const kept = { size, root: logRoot(journal.hashes(size)).toString('hex') }
  const middle = journal.builder.segments[1]
  const batch = middle?.batches[5]
  middle?.bytes.writeUInt8(0xff, (batch?.offset ?? 0) + 80)
  const directory = writeJournal(t.testdir(), journal.builder)
  const report = await verifyAtRest(directory, { checkpoint: kept })
  t.match(report, { intact: false, checkpoints: { extendsKept: undefined } })
  t.ok(report.problems.every(({ verdict }) => !verdict.includes('checkpoint')))
  t.match(report.notes, [
    /^There is no high-water mark/,
    /^The roots of 1 checkpoints were not checked: records before them cannot be read/,
    /^Whether the journal extends the checkpoint was not checked/,
  ])
  const [stranger] = askStranger(directory)
  t.match(stranger, /damaged batch/)
  t.notMatch(stranger, /checkpoint does not hold/)
})
