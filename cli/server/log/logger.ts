import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import type { Config } from '../../config/config-types.ts'
import { REDACTED } from '../../config/secret.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { isoMilliseconds } from '../../../planes/s3/text/timestamps.ts'
import { RequestLines } from './request-lines.ts'
import { textLines } from './text-lines.ts'

export type { Logger } from 'pino'

/** Standard error; standard output is for the output of commands. */
const STANDARD_ERROR = 2

/**
 * Bytes of one write. Threads write to the same descriptor, and a pipe does not split writes of up to 4096 bytes, so lines
 * of different threads do not mix.
 */
const WRITE_BYTES_MAXIMUM = 4096

/** Field names under which a secret could be logged by accident. */
const secretFields = [
  'authorization',
  'cookie',
  'credential_master_key',
  'masterKey',
  'password',
  'previousMasterKey',
  'previous_credential_master_key',
  'query',
  'rootSecretKey',
  'secret',
  'secret_key',
  'secretKey',
  'signature',
  'token',
] as const

/** When the log is not read, lines beyond this are dropped and counted, so that memory is bounded. */
const BUFFER_BYTES_MAXIMUM = 8 * 1_048_576

type Destination = ReturnType<typeof pino.destination>

const redaction = { paths: [...secretFields, ...secretFields.map((name) => `*.${name}`)], censor: REDACTED }

interface LoggerOptions {
  readonly level: Config['log.level']
  /** Default: JSON. */
  readonly format?: Config['log.format'] | undefined
  /** Written with every line, such as the name of the thread. */
  readonly bindings?: Readonly<Record<string, string | number>>
  /** Defaults to standard error. */
  readonly fileDescriptor?: number
}

/** A logger and the means to flush it. */
export interface LogHandle {
  readonly log: Logger
  /** Logger of the one line of each request; undefined where the level is above it. */
  readonly requests: RequestLines | undefined
  /** Resolves when everything logged so far is written. */
  flush(): Promise<void>
  /** Writes the buffer synchronously, for a process about to exit; lines may be reordered. */
  flushNow(): void
}

/** A log that cannot be written must not end the server. Missing lines are reported when it can be written again. */
function reportDrops(destination: Destination, log: Logger): void {
  let dropped = 0
  destination.on('error', () => {})
  destination.on('drop', (lines: string) => {
    dropped += lines.split('\n').length - 1
  })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'log lines were dropped because the log was not read fast enough')
  })
}

/**
 * Makes a logger: one JSON object per line, or text for people, written asynchronously in batches, with secrets redacted by field name
 * (`Secret` values redact themselves). Every thread makes its own. On exit the logger of the main thread flushes itself;
 * every other thread must flush its own.
 */
export function createLogger(options: LoggerOptions): LogHandle {
  let dying = false
  const destination = pino.destination({
    dest: options.fileDescriptor ?? STANDARD_ERROR,
    sync: false,
    // One byte: the next write starts as soon as the last one is done. With 0, flush would never call back.
    minLength: 1,
    maxWrite: WRITE_BYTES_MAXIMUM,
    maxLength: BUFFER_BYTES_MAXIMUM,
    // Retries a full pipe, but a dying process does not wait for its reader.
    retryEAGAIN: () => !dying,
  })
  const bindings = { ...options.bindings }
  const isText = options.format === 'text' || (options.format === 'auto' && isatty(STANDARD_ERROR))
  const put = (text: string) => destination.write(isText ? textLines(text) : text)
  const lines = new RequestLines({
    bindings,
    clock: systemMilliseconds,
    writeBytesMaximum: WRITE_BYTES_MAXIMUM,
    write: put,
  })
  // Lines of requests that wait were logged before.
  const write = (line: string) => {
    lines.flush()
    put(line)
  }
  const log = pino(
    {
      level: options.level,
      base: bindings,
      timestamp: () => `,"time":"${isoMilliseconds(systemMilliseconds())}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: redaction,
    },
    { write },
  )
  reportDrops(destination, log)
  return {
    log,
    requests: log.isLevelEnabled('info') ? lines : undefined,
    flush: () => {
      lines.flush()
      return new Promise((resolve) => destination.flush(() => resolve()))
    },
    flushNow() {
      dying = true
      try {
        lines.flush()
        destination.flushSync()
      } catch {
        // The rest is not read. Otherwise the exit of the process would try once more.
        destination.destroy()
      }
    },
  }
}
