import { microsecondsOf } from '../../../engine/brands.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { Engine } from '../../../engine/loop/engine.ts'
import { EngineLoop } from '../../../engine/loop/engine-loop.ts'
import { StrangerRecords } from '../../../engine/records/stranger-records.ts'
import { keepUnrecorded } from '../../../engine/journal/recovery/unrecorded.ts'
import { JournalRoom } from '../../../engine/journal/journal-room.ts'
import { LocalEngineClient } from '../../../engine/client/local-client.ts'
import { SpaceGuard } from '../../../engine/payloads/space-guard.ts'
import { SpaceReserve } from '../../../engine/payloads/space-reserve.ts'
import { VolumeWriter } from '../../../engine/payloads/volume-writer.ts'
import { CatalogReader } from '../../../projections/catalog/catalog-reader.ts'
import { writeStopSums } from '../../../projections/stop-sums.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import type { OpenStore, StoreHooks } from './opened-store.ts'
import { recordKeyChange } from './change-master-key.ts'
import { ClockWatermark } from './clock-watermark.ts'
import { recordLate, recordRestore, recordStart } from './first-entries.ts'
import { HighWaterMark } from './high-water-mark.ts'
import { closeAll, type Opened } from './opened-parts.ts'
import { PayloadRemoval } from './payload-removal.ts'
import type { EngineParts } from './engine-parts.ts'

const SERVER_STOP = systemAudit('server', 'server.stop', 'server')

/** Starts the engine, and records what the start itself has to record. */
export async function startEngine(parts: EngineParts): Promise<OpenStore> {
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
    onBatchDone: () => hooks.onBatchDone(journal.position.orderMicroseconds),
    roomFor: () => room.roomFor,
    ...(hooks.onRoomChanged === undefined ? {} : { onRoomChanged: hooks.onRoomChanged }),
    onSettingsChanged: () => hooks.onSettingsChanged?.(journal.position.orderMicroseconds),
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
    if (healthy) await writeStopSums(disk, paths)
  }
  return { deploymentId, start, loop, client, catalog, journal, strangers, report, space, close }
}

/** Records the first entries of this start before the first request. Returns its name. */
async function recordFirst(parts: EngineParts, client: EngineClient, loop: EngineLoop): Promise<string> {
  const { disk, paths, options } = parts
  const start = await recordStart(client, disk, paths, options.version)
  await recordRestore(client, disk, paths)
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
