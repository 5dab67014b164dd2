import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment, type Row, type Table } from '../lmdb-environment.ts'
import { buildProjections } from './rebuild.ts'
import type { ReplayProgress } from './replay.ts'
import { TABLES } from '../tables/table-list.ts'
import { getApplied, refuseNewer } from '../tables/applied.ts'

/** A row that differs from what the journal gives. Keys and values in hexadecimal; undefined where there is no row. */
interface RowDifference {
  readonly table: string
  readonly key: string
  readonly stored: string | undefined
  readonly expected: string | undefined
}

interface CheckReport {
  /** Records read from the journal. */
  readonly records: number
  readonly rows: number
  readonly differenceCount: number
  /** The first of them. */
  readonly differences: readonly RowDifference[]
}

const DIFFERENCES_MAXIMUM = 100

/**
 * Builds other projections from the journal, up to the position of the stored ones, and compares every row of every table.
 * The caller holds the store's lock.
 * @throws JournalDamagedError; ProjectionsNewerError when a newer program made the stored ones
 */
export async function checkProjections(disk: Disk, paths: StorePaths, progress?: ReplayProgress): Promise<CheckReport> {
  const aside = paths.projectionsCheck
  disk.removeTree(aside)
  const stored = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    const applied = getApplied(stored.table(TABLES.applied))
    refuseNewer(applied?.schemaVersion)
    const records = await buildProjections(disk, paths, aside, {
      progress,
      until: applied?.position.sequence ?? 'none',
    })
    const expected = ProjectionEnvironment.open(aside, { readOnly: true })
    try {
      return { records, ...compareAll(stored, expected) }
    } finally {
      await expected.close()
    }
  } finally {
    await stored.close()
    disk.removeTree(aside)
  }
}

function compareAll(stored: ProjectionEnvironment, expected: ProjectionEnvironment): Omit<CheckReport, 'records'> {
  const differences: RowDifference[] = []
  let rows = 0
  let differenceCount = 0
  for (const name of Object.values(TABLES)) {
    for (const [left, right] of paired(stored.table(name), expected.table(name))) {
      rows += 1
      if (left !== undefined && right !== undefined && left.value.equals(right.value)) continue
      differenceCount += 1
      if (differences.length >= DIFFERENCES_MAXIMUM) continue
      differences.push({
        table: name,
        key: ((left ?? right) as Row).key.toString('hex'),
        stored: left?.value.toString('hex'),
        expected: right?.value.toString('hex'),
      })
    }
  }
  return { rows, differenceCount, differences }
}

/** Rows of two tables side by side, in the order of their keys. */
function* paired(stored: Table, expected: Table): Generator<[Row | undefined, Row | undefined]> {
  const lefts = stored.rows({})[Symbol.iterator]()
  const rights = expected.rows({})[Symbol.iterator]()
  let left = next(lefts)
  let right = next(rights)
  while (left !== undefined || right !== undefined) {
    const order = compareKeys(left, right)
    yield [order <= 0 ? left : undefined, order >= 0 ? right : undefined]
    if (order <= 0) left = next(lefts)
    if (order >= 0) right = next(rights)
  }
}

function next(rows: Iterator<Row>): Row | undefined {
  const step = rows.next()
  return step.done === true ? undefined : step.value
}

function compareKeys(left: Row | undefined, right: Row | undefined): number {
  if (left === undefined) return 1
  return right === undefined ? -1 : Buffer.compare(left.key, right.key)
}
