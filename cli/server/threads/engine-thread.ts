import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Microseconds } from '../../../engine/brands.ts'
import { DiskFullError } from '../../../engine/disk/disk.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { readOnlyOf } from '../../../engine/disk/read-only.ts'
import { type EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { PortServer } from '../../../engine/client/port-server.ts'
import { PUBLISH_MILLISECONDS } from '../metrics/published-metrics.ts'
import { EngineMetrics } from '../metrics/engine-metrics.ts'
import { CommitCounts } from '../../../projections/catalog/commit-counts.ts'
import { MetricSlots } from '../../../planes/metrics/metric-slots.ts'
import { openStore } from '../store/open-store.ts'
import type { OpenStore } from '../store/opened-store.ts'
import { giveBackMemorySoon } from '../../../engine/give-back-memory.ts'
import type { EngineThreadData, FromEngineThread, ToEngineThread, Unrecorded } from './thread-messages.ts'

/** The engine thread: the only writer of the journal, the volumes and the projections. */

// Pieces of a few KiB come from one in 64 KiB: an allocation for each costs more than its use.
Buffer.poolSize = 64 * 1024

const main = parentPort
if (main === null) throw new Error('the engine thread must be started by the server')
const data = workerData as EngineThreadData
const send = (message: FromEngineThread) => main.postMessage(message)
const ports: PortServer[] = []

const counts = new CommitCounts(data.commitCounts)
const syncDuration = new MetricSlots(data.metrics).syncDuration(data.thread)
let metrics: EngineMetrics | undefined

function failed(thrown: unknown, forWaiters?: EngineUnavailableError): void {
  const readOnly = readOnlyOf(thrown)
  const { name: ownName, message, cause } = readOnly ?? (thrown instanceof Error ? thrown : new Error(String(thrown)))
  // If the journal could not be written because the disk is full, report the full disk.
  const name = cause instanceof DiskFullError ? cause.name : ownName
  for (const port of ports) port.fail(forWaiters ?? new OutcomeUnknownError(message))
  send({ kind: 'failed', error: name, message: readOnly?.message ?? forWaiters?.message ?? message })
}

/** Sends the replies of a batch and updates the counters. */
function batchDone(time: Microseconds): void {
  counts.countCommit(time)
  for (const port of ports) port.flush()
  metrics?.publish()
}

let unrecorded: Unrecorded | undefined

/** Stops in order; after a failure it keeps the records that came too late, and the records still in a port. */
async function stop(store: OpenStore): Promise<void> {
  try {
    if (store.loop.failure === undefined) {
      await store.loop.drained()
      await store.close(true)
    }
  } catch (error) {
    failed(error)
  }
  if (store.loop.failure !== undefined) await setImmediate()
  await store.close(false).catch(() => undefined)
  for (const port of ports) port.close()
  send({ kind: 'stopped', ...(unrecorded && { unrecorded }) })
  main?.close()
}

try {
  const paths = new StorePaths(data.dataDirectory)
  const store = await openStore(nodeDisk, paths, data.options, {
    onFailure: failed,
    onBatchDone: batchDone,
    onSync: (seconds) => syncDuration.observe(seconds),
    onRoomChanged: (roomFor) => {
      for (const port of ports) port.roomChanged(roomFor)
      send({ kind: 'room', roomFor })
    },
    onReplay: (report) => send({ kind: 'replayed', report }),
    stopAsked: () => Atomics.load(data.stopAsked, 0) === 1,
    onRecounted: (found) => send({ kind: 'recounted', found }),
    onUnrecorded: (count, error) => {
      unrecorded = { count, problem: error === undefined ? undefined : String(error) }
    },
    onSettingsChanged: (time) => counts.countSettings(time),
  })
  metrics = new EngineMetrics(data.metrics, data.thread, nodeDisk, paths, store)
  metrics.publish()
  setInterval(() => metrics?.publish(), PUBLISH_MILLISECONDS).unref()
  main.on('message', (message: ToEngineThread) => {
    switch (message.kind) {
      case 'ask':
        send({ kind: 'answered' })
        return
      case 'attach':
        ports.push(new PortServer(message.port, store.loop))
        return
      case 'stop':
        void stop(store)
    }
  })
  giveBackMemorySoon()
  send({ kind: 'ready', deploymentId: store.deploymentId, start: store.start, report: store.report })
} catch (error) {
  failed(error)
}
