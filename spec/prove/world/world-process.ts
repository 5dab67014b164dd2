/** A process of the world: the server, and its background workers. */
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import { dropReplaced } from '../../../projections/next-projections.ts'
import { EXTENSIONS } from '../../../planes/objects/s3-extensions.ts'
import { type SimulatedTime } from './simulated-time.ts'
import { CROWD, PLACES } from './crowd.ts'
import { checksOf } from './readiness.ts'
import { ROOT, type WorldHost } from './world-host.ts'
import { WorldJobs } from './world-jobs.ts'
import { startWorldServer, type WorldServer } from './world-server.ts'
import { senderOf, TestedWebhooks } from './world-webhooks.ts'

/** Small, so that bodies of a few kilobytes get files of their own, and segments and volumes are rotated. */
const SIZES = { inlineBytesMaximum: 2048, segmentBytes: 64 * 1024, volumeBytes: 2560 }

/** Half of what a world's disk has free (`simulated-disk.ts`). */
const RESERVED_BYTES = 24 * 1024 ** 2

/** In the error of a start that reads a segment twice, and not the same, after a sync that lied. */
const START_AGAIN = 'a second read differs from the first'

export interface WorldProcess {
  readonly server: WorldServer
  readonly jobs: WorldJobs
}

/** Every other start encrypts what it writes. @param starts number of this start, which may take a second try */
export async function startProcess(host: WorldHost, time: SimulatedTime, starts: number): Promise<WorldProcess> {
  try {
    return await startOnce(host, time, starts)
  } catch (error) {
    // The cache has let go of what misled it.
    if (!String(error).includes(START_AGAIN)) throw error
    return startOnce(host, time, starts)
  }
}

async function startOnce(host: WorldHost, time: SimulatedTime, starts: number): Promise<WorldProcess> {
  const webhooks = new TestedWebhooks()
  const server: WorldServer = await startWorldServer({
    dataDirectory: ROOT,
    ground: host.ground(),
    ...host.masterKeys,
    checkpointKeys: (keys) => new CheckpointKeys(keys),
    clock: () => time.wallMilliseconds,
    encryptionEnabled: starts % 2 === 0,
    extensions: EXTENSIONS,
    webhooks,
    ready: async () => checksOf(server),
    credentials: CROWD,
    limits: { operationsMaximum: PLACES },
    reservedBytes: RESERVED_BYTES,
    ...SIZES,
  })
  await dropReplaced(server.ground.disk, server.paths)
  const sender = senderOf(server.session, server.store.deploymentId, host.receivers)
  webhooks.sender = sender
  return { server, jobs: new WorldJobs(host, server, sender, starts) }
}
