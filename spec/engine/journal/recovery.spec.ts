/** Proves: AUT-S3P-08. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { masterKeyCheck } from '../../../engine/keys/store-keys.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import {
  RECOVERY_CASES,
  type RecoveryAction,
  type RecoveryFacts,
  recoveryCase,
} from '../../../engine/journal/recovery/recovery-cases.ts'
import { createBucket, deleteObject, write } from '../../support/commands.ts'
import { damagedBatches } from '../../support/journals/damaged-batches.ts'
import { damagedSegments } from '../../support/journals/damaged-segments.ts'
import { repairBatch, repairSegmentHeader } from '../../support/journals/journal-bytes.ts'
import { type DamagedJournal, sampleJournal } from '../../support/journals/journal-damage.ts'
import { dataLength, editFile, flipByte, journalListing, segmentPath } from '../../support/journal-files.ts'
import { BOOT_ID, MASTER_KEY, openTestStore, OTHER_BOOT_ID, readObject, someBytes } from '../../support/test-store.ts'

const YES_NO = [true, false]
const SETTINGS = { segmentBytes: 64 * 1024, bootId: OTHER_BOOT_ID }

/** What must happen, written down a second time: as a person would decide it, fact after fact. */
function mustHappen(facts: RecoveryFacts): RecoveryAction {
  if (!facts.hasSegments) return facts.wasInUse ? 'refuse-lost' : 'create'
  if (!facts.segmentsLink || facts.laterBatchFollows) return 'refuse-damaged'
  if (facts.acknowledgedBeyond) return 'refuse-lost'
  return (
    { empty: 'open', sealed: 'open-next', torn: 'cut-tail', refused: 'cut-tail', foreign: 'refuse-damaged' } as const
  )[facts.tail]
}

test('J5 J6 every combination of facts has exactly one case, and it is the right one', async (t) => {
  const seen = new Set<string>()
  for (const hasSegments of YES_NO)
    for (const wasInUse of YES_NO)
      for (const segmentsLink of YES_NO)
        for (const tail of ['empty', 'sealed', 'torn', 'refused', 'foreign'] as const)
          for (const laterBatchFollows of YES_NO)
            for (const acknowledgedBeyond of YES_NO) {
              const facts = { hasSegments, wasInUse, segmentsLink, tail, laterBatchFollows, acknowledgedBeyond }
              const found = recoveryCase(facts)
              seen.add(found.name)
              t.equal(found.action, mustHappen(facts), JSON.stringify(facts))
            }
  t.same([...seen].toSorted(), RECOVERY_CASES.map(({ name }) => name).toSorted(), 'and every case can happen')
})

/** Errors that say which other program or format wrote the journal: it is not damaged. */
const NOT_OURS: Readonly<Record<string, RegExp>> = {
  'a genesis of another product': /not a genesis record of this program/,
  'a genesis of another format': /begins with format 2, and this program knows 1/,
  'a header has another version': /the journal has format 2: another version/,
}

test('J4 J5 J20 what the independent verifier calls damaged is never opened', async (t) => {
  const root = t.testdir()
  const damaged: readonly DamagedJournal[] = [...damagedBatches, ...damagedSegments]
  for (const [index, { name, options, damage }] of damaged.entries()) {
    const paths = new StorePaths(join(root, String(index)))
    mkdirSync(paths.volumes, { recursive: true })
    const journal = sampleJournal({ masterKeyCheck: masterKeyCheck(MASTER_KEY, Buffer.alloc(16, 0xd7)), ...options })
    journal.write(paths.journal, damage?.(journal) ?? journal.head())
    const report = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
    t.equal(report.intact, false, name)
    const before = journalListing(paths)
    const message = NOT_OURS[name]
    const expected = message === undefined ? { name: /^(JournalDamaged|AcknowledgedDataLost)Error$/ } : { message }
    await t.rejects(openTestStore(paths.root, SETTINGS), expected, name)
    t.same(journalListing(paths), before, `${name}: nothing was changed`)
  }
  t.ok(damaged.length > 50)
})

test('J13 a last segment that is sealed is gone on from, with zeros behind the seal or without, and with nothing else', async (t) => {
  const root = t.testdir()
  const behind = { nothing: Buffer.alloc(0), zeros: Buffer.alloc(4096), garbage: Buffer.alloc(4096).fill(1, 4000) }
  for (const [title, bytes] of Object.entries(behind)) {
    const paths = new StorePaths(join(root, title))
    mkdirSync(paths.volumes, { recursive: true })
    const journal = sampleJournal({ masterKeyCheck: masterKeyCheck(MASTER_KEY, Buffer.alloc(16, 0xd7)) })
    journal.open.bytes = journal.open.bytes.subarray(0, -512)
    journal.sealOnly()
    journal.open.push(bytes)
    journal.write(paths.journal, journal.head())
    const { intact } = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
    t.equal(intact, title !== 'garbage', `${title}: the verifier`)
    const opening = openTestStore(paths.root, SETTINGS)
    if (title === 'garbage') {
      await t.rejects(opening, { name: 'JournalDamagedError', message: /bytes after the seal/ }, title)
      continue
    }
    await (await opening).close(true)
    t.match(await verifyJournal(paths.journal, { threads: 0 }), { intact: true, segments: 4, problems: [] }, title)
  }
})

/** A store that was killed: two segments, then batches in the open one. Returns its directory. */
async function killedStore(root: string): Promise<StorePaths> {
  const store = await openTestStore(root, { segmentBytes: 64 * 1024 })
  await store.client.execute(createBucket('kept'))
  while (store.journal.place.segmentNumber === 0) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.client.execute(write('kept', `old-${index}`, someBytes(9)))),
    )
  }
  await store.client.execute(write('kept', 'a', Buffer.from('first')))
  await store.client.execute(write('kept', 'b', Buffer.from('second')))
  await store.client.execute(write('kept', 'c', Buffer.from('third')))
  await store.kill()
  return store.paths
}

/** Offsets of the batches of the open segment. */
function openBatches(paths: StorePaths): number[] {
  const bytes = readFileSync(segmentPath(paths, -1)).subarray(0, dataLength(segmentPath(paths, -1)))
  const offsets: number[] = []
  for (let at = 256; at < bytes.length; at += 64 + bytes.readUInt32BE(at + 28) + 8) offsets.push(at)
  return offsets
}

test('J5 a damaged byte before the last batch is refused, and named', async (t) => {
  const base = await killedStore(join(t.testdir(), 'base'))
  const [middle = 0, next = 0] = openBatches(base).slice(-3)
  const copy = join(t.testdirName, 'copy')
  const sequence = readFileSync(segmentPath(base, -1)).readUIntBE(middle + 18, 6)
  for (let at = middle; at < next; at += at < middle + 64 ? 3 : 41) {
    cpSync(base.root, copy, { recursive: true })
    const paths = new StorePaths(copy)
    flipByte(segmentPath(paths, -1), at)
    const before = journalListing(paths)
    await t.rejects(
      openTestStore(copy, SETTINGS),
      {
        name: 'JournalDamagedError',
        message: new RegExp(`damage before the tail: .*\\d+\\.segment, offset ${middle}, sequence ${sequence}: `),
      },
      `byte ${at - middle}`,
    )
    t.same(journalListing(paths), before)
    rmSync(copy, { recursive: true })
  }
})

interface Edit {
  readonly name: string
  readonly edit: (bytes: Buffer, last: number) => void
}

/** Changes of the last batch that no interrupted write leaves: its checksums are right. */
const WHOLE_BUT_WRONG: readonly Edit[] = [
  { name: 'another format version', edit: (bytes, last) => bytes.writeUInt16BE(2, last + 4) },
  { name: 'an unknown flag', edit: (bytes, last) => bytes.writeUInt16BE(2, last + 6) },
  { name: 'no records', edit: (bytes, last) => bytes.writeUInt32BE(0, last + 24) },
  { name: 'a field that must be zero', edit: (bytes, last) => bytes.writeUInt8(1, last + 45) },
  { name: 'a lower batch number', edit: (bytes, last) => bytes.writeUInt8(0, last + 15) },
  { name: 'a higher batch number', edit: (bytes, last) => bytes.writeUInt16BE(9000, last + 14) },
  { name: 'another sequence', edit: (bytes, last) => bytes.writeUInt8(1, last + 16 + 3) },
  { name: 'another segment', edit: (bytes, last) => bytes.writeUInt8(9, last + 39) },
]

test('J5 a last batch that was written whole and is wrong is damage, never a torn tail', async (t) => {
  const base = await killedStore(join(t.testdir(), 'base'))
  const last = openBatches(base).at(-1) ?? 0
  for (const { name, edit } of WHOLE_BUT_WRONG) {
    for (const rest of ['whole', 'cut'] as const) {
      const paths = new StorePaths(join(t.testdirName, 'copy'))
      cpSync(base.root, paths.root, { recursive: true })
      editFile(segmentPath(paths, -1), (bytes) => {
        edit(bytes, last)
        repairBatch(bytes, last)
        if (rest === 'cut') bytes.fill(0, last + 80)
        return bytes
      })
      const report = await verifyJournal(paths.journal, { threads: 0, settleMilliseconds: 0 })
      t.match(report, { intact: false, openSegmentTornTail: undefined }, `${name}, ${rest}: the verifier`)
      await t.rejects(openTestStore(paths.root, SETTINGS), { name: 'JournalDamagedError' }, `${name}, ${rest}`)
      rmSync(paths.root, { recursive: true })
    }
  }
})

test('J6 a journal that ends before what was acknowledged is refused', async (t) => {
  const base = await killedStore(join(t.testdir(), 'base'))
  const last = openBatches(base).at(-1) ?? 0
  const copyBase = (name: string): StorePaths => {
    cpSync(base.root, join(t.testdirName, name), { recursive: true })
    return new StorePaths(join(t.testdirName, name))
  }
  const cutLast = (paths: StorePaths) => editFile(segmentPath(paths, -1), (bytes) => bytes.fill(0, last))
  const ahead = copyBase('mark')
  const store = await openTestStore(ahead.root, { segmentBytes: 64 * 1024 })
  await store.close(true)
  cutLast(ahead)
  rmSync(ahead.projections, { recursive: true })
  await t.rejects(openTestStore(ahead.root, SETTINGS), {
    name: 'AcknowledgedDataLostError',
    message: /acknowledged entries lost: the high-water mark holds sequence \d+, the journal ends at \d+/,
  })

  const applied = copyBase('projections')
  cutLast(applied)
  await t.rejects(
    openTestStore(applied.root, { ...SETTINGS, bootId: BOOT_ID }),
    { name: 'AcknowledgedDataLostError', message: /the projections holds? sequence \d+, the journal ends at \d+/ },
    'the projections were ahead, and the host did not stop in between',
  )
  t.ok(
    await openTestStore(applied.root, SETTINGS).then((opened) => opened.kill().then(() => true)),
    'after a power cut nothing is known of that batch',
  )
})

test('J5 a journal that was taken away is missed, whatever is left', async (t) => {
  const root = t.testdir()
  const full = await killedStore(join(root, 'full'))
  const bare = await openTestStore(join(root, 'bare'))
  await bare.client.execute(createBucket('only-a-bucket'))
  await bare.close(true)
  for (const paths of [full, bare.paths]) {
    rmSync(paths.journal, { recursive: true })
    for (const attempt of ['first', 'second']) {
      await t.rejects(
        openTestStore(paths.root, SETTINGS),
        { name: 'AcknowledgedDataLostError', message: /journal is gone/ },
        `${attempt} attempt`,
      )
    }
  }
  const mark = await killedStore(join(root, 'mark'))
  rmSync(mark.volumes, { recursive: true })
  rmSync(mark.projections, { recursive: true })
  for (let place = 0; place < 2; place += 1) rmSync(segmentPath(mark, 0))
  await t.rejects(openTestStore(mark.root, SETTINGS), { message: /journal is gone/ }, 'only the mark is left')

  const interrupted = new StorePaths(join(root, 'interrupted'))
  for (const path of [interrupted.journal, interrupted.volumes, interrupted.projections])
    mkdirSync(path, { recursive: true })
  writeFileSync(interrupted.head, '')
  const created = await openTestStore(interrupted.root)
  t.equal(created.report.created, true, 'a first start that was cut short begins again')
  await created.kill()
})

test('another master key and another deployment are refused before anything is changed', async (t) => {
  const base = await killedStore(join(t.testdir(), 'base'))
  const before = journalListing(base)
  await t.rejects(openTestStore(base.root, { ...SETTINGS, masterKey: Buffer.alloc(32, 1) }), {
    name: 'MasterKeyMismatchError',
  })
  t.same(journalListing(base), before)
  const store = await openTestStore(base.root, SETTINGS)
  t.same(await readObject(store, 'kept', 'c'), Buffer.from('third'), 'with the right key everything is there')
  await store.client.execute(deleteObject('kept', 'c'))
  await store.close(true)

  const paths = new StorePaths(join(t.testdirName, 'foreign'))
  mkdirSync(paths.volumes, { recursive: true })
  const check = masterKeyCheck(MASTER_KEY, Buffer.alloc(16, 1))
  const journal = sampleJournal({
    deploymentId: Buffer.alloc(16, 1),
    masterKeyCheck: check,
  })
  for (const segment of journal.segments) segment.bytes.fill(2, 48, 64)
  for (const segment of journal.segments) repairSegmentHeader(segment.bytes)
  journal.write(paths.journal)
  await t.rejects(openTestStore(paths.root, SETTINGS), { name: 'JournalDamagedError', message: /deployment/ })
})
