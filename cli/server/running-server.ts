import type { Config } from '../config/config-types.ts'
import type { LogHandle } from './log/logger.ts'

/** A server that has started: its listeners accept connections. */
export interface RunningServer {
  /** `host:port` of the S3 listener, with its actual port. */
  readonly s3Address: string
  /** `host:port` of the management listener, with its actual port. */
  readonly apiAddress: string
  /** Scheme, host and port of the S3 listener for clients. */
  readonly s3Url: string
  /** Scheme, host and port of the management listener for clients. */
  readonly apiUrl: string
  /** Scheme, host and port of the console for browsers; undefined when it is not served. */
  readonly consoleUrl: string | undefined
  /** Whether the S3 certificate is self-signed, so that clients must be given it. */
  readonly s3SelfSigned: boolean
  readonly deploymentId: string
  /** Resolves with the exit code when the server has ended; never rejects. */
  readonly ended: Promise<number>
  /** Reads the certificates again and logs the result; never rejects. */
  reload(): Promise<void>
  /** Refuses new requests, lets those in progress finish within the grace period, and closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a server.
 * @param signal ends the start while it reads the journal; the next start continues it
 * @throws ExitError with the exit code of the cause if it cannot start
 */
export type StartServer = (
  config: Config,
  log: Pick<LogHandle, 'log' | 'requests'>,
  signal?: AbortSignal,
) => Promise<RunningServer>
