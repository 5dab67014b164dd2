/** What a server in the thread of a spec stands on. */
import { kernelBootId } from '../../cli/server/store/host.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { SpanJob, SpanResult } from '../../engine/verify/span/span-report.ts'
import type { BodyHasher } from '../../engine/hashing/body-hashing.ts'
import type { HttpListener, ListenOptions } from '../../planes/http/listener.ts'
import { bodyHashing } from './hash-ports.ts'
import { listenBySpec } from './http-driver.ts'
import { type Clients, clientsOf, closeClients } from './test-clients.ts'
import { WireClient } from './wire-client.ts'

/** The host of a server: the real one, or what a simulation has in its place. */
export interface ServerGround {
  readonly disk: Disk
  readonly bootId: string
  hashing(): BodyHasher
  listen(options: Omit<ListenOptions, 'driver'>): Promise<HttpListener>
  /** Clients of the S3 plane that sign as root. */
  clients(listener: HttpListener): Clients
  closeClients(clients: Clients): void
  /** A client of the management plane, which signs nothing. */
  managementClient(listener: HttpListener): WireClient
  /** Verifies a span of the chain; without it a thread does. */
  verifySpan?(job: SpanJob): Promise<SpanResult>
  /** The engine cannot go on. */
  failed(error: unknown): void
}

export function realGround(): ServerGround {
  return {
    disk: nodeDisk,
    bootId: kernelBootId(),
    hashing: () => bodyHashing(),
    listen: listenBySpec,
    clients: ({ port }) => clientsOf(port),
    closeClients,
    managementClient: ({ port }) =>
      new WireClient({ endpoint: `http://127.0.0.1:${port}`, accessKey: '', secretKey: '' }),
    failed: (error) => {
      throw error
    },
  }
}
