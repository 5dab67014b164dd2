import { type Logger, pino } from 'pino'
import type { Config } from './config/config-types.ts'
import { REDACTED } from './config/secret.ts'

export type { Logger } from 'pino'

/** Standard error: standard output belongs to what a command prints. */
const STANDARD_ERROR = 2

/**
 * Bytes of one write. Threads write to the same descriptor, and a pipe keeps writes of up to 4096 bytes whole, so that
 * lines of different threads do not run into each other.
 */
const WRITE_BYTES_MAXIMUM = 4096

/** Names under which a secret could be logged by accident. */
const secretFields = [
  'authorization',
  'cookie',
  'credential_master_key',
  'masterKey',
  'password',
  'query',
  'rootSecretKey',
  'secret',
  'secret_key',
  'secretKey',
  'signature',
  'token',
] as const

/** More than this waits only when nobody reads the log: further lines are dropped and counted, memory is not. */
const BUFFER_BYTES_MAXIMUM = 8 * 1_048_576

type Destination = ReturnType<typeof pino.destination>

const topRedaction = { paths: [...secretFields], censor: REDACTED }
const deepRedaction = { paths: [...secretFields, ...secretFields.map((name) => `*.${name}`)], censor: REDACTED }

export interface LoggerOptions {
  readonly level: Config['log.level']
  /** Written with every line, such as the name of the thread. */
  readonly bindings?: Readonly<Record<string, string | number>>
  /** Defaults to standard error. */
  readonly fileDescriptor?: number
}

/** A logger and the way to make sure that what it was given is written. */
export interface LogHandle {
  readonly log: Logger
  /**
   * For one line a request, on the path of every request: flat fields only, because it looks for secrets only in the
   * fields of the line itself, which makes it more than twice as fast as `log`.
   */
  readonly requestLog: Logger
  /** Resolves when everything logged so far is written. */
  flush(): Promise<void>
  /** Writes what is buffered before it returns, for a process about to die; lines may change places. */
  flushNow(): void
}

/** A log that cannot be written must not end the server; that lines are missing is said as soon as it can be. */
function reportDrops(destination: Destination, log: Logger): void {
  let dropped = 0
  destination.on('error', () => {})
  destination.on('drop', () => {
    dropped += 1
  })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'log lines were dropped, because they were not read fast enough')
  })
}

/**
 * Makes a logger: one JSON object a line, written behind the caller's back in batches, with secrets redacted by field
 * name (`Secret` values redact themselves). Every thread makes its own; there is no other place that does. On exit the
 * main thread's logger writes what it holds by itself; every other thread must flush its own.
 */
export function createLogger(options: LoggerOptions): LogHandle {
  let dying = false
  const destination = pino.destination({
    dest: options.fileDescriptor ?? STANDARD_ERROR,
    sync: false,
    // One byte: lines go out as soon as the last write is done. With none the destination could not be waited for.
    minLength: 1,
    maxWrite: WRITE_BYTES_MAXIMUM,
    maxLength: BUFFER_BYTES_MAXIMUM,
    // A full pipe is tried again, but nobody waits for its reader in order to die.
    retryEAGAIN: () => !dying,
  })
  const log = pino(
    {
      level: options.level,
      base: { ...options.bindings },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: deepRedaction,
    },
    destination,
  )
  reportDrops(destination, log)
  const requestLog = log.child({}, { redact: topRedaction })
  return {
    log,
    requestLog,
    flush: () => new Promise((resolve) => destination.flush(() => resolve())),
    flushNow() {
      dying = true
      try {
        destination.flushSync()
      } catch {
        // What is left has no reader; without this the exit of the process would try once more.
        destination.destroy()
      }
    },
  }
}
