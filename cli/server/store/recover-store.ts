import { randomBytes } from 'node:crypto'
import { millisecondsOf, next, previous, sequenceOf } from '../../../engine/brands.ts'
import { systemClock } from '../../../engine/clock.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AccessAuthentication } from '../../../engine/access/access-authentication.ts'
import { KeyRing } from '../../../engine/keys/key-ring.ts'
import { masterKeyCheck, type StoreKeys } from '../../../engine/keys/store-keys.ts'
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
import { withGenesisGap } from '../../../engine/journal/recovery/linked-segments.ts'
import { type JournalTail, recoverJournal } from '../../../engine/journal/recovery/recovery.ts'
import { giveBackForStart } from '../../../engine/payloads/space-reserve.ts'
import { AccessSeal } from '../../../projections/apply/access-seal.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import { takePlace } from '../../../projections/next-projections.ts'
import { openProjections, type OpenedProjections } from '../../../projections/open-projections.ts'
import { replay } from '../../../projections/replay/replay.ts'
import { earlyKeys, identityOf, type KeysOutcome } from '../../access/access-keys.ts'
import type { OpeningReport, StoreHooks } from './opened-store.ts'
import { keepKeys } from './change-master-key.ts'
import { HEAL_ADVICE } from './heal-advice.ts'
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
  const wasInUse = [paths.volumes, paths.files].some((path) => disk.list(path).length > 0)
  prepareDirectories(disk, paths)
  const clock = hooks.clock ?? systemClock
  const head = HeadFile.open(disk, paths)
  opened.push(head)
  const mark = head.newest
  // Without a journal nothing can be rebuilt: keep the projections as evidence that there was one.
  const hasJournal = segmentFirsts(disk, paths).length > 0
  const early = hasJournal ? earlyKeys(disk, paths, options.masterKey) : undefined
  if (disk.exists(paths.projectionsNext)) refuseWithoutKeys(early)
  const made = await openProjections(disk, paths, {
    bootId: options.bootId,
    hasJournal,
    distrusted: hasJournal ? distrust(mark, options.bootId) : undefined,
    wasClean: mark?.clean === true,
    now: millisecondsOf(Math.floor(clock() / 1000)),
    identity: early && identityOf(early),
    stopAsked: hooks.stopAsked,
  })
  let projections: OpenedProjections = made
  opened.push({ close: () => projections.environment.close() })
  const applied = made.state.applied()
  const tail = advising(() => recoverJournal(disk, paths, { mark, applied, wasInUse }))
  const origin = originOf(disk, paths, tail, options.masterKey)
  const { ring, isRecorded, genesisFault } = advising(() => requireKeys(early, origin, options.masterKey))
  const known = { gaps: tail?.gaps ?? [], applied: applied?.sequence }
  const gaps = advising(() => withGenesisGap(disk, paths, genesisFault, known))
  // Projections are written without a sync; after a power cut they must not count as cleanly stopped.
  const wasClean = mark?.clean === true
  const markInUse = () => {
    if (wasClean) head.writeBoth({ ...mark, clean: false, bootId: options.bootId })
  }
  if (made.beside === undefined) markInUse()
  const journalOptions = { ...options, ...(hooks.onSync && { onSync: hooks.onSync }) }
  const journal =
    tail === undefined
      ? Journal.create(disk, paths, journalOptions, origin as Genesis, clock())
      : Journal.open(disk, paths, journalOptions, tail, wasClean && mark.bootId === options.bootId)
  opened.push(journal)
  forgetRefused(head, mark)
  const keys = ring.storeKeys()
  const access = new AccessAuthentication(keys)
  const replaying = { keys, access, hooks, total: tail?.chain.nextSequence ?? 0 }
  const replayedRecords = advising(() => replayInto(disk, paths, made, replaying))
  if (made.beside !== undefined) {
    projections = await switchedTo(disk, paths, made, { ...made.beside, isDurable: wasClean })
    markInUse()
  }
  projections.state.tellRecounts((found) => hooks.onRecounted?.(found))
  sealRows(projections, keys.accessRows, replayedRecords > 0)
  if (!isRecorded) keepKeys(disk, paths, ring)
  for (const name of disk.list(paths.uploads)) disk.remove(paths.upload(name))
  const report = {
    created: tail === undefined,
    replayedRecords,
    discardedProjections: projections.discarded,
    snapshot: projections.snapshot,
    refusedSnapshots: projections.refusedSnapshots,
    cut: tail?.cut,
    gaps,
    lostMark: tail !== undefined && mark === undefined,
    changedMasterKey: undefined,
    verified: tail && verifiedBy(tail, applied),
  }
  const { nextMasterKey } = options
  return { disk, paths, options, hooks, clock, head, journal, projections, report, keys, access, ring, nextMasterKey }
}

/** Such a start ends in any case, and without keys `openProjections` would throw away rows that are half made. */
function refuseWithoutKeys(early: ReturnType<typeof earlyKeys> | undefined): void {
  if (early !== undefined && 'failure' in early) advising(() => refuse(early))
}

async function switchedTo(
  disk: Disk,
  paths: StorePaths,
  made: OpenedProjections,
  how: Parameters<typeof takePlace>[3],
): Promise<OpenedProjections> {
  return { ...made, ...(await takePlace(disk, paths, made.environment, how)) }
}

/** The refused batch of the mark is cut off. */
function forgetRefused(head: HeadFile, mark: HeadFile['newest']): void {
  if (mark?.refused === undefined) return
  const { sequence, batch, head: hash, bootId } = mark
  head.writeBoth({ sequence, batch, head: hash, clean: false, bootId })
}

/** Makes the directories that are missing, and removes what an earlier run left. */
function prepareDirectories(disk: Disk, paths: StorePaths): void {
  for (const path of [paths.journal, paths.volumes, paths.files, paths.uploads, paths.holds]) disk.makeDirectory(path)
  // Spare files of an earlier run are made again; removing them gives space for recovery on a full disk.
  for (const path of [paths.journalSpare, paths.volumeSpare, paths.keysMaking]) disk.remove(path)
  sweepCompressing(disk, paths)
  giveBackForStart(disk, paths)
  // An earlier start may have crashed before it synced their names.
  for (const path of [paths.root, paths.payloads]) disk.syncDirectory(path)
}

interface ReplayParts {
  readonly keys: StoreKeys
  readonly access: AccessAuthentication
  readonly hooks: StoreHooks
  /** Records of the journal. */
  readonly total: number
}

/** Brings the projections up to the journal. */
function replayInto(
  disk: Disk,
  paths: StorePaths,
  { environment, state, beside }: OpenedProjections,
  { keys, access, hooks, total }: ReplayParts,
): number {
  const recounted = (found: Recounted) => hooks.onRecounted?.(found)
  const applied = state.applied()
  const before = applied === undefined ? 0 : next(applied.sequence)
  const progress = (records: number) => hooks.onReplay?.({ done: before + records, total })
  progress(0)
  const seal = beside && new AccessSeal(environment, keys.accessRows)
  return replay(disk, paths, environment, applied, { access, recounted, seal, progress, stopAsked: hooks.stopAsked })
}

/** Has the rows of access sealed from here on. All of them are read once, by what has opened them, unless replay has changed them since. */
function sealRows({ environment, state, seal: found }: OpenedProjections, key: Uint8Array, areChanged: boolean): void {
  const isRight = !areChanged && found?.isOf(key) === true
  const seal = isRight ? found : new AccessSeal(environment, key)
  if (!isRight) environment.write(() => seal.sealAll())
  state.sealWith(seal)
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

/**
 * The genesis of a new store.
 * @throws JournalDamagedError when the last segment is of another deployment than the genesis
 */
function originOf(
  disk: Disk,
  paths: StorePaths,
  tail: JournalTail | undefined,
  masterKey: Uint8Array,
): Genesis | undefined {
  if (tail !== undefined) return requireOneDeployment(disk, paths, tail)
  const deploymentId = randomBytes(16)
  return { deploymentId, masterKeyCheck: masterKeyCheck(masterKey, deploymentId) }
}

/**
 * A genesis that cannot be read is the matter of its caller.
 * @throws JournalDamagedError
 */
function requireOneDeployment(disk: Disk, paths: StorePaths, { segment }: JournalTail): undefined {
  let genesis: Genesis
  try {
    genesis = decodeGenesis(readGenesis(disk, paths))
  } catch (error) {
    if (error instanceof JournalDamagedError) return undefined
    throw error
  }
  if (Buffer.compare(genesis.deploymentId, segment.header.deploymentId) === 0) return undefined
  throw new JournalDamagedError(`${segment.path}: the segment is of another deployment than the genesis`)
}

/**
 * @param origin of a new store
 * @throws MasterKeyMismatchError, or what else the keys were not found for
 */
function requireKeys(early: KeysOutcome | undefined, origin: Genesis | undefined, masterKey: Uint8Array): FoundKeys {
  if (origin !== undefined) {
    return { ring: KeyRing.of(origin, [], masterKey) as KeyRing, isRecorded: false, genesisFault: undefined }
  }
  return early !== undefined && 'found' in early ? early.found : refuse(early)
}

/** @throws what the keys were not found for */
function refuse(early: KeysOutcome | undefined): never {
  throw early !== undefined && 'failure' in early ? early.failure : new Error('the keys were not looked for')
}

/** Says what to do next about damage that ends the start. */
function advising<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof JournalDamagedError) || error.message.includes('`object-store ')) throw error
    throw new JournalDamagedError(`${error.message}; ${HEAL_ADVICE}`, { cause: error })
  }
}
