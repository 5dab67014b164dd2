import type { Disk } from '../../engine/disk/disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { ProjectionEnvironment, type Row, type TableReader } from '../lmdb-environment.ts'
import { buildProjections, buildTreesOf } from './rebuild.ts'
import type { ReplayProgress } from './replay.ts'
import { TABLES } from '../tables/table-list.ts'
import { getApplied, refuseNewer } from '../tables/applied.ts'
import { compareTrees, type TreeDifference } from '../checkpoints/build-trees.ts'
import { TreeFiles, treesIn } from '../checkpoints/tree-files.ts'

/**
 * A row that differs from the journal. Keys and values in hexadecimal; undefined for a missing row. The hashes of a
 * tree count as rows.
 */
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
 * Builds other projections from the journal, up to the position of the stored ones, and compares every row of every table,
 * with its sum, and every hash of the trees, where there are some.
 * The caller holds the store's lock.
 * @throws JournalDamagedError; ProjectionsNewerError when a newer program made the stored ones
 */
export async function checkProjections(disk: Disk, paths: StorePaths, progress?: ReplayProgress): Promise<CheckReport> {
  const aside = paths.projectionsCheck
  disk.removeTree(aside)
  const stored = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  try {
    const applied = getApplied(stored.rawTable(TABLES.applied))
    refuseNewer(applied?.schemaVersion)
    const records = await buildProjections(disk, paths, aside, {
      progress,
      until: applied?.position.sequence ?? 'none',
    })
    const expected = ProjectionEnvironment.open(aside, { readOnly: true })
    try {
      const differences = new Differences()
      const rows = compareAll(stored, expected, differences)
      const hasTrees = TreeFiles.exist(disk, treesIn(paths.projections))
      if (hasTrees) await buildTreesOf(disk, paths, aside)
      const hashes = hasTrees ? compareTrees(disk, paths.projections, aside, (one) => differences.addHash(one)) : 0
      return { records, rows: rows + hashes, differenceCount: differences.count, differences: differences.first }
    } finally {
      await expected.close()
    }
  } finally {
    await stored.close()
    disk.removeTree(aside)
  }
}

/** Counts differences, and keeps the first of them. */
class Differences {
  readonly first: RowDifference[] = []
  count = 0

  add(difference: () => RowDifference): void {
    this.count += 1
    if (this.first.length < DIFFERENCES_MAXIMUM) this.first.push(difference())
  }

  addHash({ file, index, stored, expected }: TreeDifference): void {
    this.add(() => ({
      table: `trees/${file}`,
      key: index.toString(16),
      stored: stored.toString('hex'),
      expected: expected?.toString('hex'),
    }))
  }
}

/** @returns rows compared */
function compareAll(stored: ProjectionEnvironment, expected: ProjectionEnvironment, differences: Differences): number {
  let rows = 0
  for (const name of Object.values(TABLES)) {
    for (const [left, right] of paired(stored.rawTable(name), expected.rawTable(name))) {
      rows += 1
      if (left !== undefined && right !== undefined && left.value.equals(right.value)) continue
      differences.add(() => ({
        table: name,
        key: ((left ?? right) as Row).key.toString('hex'),
        stored: left?.value.toString('hex'),
        expected: right?.value.toString('hex'),
      }))
    }
  }
  return rows
}

/** Rows of two tables in pairs, in the order of their keys. */
function* paired(stored: TableReader, expected: TableReader): Generator<[Row | undefined, Row | undefined]> {
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
