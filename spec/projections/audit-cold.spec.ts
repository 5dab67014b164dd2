/** The audit log of a journal whose older segments are compressed while it is written, and damaged. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Test, test } from 'tap'
import { microsecondsOf } from '../../engine/brands.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { decodeIndex } from '../../engine/journal/cold/cold-index.ts'
import { serverTurns } from '../../projections/audit/turns.ts'
import { AuditLog } from '../../projections/audit/audit-log.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { compressJournal } from '../support/journals/cold-segments.ts'
import { auditOf } from '../support/commands.ts'
import { segmentPath } from '../support/journal-files.ts'
import { openTestStore, someBytes } from '../support/test-store.ts'

const EVER = {
  sinceMicroseconds: microsecondsOf(0),
  untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY),
  limit: 20_000,
} as const

interface Pages {
  readonly sequences: number[]
  readonly damaged: boolean
}

type ReadPages = (newestFirst: boolean) => Promise<Pages>

/** Works with the audit log of an open store with three sealed segments of 1 MiB. */
async function withLog(t: Test, work: (paths: StorePaths, pages: ReadPages) => Promise<void>): Promise<void> {
  const store = await openTestStore(t.testdir(), { segmentBytes: 1 << 20 })
  while (store.journal.place.segmentNumber < 3) {
    for (let count = 0; count < 100; count += 1) {
      const pad = someBytes(300).toString('base64')
      store.client.record({ ...auditOf('s3:GET', 'x'), metadata: ['pad', pad] }, 'success')
    }
    await store.loop.drained()
  }
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const log = new AuditLog(store.disk, store.paths, environment)
  const pages: ReadPages = async (newestFirst) => {
    const sequences: number[] = []
    let damaged = false
    let after: Parameters<typeof log.query>[0]['after']
    do {
      const page = await log.query({ ...EVER, newestFirst, after }, serverTurns)
      sequences.push(...page.records.map(({ sequence }) => sequence))
      damaged ||= page.damaged
      after = page.next
    } while (after !== undefined)
    return { sequences, damaged }
  }
  try {
    await work(store.paths, pages)
  } finally {
    await environment.close()
    await store.close(true)
  }
}

test('pages are the same before and after segments are compressed, in both orders', (t) =>
  withLog(t, async (paths, pages) => {
    const [forward, backward] = [await pages(false), await pages(true)]
    t.equal(forward.damaged || backward.damaged, false)
    t.equal(await compressJournal(paths, 2), 2)
    t.same(await pages(false), forward)
    t.same(await pages(true), backward)
  }))

test('a page that is being read goes on while its segments are compressed', (t) =>
  withLog(t, async (paths, pages) => {
    const expected = await pages(false)
    const [read] = await Promise.all([pages(false), compressJournal(paths)])
    t.same(read, expected)
  }))

test('of a cold segment with a damaged block the other blocks are read, and pages say so', (t) =>
  withLog(t, async (paths, pages) => {
    const { sequences } = await pages(false)
    await compressJournal(paths)
    const path = segmentPath(paths, 1)
    const cold = readFileSync(path)
    const index = decodeIndex(cold.subarray(cold.length - (12 * cold.readUInt32BE(cold.length - 26) + 50)), cold.length)
    if (typeof index === 'string') throw new Error(index)
    const at = (index.blocks[2]?.memberAt ?? 0) + 1000
    cold.writeUInt8(cold.readUInt8(at) ^ 1, at)
    writeFileSync(path, cold)
    for (const order of [false, true]) {
      const found = await pages(order)
      t.equal(found.damaged, true)
      const share = found.sequences.length / sequences.length
      t.ok(share > 0.8 && share < 1, `${share} of the records`)
      t.ok(found.sequences.every((sequence) => sequences.includes(sequence)))
    }
  }))

test('a cold segment without an index is passed over, and pages say so', (t) =>
  withLog(t, async (paths, pages) => {
    const { sequences } = await pages(false)
    await compressJournal(paths)
    const path = segmentPath(paths, 1)
    const cold = readFileSync(path)
    writeFileSync(path, cold.subarray(0, -1))
    for (const order of [false, true]) {
      const found = await pages(order)
      t.equal(found.damaged, true)
      t.ok(found.sequences.length > sequences.length / 2 && found.sequences.length < sequences.length)
    }
  }))
