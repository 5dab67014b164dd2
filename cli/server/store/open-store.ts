import { microsecondsOf } from '../../../engine/brands.ts'
import { randomBytes } from 'node:crypto'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { type Clock, systemClock } from '../../../engine/clock.ts'
import type { Disk } from '../../../engine/disk/disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { AccessAuthentication } from '../../../engine/access/access-authentication.ts'
import { KeyRing } from '../../../engine/keys/key-ring.ts'
import { masterKeyCheck, type StoreKeys } from '../../../engine/keys/store-keys.ts'
import { Engine } from '../../../engine/engine.ts'
import { EngineLoop } from '../../../engine/engine-loop.ts'
import { StrangerRecords } from '../../../engine/stranger-records.ts'
import type { ChangeNamed } from '../../../engine/events/changes.ts'
import { decodeGenesis, type Genesis } from '../../../engine/journal/bodies.ts'
import { keepUnrecorded } from '../../../engine/journal/unrecorded.ts'
import { HeadFile } from '../../../engine/journal/head-mark.ts'
import { Journal } from '../../../engine/journal/journal.ts'
import { JournalRoom } from '../../../engine/journal/journal-room.ts'
import { JournalDamagedError } from '../../../engine/journal/journal-errors.ts'
import type { FoundKeys } from '../../../engine/journal/key-file.ts'
import { readGenesis } from '../../../engine/journal/read-journal.ts'
import { segmentFirsts } from '../../../engine/journal/segment.ts'
import { sweepCompressing } from '../../../engine/journal/cold/compress-segment.ts'
import { type JournalTail, recoverJournal } from '../../../engine/journal/recovery.ts'
import { LocalEngineClient } from '../../../engine/client/local-client.ts'
import { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import { giveBackForStart, SpaceReserve } from '../../../engine/payloads/space-reserve.ts'
import { VolumeWriter } from '../../../engine/payloads/volume-writer.ts'
import { AccessSeal } from '../../../projections/access/access-seal.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { type OpenedProjections, openProjections } from '../../../projections/open-projections.ts'
import { replay } from '../../../projections/replay/replay.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { earlyKeys, identityOf, type KeysOutcome, requireAdopted } from '../../access/access-keys.ts'
import type { OpeningReport, OpenStore, StoreHooks } from './opened-store.ts'
import { changeMasterKey, keepKeys, mustChangeMasterKey, recordKeyChange } from './change-master-key.ts'
import { ClockWatermark } from './clock-watermark.ts'
import { recordAdoption, recordLate, recordRestore, recordStart } from './first-entries.ts'
import { HighWaterMark } from './high-water-mark.ts'
import type { StoreOptions } from './store-options.ts'
import { closeAll, closeQuietly, type Opened } from './opened-parts.ts'
import { requireWhole } from './whole-directory.ts'
import { PayloadRemoval } from './payload-removal.ts'

const SERVER_STOP = systemAudit('server', 'server.stop', 'server')

/**
 * Opens a data directory: recovers the journal, brings the projections up to it, and starts the engine. Nothing is served
 * before the state matches the journal, and no acknowledged entry is cut off.
 * @throws JournalDamagedError, AcknowledgedDataLostError, MasterKeyMismatchError
 */
export async function openStore(
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
  hooks: StoreHooks,
): Promise<OpenStore> {
  const opening = (asked: OpenOptions, told: StoreHooks) => openWith(disk, paths, asked, told)
  const changedMasterKey = mustChangeMasterKey(disk, paths, options)
    ? await changeMasterKey(options, hooks, opening)
    : undefined
  const store = await opening(options, hooks)
  return { ...store, report: { ...store.report, changedMasterKey } }
}

/** With the key that the store gets now. */
type OpenOptions = StoreOptions & { readonly nextMasterKey?: Uint8Array }

async function openWith(disk: Disk, paths: StorePaths, options: OpenOptions, hooks: StoreHooks): Promise<OpenStore> {
  const opened: Opened[] = []
  try {
    return await openParts(disk, paths, options, hooks, opened)
  } catch (error) {
    for (const part of opened.toReversed()) await closeQuietly(part)
    throw error
  }
}

async function openParts(
  disk: Disk,
  paths: StorePaths,
  options: OpenOptions,
  hooks: StoreHooks,
  opened: Opened[],
): Promise<OpenStore> {
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
  const adopted = requireAdopted(projections.state.accessChain(), options)
  for (const name of disk.list(paths.uploads)) disk.remove(paths.upload(name))
  const report = {
    created: tail === undefined,
    replayedRecords,
    discardedProjections: projections.discarded,
    snapshot: projections.snapshot,
    refusedSnapshots: projections.refusedSnapshots,
    cut: tail?.cut,
    adoptedEntries: adopted[0]?.entries ?? 0,
    changedMasterKey: undefined,
  }
  const parts = { disk, paths, options, hooks, clock, head, journal, projections, report, keys, access, adopted }
  return await startEngine({ ...parts, ring, nextMasterKey: options.nextMasterKey })
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

/** Everything that the engine needs, open and up to date with the journal. */
interface EngineParts {
  readonly disk: Disk
  readonly paths: StorePaths
  readonly options: StoreOptions
  readonly hooks: StoreHooks
  readonly clock: Clock
  readonly head: HeadFile
  readonly journal: Journal
  readonly projections: OpenedProjections
  readonly report: OpeningReport
  readonly ring: KeyRing
  readonly keys: StoreKeys
  readonly access: AccessAuthentication
  /** The key that the store gets now. */
  readonly nextMasterKey: Uint8Array | undefined
  /** To be recorded with the start. */
  readonly adopted: readonly ChangeNamed<'access.adopted'>[]
}

async function startEngine(parts: EngineParts): Promise<OpenStore> {
  const { disk, paths, options, hooks, clock, head, journal, report } = parts
  const { environment, state } = parts.projections
  const space = new SpaceGuard(disk, paths.root, options.reservedBytes)
  const volumes = new VolumeWriter(disk, paths, options, space, state.volumeEnd())
  const reserve = new SpaceReserve(disk, paths, space, options.reservedBytes)
  const mark = new HighWaterMark(head, journal, options.bootId)
  const engine = new Engine({
    journal,
    volumes,
    state: hooks.wrapState?.(state) ?? state,
    clock,
    reserve,
    access: parts.access,
    versionIds: new OpaqueIds(parts.keys.versionIds),
    clockToleranceMicroseconds: microsecondsOf(options.clockToleranceSeconds * 1_000_000),
    referenceRatioMaximum: options.referenceRatioMaximum,
    markRefused: (batch) => mark.refuse(batch),
  })
  // The last mark may name a refused batch: none is written after it.
  const onFailure: StoreHooks['onFailure'] = (error, forWaiters) => {
    mark.stop()
    hooks.onFailure(error, forWaiters)
  }
  const removal = new PayloadRemoval(disk, paths, () => space.isBelowReserve)
  const room = new JournalRoom(journal, space, reserve, options.segmentBytes)
  const strangers = new StrangerRecords(options.strangerBytesPerSecond, clock, () => space.isBelowReserve)
  const loop = new EngineLoop(engine, strangers, {
    onReleased: (released) => removal.remove(released),
    onFailure,
    onBatchDone: () => hooks.onBatchDone(journal.position.timeMicroseconds),
    roomFor: () => room.roomFor,
    ...(hooks.onRoomChanged === undefined ? {} : { onRoomChanged: hooks.onRoomChanged }),
    onSettingsChanged: () => hooks.onSettingsChanged?.(journal.position.timeMicroseconds),
  })
  const client = new LocalEngineClient(loop)
  mark.write(false)
  const start = await recordFirst(parts, client, loop)
  mark.start(
    (error) => loop.fail(error),
    () => {
      void journal.prepareSpare()
      void volumes.prepareSpare()
      reserve.keepUp()
      removal.look()
      loop.checkRoom()
    },
  )
  const catalog = new CatalogReader(environment)
  const watermark = new ClockWatermark(client, catalog, journal, clock, options.clockIntervalSeconds)
  const deploymentId = Buffer.from(journal.deploymentId).toString('hex')
  const opened: Opened[] = [reserve, volumes, journal, head, environment]
  const close = async (healthy: boolean) => {
    mark.stop()
    watermark.stop()
    if (healthy) {
      await client.execute({ kind: 'record-server-event', audit: SERVER_STOP, changes: [{ name: 'server.stopped' }] })
      await loop.drained()
      await environment.sync()
      mark.write(true)
    }
    // A process that is killed keeps nothing either.
    const keeps = healthy || loop.failure !== undefined
    loop.close()
    await closeKeeping(parts, opened, keeps ? loop.takeUnrecorded() : [])
  }
  return { deploymentId, start, loop, client, catalog, journal, strangers, report, space, close }
}

/** Records the first entries of this start before the first request. Returns its name. */
async function recordFirst(parts: EngineParts, client: EngineClient, loop: EngineLoop): Promise<string> {
  const { disk, paths, options, adopted } = parts
  const start = await recordStart(client, disk, paths, options.version)
  await recordRestore(client, disk, paths)
  await recordAdoption(client, adopted)
  await recordLate(loop, disk, paths)
  await recordKeyChange(client, parts)
  return start
}

/** Closes everything. Only then are late records kept: the reserve has given its space back. */
async function closeKeeping(parts: EngineParts, opened: Opened[], unrecorded: readonly Uint8Array[]): Promise<void> {
  try {
    await closeAll(opened)
  } finally {
    if (unrecorded.length > 0) keepForNextStart(parts, unrecorded)
  }
}

/** Keeps records that came too late for the journal, and reports the result. */
function keepForNextStart({ disk, paths, journal, clock, hooks }: EngineParts, bodies: readonly Uint8Array[]): void {
  try {
    keepUnrecorded(disk, paths, journal.position.sequence, clock(), bodies)
    hooks.onUnrecorded?.(bodies.length, undefined)
  } catch (error) {
    hooks.onUnrecorded?.(bodies.length, error)
  }
}
