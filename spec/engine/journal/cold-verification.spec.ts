import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { test } from 'tap'
import type { SegmentResult } from '../../../engine/verify/segment-result.ts'
import { verifySegment } from '../../../engine/verify/segment-verifier.ts'
import { coldBytes, coldParts, fileOf, indexOf, member } from '../../support/journals/cold-bytes.ts'
import { damagedBatches } from '../../support/journals/damaged-batches.ts'
import { damagedCold, SMALL_BLOCK_BYTES } from '../../support/journals/damaged-cold.ts'
import { damagedSegments } from '../../support/journals/damaged-segments.ts'
import { JournalBuilder } from '../../support/journals/journal-builder.ts'
import { KIND } from '../../support/journals/journal-bytes.ts'
import { sampleJournal } from '../../support/journals/journal-damage.ts'
import { askStranger, verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'
import { everyNth } from '../../support/share-of-cases.ts'
import { flipBitInPlace } from '../../support/journal-files.ts'

/** Compresses all segments but the last one. */
function compress(journal: JournalBuilder, blockBytes?: number): JournalBuilder {
  for (const segment of journal.segments.slice(0, -1)) segment.bytes = coldBytes(segment.bytes, blockBytes)
  return journal
}

test('a journal with cold segments is intact like the plain one', async (t) => {
  const root = t.testdir()
  const plain = await verifyAtRest(writeJournal(root, sampleJournal(), sampleJournal().head()))
  for (const blockBytes of [8, 100, 512, 4096, undefined]) {
    const directory = writeJournal(root, compress(sampleJournal(), blockBytes), sampleJournal().head())
    t.same(await verifyAtRest(directory), { ...plain, coldSegments: 2 }, `blocks of ${blockBytes}`)
    t.same(askStranger(directory), ['intact 16 records\n'], 'the stranger agrees')
  }
  const directory = writeJournal(root, compress(sampleJournal()), sampleJournal().head())
  t.same(await verifyAtRest(directory, { threads: 2 }), { ...plain, coldSegments: 2 }, 'in threads')
  const seen: number[] = []
  await verifyAtRest(directory, { onProgress: ({ bytes, bytesTotal }) => seen.push(bytes / bytesTotal) })
  t.ok(
    seen.every((part) => part <= 1),
    'progress is that of the plain segments',
  )
})

test('whatever is wrong with a plain segment is said of its cold form in the same words', async (t) => {
  const root = t.testdir()
  const cases = everyNth([...damagedBatches, ...damagedSegments], 3)
  const written = cases.map(({ name, options, damage }) => {
    const made = [sampleJournal(options), sampleJournal(options)] as const
    const [plain, cold] = made.map((journal, index) => {
      const head = damage?.(journal) ?? sampleJournal(options).head()
      return writeJournal(root, index === 0 ? journal : compress(journal, SMALL_BLOCK_BYTES), head)
    })
    return { name, plain: plain as string, cold: cold as string }
  })
  const stranger = askStranger(...written.flatMap(({ plain, cold }) => [plain, cold]))
  for (const [index, { name, plain, cold }] of written.entries()) {
    const { coldSegments, ...report } = await verifyAtRest(cold)
    const { coldSegments: none, ...expected } = await verifyAtRest(plain)
    t.same(report, expected, name)
    t.ok(coldSegments > none, `${name}: compressed`)
    t.equal(stranger[index * 2 + 1], stranger[index * 2], `${name}: for the stranger too`)
  }
})

test('each kind of damage to the file of a cold segment is named', async (t) => {
  const root = t.testdir()
  const written = damagedCold.map(({ damage }) => {
    const journal = sampleJournal()
    const [segment] = journal.segments
    if (segment !== undefined) segment.bytes = damage(segment.bytes)
    return writeJournal(root, journal, journal.head())
  })
  const stranger = askStranger(...written)
  const firstRecords = sampleJournal().segments[0]?.batches ?? []
  for (const [index, { name, block, detail }] of damagedCold.entries()) {
    const offset = (block ?? 0) * SMALL_BLOCK_BYTES
    const batch = firstRecords.find((one) => one.offset + one.length > offset)
    const sequence = block === undefined ? 0 : batch?.records[0]?.sequence
    const { problems } = await verifyAtRest(written[index] as string)
    const expected = { segment: '0000000000000000.segment', offset, sequence, verdict: 'damaged batch', detail }
    t.match(problems[0], expected, name)
    const line = `0000000000000000.segment offset ${offset} sequence ${sequence}: damaged batch`
    t.equal(stranger[index]?.startsWith(line), true, `${name}: for the stranger too`)
    t.notMatch(stranger[index], /^intact/m)
  }
})

test('records around a damaged block are verified', async (t) => {
  const journal = new JournalBuilder()
  for (let batch = 0; batch < 40; batch += 1) journal.entries({}, {}, {})
  journal.seal()
  journal.entries({})
  const [segment] = journal.segments
  if (segment === undefined) throw new Error('no segment')
  const parts = coldParts(segment.bytes, 1024)
  parts.members[5]?.fill(0xaa, 12, 20)
  const places = segment.batches.flatMap(({ records }) => records)
  const touched = places.filter(({ offset, length }) => offset + length > 5120 && offset < 6144)
  segment.bytes = fileOf({ ...parts, index: indexOf(parts) })
  const report = await verifyAtRest(writeJournal(t.testdir(), journal, journal.head()))
  t.match(report.problems[0], { offset: 5120, verdict: 'damaged batch', detail: /cannot be inflated/ })
  t.ok(report.records >= places.length + 1 - touched.length - 4, `${report.records} of ${places.length} records`)
  t.equal(report.headSequence, journal.nextSequence - 1)
  t.match(report.problems.at(-1), { verdict: 'content changed', detail: /content digest/ }, 'and the seal says so')
})

test('a cold segment is never the open one', async (t) => {
  const root = t.testdir()
  const sealed = new JournalBuilder()
  sealed.entries({}, {})
  sealed.sealOnly()
  sealed.open.bytes = coldBytes(sealed.open.bytes)
  const open = sampleJournal()
  open.open.bytes = coldBytes(open.open.bytes)
  const torn = sampleJournal()
  torn.open.bytes[torn.open.bytes.length - 512 - 20] = 0xee
  torn.open.bytes = coldBytes(torn.open.bytes)
  const directories = [sealed, open, torn].map((journal) => writeJournal(root, journal, new JournalBuilder().head()))
  const stranger = askStranger(...directories)
  t.match(await verifyAtRest(directories[0] as string), { intact: true, coldSegments: 1 }, 'sealed')
  t.match(stranger[0], /^intact 4 records/)
  const unsealed = { problems: [{ verdict: 'damaged batch', detail: /ends without a seal/ }], problemCount: 1 }
  t.match(await verifyAtRest(directories[1] as string), unsealed, 'without a seal')
  t.match(stranger[1], /damaged batch: no seal/)
  const report = await verifyAtRest(directories[2] as string)
  t.equal(report.openSegmentTornTail, undefined, 'nothing in it is torn')
  t.match(report.problems[0], { verdict: 'damaged batch', detail: /checksum of the batch/ })
  t.notMatch(stranger[2], /torn/)
})

test('a bomb of a gigabyte is inflated to its stated length only', (t) => {
  const block = Buffer.alloc(1 << 20)
  const bomb = member(block, deflateRawSync(Buffer.alloc(1 << 28)))
  const parts = { blocks: [block], members: [bomb] }
  const path = join(t.testdir(), '0000000000000000.segment')
  writeFileSync(path, fileOf({ ...parts, index: indexOf(parts) }))
  t.match(verify(path).problems[0], { offset: 0, detail: 'the block inflates to more than 1048576 bytes' })
  t.end()
})

test('batches longer than blocks, and blocks longer than windows', async (t) => {
  const journal = new JournalBuilder()
  const body = Buffer.alloc(300_000, 0x90)
  journal.append(Array.from({ length: 20 }, () => ({ kind: KIND.audit, body })))
  for (let batch = 0; batch < 30; batch += 1) journal.append([{ kind: KIND.audit, body }])
  journal.seal()
  journal.entries({})
  const root = t.testdir()
  const head = journal.head()
  const plain = await verifyAtRest(writeJournal(root, journal, head))
  const [segment] = journal.segments
  const bytes = segment?.bytes as Buffer
  for (const blockBytes of [5000, 1 << 18, 1 << 20]) {
    if (segment !== undefined) segment.bytes = coldBytes(bytes, blockBytes)
    const report = await verifyAtRest(writeJournal(root, journal, head))
    t.same(report, { ...plain, coldSegments: 1 }, `blocks of ${blockBytes}`)
  }
})

test('every flipped bit is found', (t) => {
  const whole = coldBytes(sampleJournal().segments[0]?.bytes as Buffer, 700)
  const path = join(t.testdir(), '0000000000000000.segment')
  const missed: number[] = []
  // Of every byte two or three bits, and each of the eight in turn.
  const bits = everyNth(
    Array.from({ length: whole.length * 8 }, (_, bit) => bit),
    3,
  )
  writeFileSync(path, whole)
  for (const bit of bits) {
    flipBitInPlace(path, bit)
    if (verify(path).problemCount === 0) missed.push(bit)
    flipBitInPlace(path, bit)
  }
  t.equal(verify(path).problemCount, 0, 'as it was')
  t.same(missed, [])
  t.end()
})

test('the stranger finds a flipped bit of each byte, at the same place', async (t) => {
  const root = t.testdir()
  const whole = coldBytes(sampleJournal().segments[0]?.bytes as Buffer, 700)
  const places = everyNth([...whole.keys()], 7)
  const directories = places.map((byte) => {
    const journal = sampleJournal()
    const [segment] = journal.segments
    if (segment !== undefined) segment.bytes = flipped(whole, byte * 8 + (byte % 8))
    return writeJournal(root, journal, journal.head())
  })
  const stranger = askStranger(...directories)
  const others: string[] = []
  for (const [index, directory] of directories.entries()) {
    const [problem] = (await verifyAtRest(directory)).problems
    const { segment, offset, sequence, verdict } = problem ?? {}
    const expected = `${segment} offset ${offset} sequence ${sequence}: ${verdict}`
    if (stranger[index]?.startsWith(expected) !== true)
      others.push(`byte ${places[index]}: ${stranger[index]}, not ${expected}`)
  }
  t.same(others, [])
})

function flipped(whole: Buffer, bit: number): Buffer {
  const bytes = Buffer.from(whole)
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7))
  return bytes
}

function verify(path: string): SegmentResult {
  const job = { path, name: '0000000000000000.segment', isLast: false, watched: [], settleMilliseconds: 0 }
  return verifySegment(job, () => undefined)
}
