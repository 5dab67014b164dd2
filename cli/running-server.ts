import type { Config } from './config/config-types.ts'
import type { Logger } from './logger.ts'

/** A server that has started: its listeners accept connections. */
export interface RunningServer {
  /** `host:port` the S3 data plane is bound to, with the port it really got. */
  readonly s3Address: string
  /** `host:port` the management listener is bound to, with the port it really got. */
  readonly apiAddress: string
  /** Where a client finds the S3 data plane: scheme, host and port. */
  readonly s3Url: string
  /** Where a client finds the management listener: scheme, host and port. */
  readonly apiUrl: string
  /** Whether the certificate of the S3 data plane vouches for itself, so that clients must be given it. */
  readonly s3SelfSigned: boolean
  readonly deploymentId: string
  /** Resolves with the exit code when the server has ended by itself or was stopped; never rejects. */
  readonly ended: Promise<number>
  /** Reads the certificates again and logs what came of it; resolves when that is done, and never rejects. */
  reload(): Promise<void>
  /** Takes no more requests, lets those in progress finish within the grace period, and closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a server.
 * @throws ExitError when it cannot start, with the exit code of the cause
 */
export type StartServer = (config: Config, options: { readonly log: Logger }) => Promise<RunningServer>
