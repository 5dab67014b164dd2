import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { PayloadReader } from '../engine/payloads/payload-reader.ts'
import type { PayloadSealer } from '../engine/payloads/sealing.ts'
import { PortEngineClient } from '../engine/port-client.ts'
import type { CatalogReader } from '../projections/catalog-reader.ts'
import { VolumeCompaction } from '../workers/compact-volumes.ts'
import { MultipartDigest } from '../workers/digest-multipart.ts'
import { UploadReclaim } from '../workers/reclaim-uploads.ts'
import { Supervisor } from '../workers/supervisor.ts'
import { PayloadFileSweep } from '../workers/sweep-payload-files.ts'
import type { BackgroundWorker } from '../workers/worker.ts'
import type { Logger } from './logger.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'

/** The background jobs of a server, in the main thread, with a way of their own to the engine. */
export class BackgroundWorkers {
  readonly #supervisor: Supervisor
  readonly #port: MessagePort
  readonly #payloads: PayloadReader
  readonly #jobs: () => BackgroundWorker[]

  constructor(log: Logger, paths: StorePaths, engine: EngineThread, catalog: CatalogReader, sealer: PayloadSealer) {
    const { port1, port2 } = new MessageChannel()
    engine.attach(port2)
    this.#port = port1
    const client = new PortEngineClient(port1)
    const payloads = new PayloadReader(nodeDisk, paths, sealer)
    this.#payloads = payloads
    this.#supervisor = new Supervisor((worker, error) => {
      log.error({ worker: worker.name, err: error }, 'a background job failed and will be tried again')
    })
    this.#jobs = () => [
      new PayloadFileSweep(nodeDisk, paths, engine.start, (name) => catalog.payloadFileIsUsed(name)),
      new UploadReclaim(client, catalog),
      new VolumeCompaction(nodeDisk, paths, client, catalog),
      new MultipartDigest(client, catalog, payloads),
    ]
  }

  /** Once the front ends listen: nothing before may wait for a background job. */
  start(): void {
    for (const job of this.#jobs()) this.#supervisor.start(job)
  }

  /** Resolves when every job has finished the step it is in. The engine must still run. */
  async stop(): Promise<void> {
    await this.#supervisor.stop()
    this.#payloads.close()
    this.#port.close()
  }
}
