import type { Config } from './config/config-types.ts'
import type { Logger } from './logger.ts'

/** A server that has started: its listeners accept connections. */
export interface RunningServer {
  /** `host:port` the S3 data plane is bound to, with the port it really got. */
  readonly s3Address: string
  /** `host:port` the management listener is bound to, with the port it really got. */
  readonly apiAddress: string
  readonly deploymentId: string
  /** Resolves with the exit code when the server has ended by itself or was stopped; never rejects. */
  readonly ended: Promise<number>
  /** Takes no more requests, lets those in progress finish within the grace period, and closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a server.
 * @throws ExitError when it cannot start, with the exit code of the cause
 */
export type StartServer = (config: Config, options: { readonly log: Logger }) => Promise<RunningServer>
