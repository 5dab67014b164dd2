/** The program as a user starts it: a process of its own, on ports and a directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { environment } from '../../cli/environment.ts'
import { freePort } from './free-port.ts'
import { HTTP_DRIVER } from './http-driver.ts'
import { type JournalEntry, journalEntries, journalText } from './journal-entries.ts'
import {
  ACCESS_KEY,
  clientsOf,
  closeClients,
  MASTER_KEY,
  SECRET_KEY,
  temporaryDirectory,
  type TestServer,
} from './test-clients.ts'

const LOOK_MILLISECONDS = 50
const LOOKS_MAXIMUM = 200
/** The connections of a process that ends fail a little before its exit code is known. */
const END_MILLISECONDS = 200
/** Lines of the log that a failure shows. */
const LAST_LINES = 30
const PROGRAM = fileURLToPath(new URL('../../../cli/object-store.mjs', import.meta.url))

export interface ProcessServer extends TestServer {
  readonly apiEndpoint: string
  readonly consoleUrl: string
  readonly scrapeToken: string
  /** Lines of the log so far. */
  readonly log: readonly string[]
  readonly process: ChildProcess
  /** Asks the process to stop, as an operator does; gives its exit code. */
  terminate(): Promise<number | null>
  /** Ends the process without warning; the data directory stays. */
  kill9(): Promise<void>
}

/** Settings of a server process. `environment` holds further OBJECT_STORE_* names. */
export interface ProcessOptions {
  readonly dataDirectory?: string
  readonly frontEnds?: number
  readonly environment?: Readonly<Record<string, string>>
  /** Called with the process before it listens; the promise of the server rejects when it ends before that. */
  readonly spawned?: (process: ChildProcess) => void
  /** The command of another checkout, by its path. */
  readonly program?: string
}

/**
 * Starts it, as a user would. The runner of the specs has every process of Node.js load its own handlers of signals, by a
 * variable that is set back here: with them a server ends at signals that it ignores, such as SIGXFSZ.
 */
export async function startProcess(options: ProcessOptions = {}): Promise<ProcessServer> {
  const { dataDirectory = temporaryDirectory(), frontEnds = 1, program = PROGRAM } = options
  const scrapeToken = randomBytes(16).toString('hex')
  const nodeOptions = options.environment?.['NODE_OPTIONS'] ?? ''
  const child = spawn('env', [`NODE_OPTIONS=${nodeOptions}`, process.execPath, program, 'server'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: environment['PATH'],
      OBJECT_STORE_DATA_DIR: dataDirectory,
      // Front ends can share only a port that has a number.
      OBJECT_STORE_S3_BIND: `127.0.0.1:${frontEnds === 1 ? 0 : await freePort()}`,
      OBJECT_STORE_S3_FRONT_ENDS: String(frontEnds),
      OBJECT_STORE_API_BIND: '127.0.0.1:0',
      OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
      OBJECT_STORE_ROOT_ACCESS_KEY: ACCESS_KEY,
      OBJECT_STORE_ROOT_SECRET_KEY: SECRET_KEY,
      OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY.toString('hex'),
      OBJECT_STORE_METRICS_SCRAPE_TOKEN: scrapeToken,
      OBJECT_STORE_STORAGE_SEGMENT_MIB: '8',
      OBJECT_STORE_STORAGE_VOLUME_MIB: '8',
      // An earlier version does not know the setting.
      ...(program === PROGRAM && { OBJECT_STORE_SERVER_HTTP_DRIVER: HTTP_DRIVER }),
      ...options.environment,
    },
  })
  options.spawned?.(child)
  const log: string[] = []
  const ended = once(child, 'exit')
  // Clients see only that their connections are cut: what ended the server by itself is told here.
  child.once('exit', (exitCode, signal) => {
    if (child.killed) return
    process.stderr.write(
      `the server ended: ${signal ?? `exit code ${exitCode}`}\n${log.slice(-LAST_LINES).join('\n')}\n`,
    )
  })
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  const addresses = await readAddresses(child, log)
  const explain = async (error: Error): Promise<Error> => {
    await Promise.race([ended, pause(child.killed ? 0 : END_MILLISECONDS)])
    return child.killed ? error : withEnd(error, child, log)
  }
  const clients = clientsOf(Number(addresses.s3Address.split(':').at(-1)), explain)
  return {
    ...clients,
    dataDirectory,
    process: child,
    scrapeToken,
    log,
    apiEndpoint: addresses.apiUrl,
    consoleUrl: addresses.consoleUrl,
    journal: async () => settledEntries(dataDirectory),
    journalText: async () => journalText(dataDirectory),
    terminate: async () => {
      await end('SIGTERM')
      return child.exitCode
    },
    kill9: async () => {
      closeClients(clients)
      await end('SIGKILL')
    },
    stop: async () => {
      closeClients(clients)
      await end('SIGTERM')
      if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true })
    },
  }
}

/** Adds the end of a server that nobody asked to end, which is what the spec wants to know. */
function withEnd(error: Error, { exitCode, signalCode }: ChildProcess, log: readonly string[]): Error {
  if (exitCode === null && signalCode === null) return error
  error.message += `; the server has ended: ${signalCode ?? `exit code ${exitCode}`}\n${log.slice(-LAST_LINES).join('\n')}`
  return error
}

interface Addresses {
  readonly s3Address: string
  readonly apiUrl: string
  readonly consoleUrl: string
}

/** Gathers the log; resolves at the line that says where the server listens. */
function readAddresses(child: ChildProcess, log: string[]): Promise<Addresses> {
  if (child.stderr === null) throw new Error('the log of the server is not piped')
  const lines = createInterface({ input: child.stderr })
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      log.push(line)
      if (line.includes('"the server accepts requests"')) resolve(JSON.parse(line) as Addresses)
    })
    lines.on('close', () => reject(new Error(`the server ended:\n${log.join('\n')}`)))
  })
}

/** Records of reads are not waited for, so the journal of a process is read until nothing is added to it. */
async function settledEntries(dataDirectory: string): Promise<JournalEntry[]> {
  let last: JournalEntry[] | undefined
  let failure: unknown
  for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
    try {
      const entries = journalEntries(dataDirectory)
      if (entries.length === last?.length) return entries
      last = entries
    } catch (error) {
      // A batch that is half written at this moment looks damaged.
      failure = error
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MILLISECONDS)
    })
  }
  throw new Error('the journal does not come to rest', { cause: failure })
}
