import { randomBytes } from 'node:crypto'
import { next, previous, sequenceOf } from '../../../engine/brands.ts'
import { systemClock } from '../../../engine/clock.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AccessAuthentication } from '../../../engine/access/access-authentication.ts'
import { KeyRing } from '../../../engine/keys/key-ring.ts'
import { masterKeyCheck } from '../../../engine/keys/store-keys.ts'
import { decodeGenesis, type Genesis } from '../../../engine/journal/bodies.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import { Journal } from '../../../engine/journal/journal.ts'
import { JournalDamagedError } from '../../../engine/journal/journal-errors.ts'
import type { FoundKeys } from '../../../engine/journal/key-file.ts'
import type { LastRecord } from '../../../engine/journal/positions.ts'
import { readGenesis } from '../../../engine/journal/read-journal.ts'
import { requireKnownFormat } from '../../../engine/journal/known-format.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { sweepCompressing } from '../../../engine/journal/cold/compress-segment.ts'
import { type JournalTail, recoverJournal } from '../../../engine/journal/recovery/recovery.ts'
import { giveBackForStart } from '../../../engine/payloads/space-reserve.ts'
import { AccessSeal } from '../../../projections/access/access-seal.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import { openProjections } from '../../../projections/open-projections.ts'
import { replay } from '../../../projections/replay/replay.ts'
import { earlyKeys, identityOf, type KeysOutcome } from '../../access/access-keys.ts'
import type { OpeningReport, StoreHooks } from './opened-store.ts'
import { keepKeys } from './change-master-key.ts'
import type { Opened } from './opened-parts.ts'
import { requireWhole } from './whole-directory.ts'
import type { EngineParts, OpenOptions } from './engine-parts.ts'

/**
 * Recovers the journal, opens the projections and brings them up to it. `opened` gets each part that is open, for the caller to
 * close when a later one fails.
 * @throws JournalDamagedError, AcknowledgedDataLostError, MasterKeyMismatchError, NewerFormatError, StoreUnreleasedError
 */
export async function recoverStore(
  disk: Disk,
  paths: StorePaths,
  options: OpenOptions,
  hooks: StoreHooks,
  opened: Opened[],
): Promise<EngineParts> {
  requireKnownFormat(disk, paths.journal)
  requireWhole(disk, paths)
  const wasInUse = disk.list(paths.volumes).length > 0 || disk.list(paths.files).length > 0
  for (const path of [paths.journal, paths.volumes, paths.files, paths.uploads, paths.holds]) disk.makeDirectory(path)
  // Spare files of an earlier run are made again; removing them gives space for recovery on a full disk.
  for (const path of [paths.journalSpare, paths.volumeSpare, paths.keysMaking]) disk.remove(path)
  sweepCompressing(disk, paths)
  giveBackForStart(disk, paths)
  // An earlier start may have crashed before it synced their names.
  for (const path of [paths.root, paths.payloads]) disk.syncDirectory(path)
  const head = HeadFile.open(disk, paths)
  opened.push(head)
  const mark = head.newest
  // Without a journal nothing can be rebuilt: keep the projections as evidence that there was one.
  const hasJournal = segmentFirsts(disk, paths).length > 0
  const early = hasJournal ? earlyKeys(disk, paths, options.masterKey) : undefined
  const projections = await openProjections(disk, paths, {
    distrusted: hasJournal ? distrust(mark, options.bootId) : undefined,
    wasClean: mark?.clean === true,
    identity: early && identityOf(early),
  })
  opened.push(projections.environment)
  const applied = projections.state.applied()
  const tail = recoverJournal(disk, paths, { mark, applied, wasInUse })
  const genesis = requireGenesis(disk, paths, tail, options.masterKey)
  const { ring, isRecorded } = requireKeys(tail && early, genesis, options.masterKey)
  // From here on projections are written without a sync; after a power cut they must not count as cleanly stopped.
  if (mark?.clean === true) head.write({ ...mark, clean: false, bootId: options.bootId })
  const clock = hooks.clock ?? systemClock
  const journalOptions = { ...options, ...(hooks.onSync && { onSync: hooks.onSync }) }
  const journal =
    tail === undefined
      ? Journal.create(disk, paths, journalOptions, genesis, clock())
      : Journal.open(disk, paths, journalOptions, tail, mark?.clean === true && mark.bootId === options.bootId)
  opened.push(journal)
  // The refused batch is cut off now. This mark and the next one overwrite the note in both slots before any entry.
  if (mark?.refused !== undefined) {
    const { sequence, batch, head: hash, bootId } = mark
    head.write({ sequence, batch, head: hash, clean: false, bootId })
  }
  const keys = ring.storeKeys()
  const access = new AccessAuthentication(keys)
  const recounted = (found: Recounted) => hooks.onRecounted?.(found)
  const replayedRecords = replay(disk, paths, projections.environment, applied, { access, recounted })
  projections.state.tellRecounts(recounted)
  const seal = new AccessSeal(projections.environment, keys.accessRows)
  projections.environment.write(() => seal.sealAll())
  projections.state.sealWith(seal)
  // Replay has found no change of the key that the file does not know.
  if (!isRecorded) keepKeys(disk, paths, ring)
  for (const name of disk.list(paths.uploads)) disk.remove(paths.upload(name))
  const report = {
    created: tail === undefined,
    replayedRecords,
    discardedProjections: projections.discarded,
    snapshot: projections.snapshot,
    refusedSnapshots: projections.refusedSnapshots,
    cut: tail?.cut,
    changedMasterKey: undefined,
    verified: tail && verifiedBy(tail, applied),
  }
  const parts = { disk, paths, options, hooks, clock, head, journal, projections, report, keys, access }
  return { ...parts, ring, nextMasterKey: options.nextMasterKey }
}

/** The records whose chain a start has verified: the last segment, and what replay has applied. */
function verifiedBy({ segment, chain }: JournalTail, applied: LastRecord | undefined): OpeningReport['verified'] {
  const replayed = applied === undefined ? sequenceOf(0) : next(applied.sequence)
  const { firstSequence } = segment.header
  return {
    from: replayed < firstSequence ? replayed : firstSequence,
    through: previous(chain.nextSequence),
    headHash: Buffer.from(chain.head).toString('hex'),
  }
}

/** Why the projections must be rebuilt. They are not synced, so they survive the end of the process but not of the kernel. */
function distrust(mark: HeadFile['newest'], bootId: string): string | undefined {
  if (mark === undefined) return 'there is no high-water mark'
  if (mark.clean || mark.bootId === bootId) return undefined
  return 'the host stopped without a clean stop of the store'
}

function requireGenesis(disk: Disk, paths: StorePaths, tail: JournalTail | undefined, masterKey: Uint8Array): Genesis {
  if (tail === undefined) {
    const deploymentId = randomBytes(16)
    return { deploymentId, masterKeyCheck: masterKeyCheck(masterKey, deploymentId) }
  }
  const genesis = decodeGenesis(readGenesis(disk, paths))
  if (Buffer.compare(genesis.deploymentId, tail.segment.header.deploymentId) !== 0) {
    throw new JournalDamagedError(`${tail.segment.path}: the segment is of another deployment than the genesis`)
  }
  return genesis
}

/** @throws MasterKeyMismatchError, or what else the keys were not found for */
function requireKeys(early: KeysOutcome | undefined, genesis: Genesis, masterKey: Uint8Array): FoundKeys {
  if (early === undefined) return { ring: KeyRing.of(genesis, [], masterKey) as KeyRing, isRecorded: false }
  if ('failure' in early) throw early.failure
  return early.found
}
