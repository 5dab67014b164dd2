/** Runs of the audit log, up to their bound and beyond it. */
import { mkdirSync } from 'node:fs'
import { test } from 'tap'
import type { AppliedPosition } from '../../engine/journal/positions.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { sequenceOf } from '../../engine/brands.ts'
import { stretchesOf } from '../../projections/audit/time-stretches.ts'
import { putApplied } from '../../projections/tables/applied.ts'
import { noteBatch } from '../../projections/tables/audit-index.ts'
import { allRuns, hasOneRun, noteRun } from '../../projections/tables/audit-runs.ts'
import { openTables } from '../../projections/tables/table-list.ts'
import { branded } from '../support/plain.ts'

const MAXIMUM = 5

test('beyond the bound the last run has no order, and nothing is lost from it', async (t) => {
  const directory = `${t.testdir()}/projections`
  mkdirSync(directory, { recursive: true })
  const environment = ProjectionEnvironment.open(directory, { readOnly: false })
  const tables = openTables(environment)
  // Batches of two records; their times go back again and again.
  const times = [100, 200, 50, 60, 40, 300, 20, 30, 10, 500, 5, 400, 3, 3, 700]
  const positions = times.map((time, index) => {
    const before = times[index - 1] ?? 0
    return branded<AppliedPosition>({
      sequence: 2 * index + 1,
      batch: index,
      head: new Uint8Array(32),
      orderMicroseconds: 1000 + index,
      timeMicroseconds: time + 1,
      segmentNumber: 0,
      segmentFirstSequence: 0,
      batchOffset: 256 + 100 * index,
      offset: 256 + 100 * (index + 1),
      earliestMicroseconds: time,
      latestMicroseconds: time + 1,
      differ: time < before,
      descend: false,
    })
  })
  environment.write(() => {
    for (const position of positions) {
      const first = sequenceOf(position.sequence - 1)
      noteRun(tables, first, position, MAXIMUM)
      noteBatch(tables.auditIndex, first, position)
      putApplied(tables.applied, position)
    }
  })
  environment.refresh()
  const runs = allRuns(tables.auditRuns, MAXIMUM)
  t.notOk(hasOneRun(tables.auditRuns))
  t.equal(runs.length, MAXIMUM + 1)
  t.same(
    runs.map(({ isOrdered }) => isOrdered),
    [true, true, true, true, true, false],
  )
  t.equal(runs.at(-1)?.earliestMicroseconds, 3, 'the earliest time of all that is merged')
  const last = positions.at(-1) as AppliedPosition
  const end = {
    nextSequence: sequenceOf(last.sequence + 1),
    timeMicroseconds: last.timeMicroseconds,
    head: last.head,
    place: { segmentFirstSequence: last.segmentFirstSequence, offset: last.offset },
  }
  for (let since = 0; since < 720; since += 7) {
    for (let until = since + 1; until < 720; until += 61) {
      const range = branded<Parameters<typeof stretchesOf>[1]>({ sinceMicroseconds: since, untilMicroseconds: until })
      const stretches = stretchesOf(tables, range, end, MAXIMUM)
      const missed = positions.filter(
        ({ sequence, earliestMicroseconds, latestMicroseconds }) =>
          latestMicroseconds >= since &&
          earliestMicroseconds < until &&
          !stretches.some(({ first, following }) => sequence >= first && sequence < following),
      )
      if (missed.length > 0) t.same(missed, [], `${since} to ${until}`)
    }
  }
  await environment.close()
})
