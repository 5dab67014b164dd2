import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { EngineClient } from '../../engine/client.ts'
import { type Clock, systemClock } from '../../engine/clock.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { type StorePaths, segmentFirstSequence } from '../../engine/disk/store-paths.ts'
import { OpaqueIds } from '../../engine/opaque-ids.ts'
import { Engine, type ReleasedFiles } from '../../engine/engine.ts'
import { EngineLoop } from '../../engine/engine-loop.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import type { JournalRecovered, ServerStarted } from '../../engine/events/changes.ts'
import { decodeGenesis, type Genesis } from '../../engine/journal/bodies.ts'
import { type CutTail, evidenceIsRecorded, pendingEvidence } from '../../engine/journal/evidence.ts'
import { HeadFile } from '../../engine/journal/head-mark.ts'
import { Journal } from '../../engine/journal/journal.ts'
import { JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import { readGenesis } from '../../engine/journal/read-journal.ts'
import { type JournalTail, recoverJournal } from '../../engine/journal/recovery.ts'
import { LocalEngineClient } from '../../engine/local-client.ts'
import { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import { SpaceReserve } from '../../engine/payloads/space-reserve.ts'
import { VolumeWriter } from '../../engine/payloads/volume-writer.ts'
import { CatalogReader } from '../../projections/catalog-reader.ts'
import { type OpenedProjections, openProjections } from '../../projections/open-projections.ts'
import { replay } from '../../projections/replay.ts'
import { ClockWatermark } from './clock-watermark.ts'
import { HighWaterMark } from './high-water-mark.ts'
import { derivedKey, MasterKeyMismatchError, masterKeyCheck, VERSION_ID_KEY } from './master-key-check.ts'

/** Settings of a store that the engine needs. Sizes are bytes. */
export interface StoreOptions {
  readonly masterKey: Uint8Array
  readonly segmentBytes: number
  readonly volumeBytes: number
  readonly reservedBytes: number
  /** How far the clock may be behind the journal before retention cannot be judged any more. */
  readonly clockToleranceSeconds: number
  /** How often the time is put into the journal when nothing else is. */
  readonly clockIntervalSeconds: number
  /** Version of the program, for the journal. */
  readonly version: string
  /** Boot id of the host's kernel. */
  readonly bootId: string
}

/** What opening found and did, for the log. */
export interface OpeningReport {
  readonly created: boolean
  readonly replayedRecords: number
  readonly discardedProjections: string | undefined
  readonly cut: CutTail | undefined
}

/** An open store: the engine and what belongs to it. The caller holds the lock. */
export interface OpenStore {
  readonly deploymentId: string
  /** Name of this start; payload files written in it begin with it. */
  readonly start: string
  readonly loop: EngineLoop
  readonly client: EngineClient
  readonly catalog: CatalogReader
  readonly journal: Journal
  readonly report: OpeningReport
  readonly space: SpaceGuard
  /** False after a failure: then nothing more may be written, the mark included. */
  close(healthy: boolean): Promise<void>
}

export interface StoreHooks {
  readonly onFailure: (error: unknown) => void
  readonly onBatchDone: () => void
  /** Who may do what has changed; called after the commit and before any reply. */
  readonly onAccessChanged?: () => void
  /** Another clock than the host's. */
  readonly clock?: Clock
}

const SERVER: AuditContext = {
  principal: 'system:server',
  credentialId: undefined,
  sourceAddress: undefined,
  requestId: undefined,
  operation: 'server.start',
  resource: 'server',
  metadata: [],
}
const SERVER_STOP: AuditContext = { ...SERVER, operation: 'server.stop' }

/**
 * Opens a data directory: recovers the journal, brings the projections up to it, and starts the engine. The order is
 * the promise: nothing is served before the state is that of the journal, and nothing is cut off that was acknowledged.
 * @throws JournalDamagedError, AcknowledgedDataLostError, MasterKeyMismatchError
 */
export async function openStore(
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
  hooks: StoreHooks,
): Promise<OpenStore> {
  const opened: Opened[] = []
  try {
    return await openParts(disk, paths, options, hooks, opened)
  } catch (error) {
    for (const part of opened.toReversed()) await closeQuietly(part)
    throw error
  }
}

/** A part that is open, to be closed when a later one cannot be opened. */
interface Opened {
  close(): void | Promise<void>
}

/** Why the store cannot be opened has been found already; what fails now says less. */
async function closeQuietly(part: Opened): Promise<void> {
  try {
    await part.close()
  } catch {
    // The parts before it are closed all the same.
  }
}

/**
 * Closes every part once, also those behind one that cannot be closed.
 * @throws what the first of them failed with
 */
async function closeAll(parts: Opened[]): Promise<void> {
  const errors: unknown[] = []
  for (const part of parts.splice(0)) {
    try {
      await part.close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

async function openParts(
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
  hooks: StoreHooks,
  opened: Opened[],
): Promise<OpenStore> {
  const wasInUse = disk.list(paths.volumes).length > 0 || disk.list(paths.files).length > 0
  for (const path of [paths.journal, paths.volumes, paths.files, paths.uploads]) disk.makeDirectory(path)
  // An earlier start may have ended between making one of them and syncing its name.
  for (const path of [paths.root, paths.payloads]) disk.syncDirectory(path)
  const head = HeadFile.open(disk, paths)
  opened.push(head)
  const mark = head.newest
  // Without a journal nothing can be made again: what there is of projections is a witness that there was one.
  const hasJournal = disk.list(paths.journal).some((name) => segmentFirstSequence(name) !== undefined)
  const projections = await openProjections(disk, paths, hasJournal ? distrust(mark, options.bootId) : undefined)
  opened.push(projections.environment)
  const applied = projections.state.applied()
  const tail = recoverJournal(disk, paths, { mark, applied, wasInUse })
  const genesis = requireGenesis(disk, paths, tail, options.masterKey)
  // Projections may be written from here on without a sync: after a power cut they must not pass for those of the stop.
  if (mark?.clean === true) head.write({ ...mark, clean: false, bootId: options.bootId })
  const clock = hooks.clock ?? systemClock
  const journal =
    tail === undefined
      ? Journal.create(disk, paths, options, genesis, clock())
      : Journal.open(disk, paths, options, tail, mark?.clean === true && mark.bootId === options.bootId)
  opened.push(journal)
  const replayedRecords = replay(disk, paths, projections.environment, applied)
  for (const name of disk.list(paths.uploads)) disk.remove(paths.upload(name))
  return await startEngine(disk, paths, options, { ...hooks, clock }, head, journal, projections, {
    created: tail === undefined,
    replayedRecords,
    discardedProjections: projections.discarded,
    cut: tail?.cut,
  })
}

/** Without a sync of their own, projections survive the end of a process and not that of the kernel. */
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
  if (!timingSafeEqual(masterKeyCheck(masterKey, genesis.deploymentId), genesis.masterKeyCheck)) {
    throw new MasterKeyMismatchError('the credential master key is not the one this store was made with')
  }
  return genesis
}

async function startEngine(
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
  hooks: StoreHooks & { readonly clock: Clock },
  head: HeadFile,
  journal: Journal,
  projections: OpenedProjections,
  report: OpeningReport,
): Promise<OpenStore> {
  const { environment, state } = projections
  const space = new SpaceGuard(disk, paths.root, options.reservedBytes)
  const volumes = new VolumeWriter(disk, paths, options, space, state.volumeEnd())
  const reserve = new SpaceReserve(disk, paths, space, options.reservedBytes)
  const { clock } = hooks
  const engine = new Engine({
    journal,
    volumes,
    state,
    clock,
    reserve,
    versionIds: new OpaqueIds(derivedKey(options.masterKey, VERSION_ID_KEY, journal.deploymentId)),
    clockToleranceMicroseconds: options.clockToleranceSeconds * 1_000_000,
  })
  const mark = new HighWaterMark(head, journal, options.bootId)
  // After a failure the journal's position may be that of a batch that was never written: no mark may speak of it.
  const onFailure = (error: unknown) => {
    mark.stop()
    hooks.onFailure(error)
  }
  const onReleased = ({ files, volumes: spent }: ReleasedFiles) => {
    // What cannot be removed now is swept at the next start.
    const gone = [...files.map((name) => paths.file(name)), ...spent.map((volume) => paths.volume(volume))]
    for (const path of gone) disk.removeLater(path).catch(() => undefined)
  }
  const loop = new EngineLoop(engine, {
    onReleased,
    onFailure,
    onBatchDone: hooks.onBatchDone,
    ...(hooks.onAccessChanged === undefined ? {} : { onAccessChanged: hooks.onAccessChanged }),
  })
  const client = new LocalEngineClient(loop)
  mark.write(false)
  const start = await recordStart(client, disk, paths, options)
  mark.start(onFailure, () => {
    void journal.prepareSpare()
    void volumes.prepareSpare()
  })
  const catalog = new CatalogReader(environment)
  const watermark = new ClockWatermark(client, catalog, journal, clock, options.clockIntervalSeconds)
  const deploymentId = Buffer.from(journal.deploymentId).toString('hex')
  const parts: Opened[] = [reserve, volumes, journal, head, environment]
  const close = async (healthy: boolean) => {
    mark.stop()
    watermark.stop()
    if (healthy) {
      await client.execute({ kind: 'record-server-event', audit: SERVER_STOP, changes: [{ name: 'server.stopped' }] })
      await loop.drained()
      await environment.sync()
      mark.write(true)
    }
    loop.close()
    await closeAll(parts)
  }
  return { deploymentId, start, loop, client, catalog, journal, report, space, close }
}

/** Notes the start, and what recovery cut off, as the first entry of this start. Returns the name of the start. */
async function recordStart(
  client: EngineClient,
  disk: Disk,
  paths: StorePaths,
  options: StoreOptions,
): Promise<string> {
  const start = randomBytes(8).toString('hex')
  const changes: (ServerStarted | JournalRecovered)[] = [{ name: 'server.started', version: options.version, start }]
  for (const cut of pendingEvidence(disk, paths)) changes.push({ name: 'journal.recovered', ...cut })
  await client.execute({ kind: 'record-server-event', audit: SERVER, changes })
  evidenceIsRecorded(disk, paths)
  return start
}
