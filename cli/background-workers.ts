import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { VolumeCompaction } from '../workers/compact-volumes.ts'
import { MultipartDigest } from '../workers/digest-multipart.ts'
import { UploadReclaim } from '../workers/reclaim-uploads.ts'
import { Supervisor } from '../workers/supervisor.ts'
import { PayloadFileSweep } from '../workers/sweep-payload-files.ts'
import type { Logger } from './logger.ts'
import type { MainStore } from './main-store.ts'

/**
 * Starts the background jobs, once the front ends listen: nothing before may wait for one.
 * @param start name of the running start
 */
export function startWorkers(log: Logger, paths: StorePaths, start: string, store: MainStore): Supervisor {
  const { engine, catalog, payloads } = store
  const supervisor = new Supervisor((worker, error) => {
    log.error({ worker: worker.name, err: error }, 'a background job failed and will be tried again')
  })
  supervisor.start(new PayloadFileSweep(nodeDisk, paths, start, (name) => catalog.payloadFileIsUsed(name)))
  supervisor.start(new UploadReclaim(engine, catalog))
  supervisor.start(new VolumeCompaction(nodeDisk, paths, engine, catalog))
  supervisor.start(new MultipartDigest(engine, catalog, payloads))
  return supervisor
}
