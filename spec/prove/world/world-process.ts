/** A process of the world: the server, and its background workers. */
import { MODEL_EXTENSIONS } from '../../model/model.ts'
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

export interface WorldProcess {
  readonly server: WorldServer
  readonly jobs: WorldJobs
}

/** Every other start encrypts what it writes. @param starts number of this start */
export async function startProcess(host: WorldHost, time: SimulatedTime, starts: number): Promise<WorldProcess> {
  const webhooks = new TestedWebhooks()
  const server: WorldServer = await startWorldServer({
    dataDirectory: ROOT,
    ground: host.ground(),
    clock: () => time.wallMilliseconds,
    encryptionEnabled: starts % 2 === 0,
    extensions: [...MODEL_EXTENSIONS, 'aws-chunked', 'checksums', 'list-objects-v1'],
    webhooks,
    ready: async () => checksOf(server),
    credentials: CROWD,
    limits: { operationsMaximum: PLACES },
    reservedBytes: RESERVED_BYTES,
    ...SIZES,
  })
  const sender = senderOf(server.session, server.store.deploymentId, host.receivers)
  webhooks.sender = sender
  return { server, jobs: new WorldJobs(host, server, sender, starts) }
}
