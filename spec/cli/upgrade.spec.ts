/**
 * This build on stores that released builds wrote: it opens them, gives their answers, and derives the same from the journal
 * alone. A kind of change that no golden store has needs another golden store.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { microsecondsOf } from '../../engine/brands.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { CHANGES } from '../../engine/events/changes.ts'
import { decodeEntry, encodeEntry } from '../../engine/events/entry-codec.ts'
import { BatchBuilder } from '../../engine/journal/batch-builder.ts'
import { decodeBatchHeader, type JournalRecord, readRecords } from '../../engine/journal/batch-reader.ts'
import { decodeGenesis, decodeSeal, encodeGenesis, encodeSeal } from '../../engine/journal/bodies.ts'
import { RECORD_KIND, SEGMENT_HEADER } from '../../engine/journal/format.ts'
import { firstOf } from '../../engine/journal/positions.ts'
import { decodeSegmentHeader, encodeSegmentHeader, segmentFirsts } from '../../engine/journal/segment.ts'
import { openSegment } from '../../engine/journal/segment-file.ts'
import { checkProjections } from '../../projections/replay/check.ts'
import * as golden from '../support/golden/golden-store.ts'
import { askStranger, verifyAtRest } from '../support/journals/journal-verdicts.ts'
import { roomyDisk } from '../support/test-store.ts'

for (const { path, sha256 } of golden.GOLDEN_STORES) {
  test(`${path} opens with the answers that it had, and again without its projections`, async (t) => {
    t.equal(golden.digestOfGolden(path), sha256, 'it is never made again: a release adds another one')
    const expected = JSON.parse(readFileSync(join(path, 'expected.json'), 'utf8')) as Record<string, unknown>
    const paths = new StorePaths(golden.copyOfGolden(path, t.testdir()))
    t.match(await verifyAtRest(paths.journal, { masterKey: golden.GOLDEN_KEY }), { intact: true, notes: [] })
    t.match(askStranger(paths.journal), [/^intact \d+ records/])
    for (const round of ['from its snapshot or journal', 'from its journal']) {
      const server = await golden.startGolden(paths.root)
      const answers = await golden.goldenAnswers(server)
      for (const [request, answer] of Object.entries(expected))
        t.hasStrict(answers[request], answer, `${round}: ${request}`)
      const put = await server.wire.send('PUT', '/photos/after-the-upgrade', { body: round })
      t.equal(put.status, 200)
      t.equal((await server.wire.send('GET', '/photos/after-the-upgrade')).text, round)
      await server.wire.send('DELETE', '/photos/after-the-upgrade')
      t.same(server.failures, [])
      await server.stop()
      t.match(await checkProjections(roomyDisk, paths), { differenceCount: 0 })
      for (const derived of [paths.projections, paths.snapshots]) rmSync(derived, { recursive: true, force: true })
    }
    t.match(await verifyAtRest(paths.journal, { masterKey: golden.GOLDEN_KEY }), { intact: true })
  })

  test(`${path} is written today with the same bytes: it is read as it was meant`, (t) => {
    const paths = new StorePaths(join(path, 'data'))
    for (const first of segmentFirsts(nodeDisk, paths)) {
      const bytes = plainBytes(paths.segment(first))
      const header = decodeSegmentHeader(bytes.subarray(0, SEGMENT_HEADER.bytes))
      if (header === undefined) throw new Error(`segment ${first} has no header`)
      const chain = firstOf(header)
      const builder = new BatchBuilder(header.chainHead, microsecondsOf(0))
      const written = [encodeSegmentHeader(header)]
      let at: number = SEGMENT_HEADER.bytes
      for (let batch = decodeBatchHeader(bytes.subarray(at)); batch !== undefined; ) {
        builder.begin(batch.firstSequence)
        const fault = readRecords(bytes.subarray(at, at + batch.bytes), batch, chain, (record) =>
          builder.addAgain(record.kind, record, bodyAgain(record)),
        )
        t.equal(fault, undefined)
        written.push(Buffer.from(builder.finish(batch.batchNumber, batch.segmentNumber, batch.seals)))
        at += batch.bytes
        batch = at + 64 > bytes.length ? undefined : decodeBatchHeader(bytes.subarray(at))
      }
      t.ok(Buffer.concat(written).equals(bytes.subarray(0, at)), `segment ${first}`)
      t.ok(bytes.subarray(at).every((byte) => byte === 0))
    }
    t.end()
  })
}

test('golden stores have every kind of change', (t) => {
  const kinds = golden.GOLDEN_STORES.map(({ path }) => golden.kindsIn(join(path, 'data')))
  const missing = Object.values(CHANGES).filter(({ name }) => !kinds.some((some) => some.has(name)))
  t.same(missing, [])
  t.end()
})

function plainBytes(path: string): Buffer {
  const file = openSegment(nodeDisk, path)
  try {
    const bytes = Buffer.alloc(file.size())
    file.readAt(bytes, 0, bytes.length)
    return bytes
  } finally {
    file.close()
  }
}

/** The body of a record, decoded and encoded again. */
function bodyAgain({ kind, body }: JournalRecord): Buffer {
  if (kind === RECORD_KIND.genesis) return encodeGenesis(decodeGenesis(body))
  const seal = kind === RECORD_KIND.seal && decodeSeal(body)
  if (seal) return encodeSeal(seal)
  const entry = decodeEntry(body)
  return Buffer.from(encodeEntry(entry, entry.result, entry.intent, entry.changes))
}
