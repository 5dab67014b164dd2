import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { EngineClient } from '../engine/client.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { PayloadReader } from '../engine/payloads/payload-reader.ts'
import type { PayloadSealer } from '../engine/payloads/sealing.ts'
import { PortEngineClient } from '../engine/port-client.ts'
import { AccessReader } from '../projections/access-reader.ts'
import { CatalogReader } from '../projections/catalog-reader.ts'
import { ProjectionEnvironment } from '../projections/lmdb-environment.ts'
import type { EngineThread } from './threads/engine-thread-handle.ts'

/** How often volumes that compaction removed are let go of. */
const CLOSE_REMOVED_MILLISECONDS = 2000

/** The store as the main thread has it: for the management plane and the background jobs. */
export class MainStore {
  readonly engine: EngineClient
  readonly catalog: CatalogReader
  readonly access: AccessReader
  readonly payloads: PayloadReader
  readonly environment: ProjectionEnvironment
  readonly #port: MessagePort
  readonly #timer: NodeJS.Timeout

  constructor(paths: StorePaths, engine: EngineThread, sealer: PayloadSealer) {
    const { port1, port2 } = new MessageChannel()
    engine.attach(port2)
    this.#port = port1
    this.engine = new PortEngineClient(port1)
    this.environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
    this.catalog = new CatalogReader(this.environment)
    this.access = new AccessReader(this.environment)
    this.payloads = new PayloadReader(nodeDisk, paths, sealer)
    this.#timer = setInterval(() => this.payloads.closeRemoved(), CLOSE_REMOVED_MILLISECONDS).unref()
  }

  /** Sends nothing any more. The engine must still run. */
  disconnect(): void {
    clearInterval(this.#timer)
    this.payloads.close()
    this.#port.close()
  }

  /** When the engine has stopped. */
  async close(): Promise<void> {
    await this.environment.close()
  }
}
