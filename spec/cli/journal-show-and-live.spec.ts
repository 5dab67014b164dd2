/** Changes as they are shown, and a journal that is read while it is written. */
import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'tap'
import { changeNames, namedChange } from '../../cli/commands/journal/records/change-fields.ts'
import { PartSet } from '../../engine/domain/part-set.ts'
import { CHANGES, encodeChange } from '../../engine/events/changes.ts'
import { decodeBody } from '../../engine/verify/bodies.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { verifySegment } from '../../engine/verify/segment-verifier.ts'
import { SegmentWindow } from '../../engine/verify/segment-window.ts'
import { change } from '../support/journals/arbitrary-entries.ts'
import { JournalBuilder } from '../support/journals/journal-builder.ts'
import { packBody } from '../support/journals/journal-bytes.ts'
import { sampleJournal } from '../support/journals/journal-damage.ts'
import { LiveJournal } from '../support/journals/live-journal.ts'
import { SHOWN } from '../support/journals/shown-changes.ts'

test('every kind of change is shown with names', async (t) => {
  for (const [stored, shown] of SHOWN) {
    t.same(namedChange(decodeBody(packBody([stored]))?.[0]), shown, `${String(shown['kind'])} ${stored.length}`)
  }
  t.match(JSON.stringify(namedChange([3, 2, 'a', 5, '', Buffer.alloc(32), [], ['__proto__', 'x']])), '"__proto__":"x"')
  const shown = new Set<unknown>(SHOWN.map(([[kind]]) => kind))
  const missing = Object.values(CHANGES).filter(({ code }) => !shown.has(code))
  t.same(missing, [], 'none is left out of this table')
  const page = readFileSync('spec/formats/journal.md', 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \| ([a-z-]+\.[a-z-]+) \|/gm)].map(([, kind, name]) => [Number(kind), name])
  t.same([...changeNames], rows, 'every kind of change on the page, and no other')
})

test('what the store writes has a name for every field', async (t) => {
  fc.assert(
    fc.property(change, (one) => {
      const shown = namedChange(decodeBody(packBody([encodeChange(one)]))?.[0])
      const text = JSON.stringify(shown)
      if ((shown as { kind?: unknown }).kind !== one.name || 'fields' in (shown as object)) throw new Error(text)
    }),
    { numRuns: 500 },
  )
  t.pass()
})

test('what has another form than the page says is shown as it is, and never ends the command', async (t) => {
  t.same(namedChange([8, 2, 'b', 'x', 4]), {
    kind: 'bucket.versioning-set',
    bucket_id: 2,
    name: 'b',
    versioning: 'x',
    fields: [4],
  })
  t.same(namedChange([14, 2, 'k', 1, [[7, 'later'], 3, 4]]), {
    kind: 'version.locked',
    bucket_id: 2,
    key: 'k',
    version: 1,
    lock: { retention: { mode: 7, until: 'later' }, legal_hold: 3, fields: [4] },
  })
  t.same(namedChange([18, 2, 'k']), { kind: 'upload.aborted', bucket_id: 2, key: 'k' }, 'fields that are not there')
  const kinds = fc.integer({ min: 0, max: 40 })
  fc.assert(
    fc.property(kinds, fc.array(fc.anything({ withBigInt: false, withNullPrototype: true })), (kind, values) => {
      let body: Uint8Array
      try {
        body = packBody([[kind, ...values]])
      } catch {
        return
      }
      JSON.stringify(namedChange(decodeBody(body)?.[0]))
    }),
  )
})

test('part sets are shown as ranges of exactly their numbers', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (numbers) => {
      const set = new PartSet()
      for (const number of numbers) set.add(number)
      const { dropped } = namedChange([18, 2, 'k', 1, set.bytes]) as { dropped: string }
      const told = dropped.split(',').flatMap((range) => {
        const [first, last] = range.split('-').map(Number)
        return range === ''
          ? []
          : Array.from({ length: (last ?? first ?? 0) - (first ?? 0) + 1 }, (_, at) => (first ?? 0) + at)
      })
      t.same(
        told,
        numbers.toSorted((left, right) => left - right),
      )
    }),
    { numRuns: 50 },
  )
})

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
