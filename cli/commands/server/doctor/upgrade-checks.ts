import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { NewerFormatError } from '../../../../engine/errors.ts'
import { verifyJournal } from '../../../../engine/verify/journal-verifier.ts'
import { DATA_FILE } from '../../../../projections/lmdb-environment.ts'
import { layoutInPlace } from '../../../../projections/prepare-projections.ts'
import { SCHEMA_VERSION } from '../../../../projections/tables/applied.ts'
import type { Config } from '../../../config/config-types.ts'
import { HEAL_ADVICE } from '../../../server/store/heal-advice.ts'
import { DoctorFailure, type Found } from './finding.ts'

const MEBIBYTE = 1024 ** 2

/** Every record of the journal: a start that makes projections again reads them all, and ends at the first that is damaged. */
export async function wholeJournal(paths: StorePaths): Promise<Found> {
  if (!nodeDisk.exists(paths.journal)) return { status: 'skipped', detail: 'the store was not created yet' }
  const { intact, records, newer, problems, problemCount } = await verifyJournal(paths.journal, {
    threads: availableParallelism(),
  })
  if (intact) return `all ${records} records are intact`
  const [problem] = problems
  if (problem === undefined)
    throw new NewerFormatError(`it has ${newer.length} kinds of records that this program does not know`)
  const { segment, offset, verdict, detail } = problem
  throw new DoctorFailure(
    `${problemCount} problems; the first: ${join(paths.journal, segment)}, offset ${offset}: ${verdict}, ${detail}`,
    `${HEAL_ADVICE}; until then keep the program that runs`,
  )
}

/**
 * Whether the first start of this program has to make the projections again, and whether the disk has room for others as large.
 * A server of another version may have them open: they are only read.
 */
export async function newProjections(config: Config, paths: StorePaths): Promise<Found> {
  if (!nodeDisk.exists(paths.projections)) {
    return { status: 'skipped', detail: 'there are none: the next start derives them from the journal' }
  }
  const layout = await layoutInPlace(paths)
  if (layout === SCHEMA_VERSION) return `their layout is that of this program (${layout}): nothing is made again`
  const bytes = nodeDisk.sizeOf(join(paths.projections, DATA_FILE))
  const free = nodeDisk.space(paths.root).availableBytes - config['storage.reserved_mib'] * MEBIBYTE
  const [needed, left] = [bytes, free].map((size) => Math.ceil(size / MEBIBYTE))
  const what = `their layout is ${layout ?? 'unknown'}, that of this program ${SCHEMA_VERSION}: the first start makes about ${needed} MiB`
  if (free < bytes) throw new Error(`${what}, and ${left} MiB are free above storage.reserved_mib`)
  return `${what} in projections-next/, and the old ones stay until the server accepts requests; object-store projections prepare makes them before`
}
