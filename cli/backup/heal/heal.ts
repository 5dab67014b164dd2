import type { Disk } from '../../../engine/disk/disk.ts'
import { previous, type Sequence } from '../../../engine/brands.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { isRowDamage } from '../../../engine/errors.ts'
import { findKeys } from '../../../engine/journal/key-file.ts'
import { scanOneSegment } from '../../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { readSegmentFacts } from '../../../engine/journal/segment-chain.ts'
import { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { getApplied, layoutOf, SCHEMA_VERSION } from '../../../projections/tables/applied.ts'
import { TABLES } from '../../../projections/tables/table-list.ts'
import { ExitError } from '../../exit-codes.ts'
import { type ExistingBackup, existingBackup, requirePoint } from '../checked-backup.ts'
import { payloadsOf, requireVersion, sealerOf, type WantedObject } from '../extract.ts'
import { RepairRecords } from './heal-records.ts'
import { healPayloads } from './heal-payloads.ts'
import { healSegments, type Healing } from './heal-segments.ts'

interface HealOptions {
  /** Undefined: segments, and all payloads in use. */
  readonly object: WantedObject | undefined
  readonly masterKey: Uint8Array | undefined
  /** Who repairs, for the records: an account of the host. */
  readonly by: string
  readonly progress: (text: string) => void
}

export interface HealReport extends Healing {
  /** Payloads that were read. */
  readonly checked: number
}

/**
 * Repairs a store that no server has open from a backup of it: segments of the journal, then payloads. What is intact is not
 * touched, and what is written has the digest that the journal states. The next start records each repair.
 * @param paths of the store, whose lock the caller holds
 * @throws ExitError `usage` for the backup of another store; as existingBackup, healPayloads
 */
export async function healStore(
  disk: Disk,
  paths: StorePaths,
  from: string,
  { object, masterKey, by, progress }: HealOptions,
): Promise<HealReport> {
  const existing = existingBackup(disk, from)
  requireSameStore(disk, paths, existing)
  requirePoint(existing)
  const records = new RepairRecords(disk, paths, { from, by, object, clock: systemMilliseconds })
  const journal = { disk, paths, existing, records, progress }
  const segments = object === undefined ? await healSegments(journal) : { healed: [], left: [] }
  records.end()
  if (segments.left.length > 0) return { ...segments, checked: 0 }
  const keys = masterKey && findKeys(disk, paths, masterKey).ring.storeKeys()
  const environment = openProjections(disk, paths)
  try {
    const catalog = new CatalogReader(environment)
    const only = object && payloadsOf(requireVersion(catalog, object, keys, 'the store'))
    const store = { disk, paths, catalog, existing, sealer: sealerOf(keys), records, progress }
    const { healed, left, checked } = await healPayloads(store, only)
    records.end()
    return { healed: [...segments.healed, ...healed], left, checked }
  } finally {
    await environment.close()
  }
}

/** @throws ExitError */
function requireSameStore(disk: Disk, paths: StorePaths, { backup, contents }: ExistingBackup): void {
  for (const first of segmentFirsts(disk, paths)) {
    const header = headerOf(disk, paths.segment(first))
    if (header === undefined) continue
    const id = Buffer.from(header.deploymentId).toString('hex')
    if (id === contents.deploymentId) return
    throw new ExitError(
      'usage',
      `${backup.root} is a backup of store ${contents.deploymentId}; ${paths.root} is store ${id}`,
    )
  }
  throw new ExitError('storeDamaged', `${paths.journal} has no segment with a whole header: restore the backup instead`)
}

function headerOf(disk: Disk, path: string) {
  try {
    return readSegmentFacts(disk, path)?.header
  } catch {
    return undefined
  }
}

/** The last record that the rows know; undefined for rows of another layout, a damaged row, and for none. */
function appliedOf(environment: ProjectionEnvironment): Sequence | undefined {
  if (layoutOf(environment.rawTable(TABLES.applied)) !== SCHEMA_VERSION) return undefined
  try {
    return getApplied(environment.table(TABLES.applied))?.position.sequence
  } catch (error) {
    if (isRowDamage(error)) return undefined
    throw error
  }
}

/**
 * The projections, which must have the whole journal: a place that they name is written to.
 * @throws ExitError `projectionsFailed`
 */
function openProjections(disk: Disk, paths: StorePaths): ProjectionEnvironment {
  const advice = 'start the server and stop it, or run "object-store projections rebuild", and heal again'
  if (!disk.exists(paths.projections)) throw new ExitError('projectionsFailed', `there are no projections: ${advice}`)
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const last = segmentFirsts(disk, paths).at(-1)
  const ends = last === undefined ? undefined : scanOneSegment(disk, paths, last, {}).chain.nextSequence
  if (ends !== undefined && appliedOf(environment) === previous(ends)) return environment
  void environment.close()
  throw new ExitError('projectionsFailed', `the projections do not have the whole journal, or are damaged: ${advice}`)
}
