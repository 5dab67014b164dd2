import { ftruncateSync, openSync, closeSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { verifyJournal } from '../../cli/journal-verify/journal-verifier.ts'
import { verifySegment } from '../../cli/journal-verify/segment-verifier.ts'
import { SegmentWindow } from '../../cli/journal-verify/segment-window.ts'
import { sampleJournal } from '../support/journal-damage.ts'
import { JournalBuilder } from '../support/journal-builder.ts'
import { LiveJournal } from '../support/live-journal.ts'

/** A window in front of which a writer goes on while the reader waits. */
class WrittenMeanwhile extends SegmentWindow {
  waits = 0
  readonly #write: () => void

  constructor(path: string, write: () => void) {
    super(path)
    this.#write = write
  }

  override settle(): void {
    this.waits += 1
    this.#write()
    super.settle(0)
  }
}

test('a place that looks torn is read again after the writer had time', async (t) => {
  const journal = sampleJournal()
  const { name, batches, bytes } = journal.open
  const [before, last] = [batches.at(-2)?.offset ?? 0, batches.at(-1)?.offset ?? 0]
  const path = join(t.testdir(), name)
  const sealed = sampleJournal()
  const zeros = sealed.open.bytes.length - 512
  sealed.open.bytes = sealed.open.bytes.subarray(0, zeros)
  sealed.sealOnly()

  const without = (start: number, end: number): Buffer => Buffer.from(bytes).fill(0, start, end)
  const states: Record<string, { seen: Buffer; becomes: Buffer; records: number; torn: boolean }> = {
    'the end arrives': { seen: without(last + 80, last + 200), becomes: bytes, records: 5, torn: false },
    'the beginning arrives': { seen: without(last, last + 64), becomes: bytes, records: 5, torn: false },
    'the batch arrives, and one behind it': {
      seen: without(before + 80, bytes.length),
      becomes: bytes,
      records: 5,
      torn: false,
    },
    'the batch arrives late, the one behind it was seen': {
      seen: without(before + 80, before + 120),
      becomes: bytes,
      records: 5,
      torn: false,
    },
    'the batch arrives, and the segment is sealed and cut': {
      seen: without(last + 80, last + 200),
      becomes: sealed.open.bytes,
      records: 6,
      torn: false,
    },
    'the header of the file arrives': { seen: without(0, 256), becomes: bytes, records: 5, torn: false },
    'nothing arrives': {
      seen: without(last + 80, last + 200),
      becomes: without(last + 80, last + 200),
      records: 3,
      torn: true,
    },
  }
  for (const [state, { seen, becomes, records, torn }] of Object.entries(states)) {
    writeFileSync(path, seen)
    const window = new WrittenMeanwhile(path, () => writeFileSync(path, becomes))
    const job = { path, name, isLast: true, watched: [], settleMilliseconds: 0 }
    const result = verifySegment(job, () => undefined, window)
    t.same(result.problems, [], `${state}: no problem`)
    t.equal(result.records, records, `${state}: every record that arrived`)
    t.equal(result.tornTail !== undefined, torn, `${state}: torn`)
    t.equal(window.waits, 1, `${state}: waited once`)
  }
})

test('a file that is cut while zeros are read', async (t) => {
  const journal = new JournalBuilder()
  journal.entries({})
  journal.sealOnly()
  const length = journal.open.length
  journal.writeAhead(9_000_000)
  const path = join(t.testdir(), journal.open.name)
  writeFileSync(path, journal.open.bytes)
  const window = new SegmentWindow(path)
  const file = openSync(path, 'r+')
  ftruncateSync(file, length)
  closeSync(file)
  const job = { path, name: journal.open.name, isLast: true, watched: [], settleMilliseconds: 0 }
  const result = verifySegment(job, () => undefined, window)
  t.match(result, { problems: [], records: 3, bytes: length, tornTail: undefined })
})

test('a journal that is being written is never called damaged', async (t) => {
  const live = new LiveJournal(t.testdir())
  const writing = live.run()
  let head = 0
  for (let checks = 1; checks <= 4 || live.segments < 5; checks += 1) {
    const report = await verifyJournal(live.directory, { threads: 2 })
    t.same(report.problems, [], `check ${checks}, ${live.segments} segments`)
    t.ok((report.headSequence ?? -1) >= head, 'the journal only grows')
    head = report.headSequence ?? 0
  }
  live.stop()
  await writing
  const report = await verifyJournal(live.directory)
  t.match(report, { intact: true, headSequence: live.lastSequence, openSegmentTornTail: undefined })
})
