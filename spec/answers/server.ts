/** The program of a checkout as a user starts it: a process of its own, on ports and a directory of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { HTTP_DRIVER } from '../support/http-driver.ts'
import type { Signer } from './asking.ts'

export const ROOT: Signer = { name: 'root', accessKey: 'answersroot', secretKey: 'answers-root-secret-key' }
export const SYSTEM_TOKEN = 'answers-system-token-of-thirty-two-characters'
export const SCRAPE_TOKEN = 'answers-scrape-token'
const MASTER_KEY = '5a'.repeat(32)

const LOOK_MILLISECONDS = 25
const LOOKS_MAXIMUM = 1200

export interface Server {
  readonly s3Port: number
  readonly apiPort: number
  readonly dataDirectory: string
  /** Everything of the environment that the commands of this deployment need. */
  readonly environment: Readonly<Record<string, string>>
  /** Asks the process to stop and waits for it. */
  stop(): Promise<void>
  /** Takes the data directory away. */
  remove(): void
}

/** What a command of the program left. */
export interface Output {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The records of all refusals are kept, so none may be counted only. */
const EVERY_RECORD = 'OBJECT_STORE_AUDIT_ANONYMOUS_KIB_PER_SECOND'

const DRIVER = 'OBJECT_STORE_SERVER_HTTP_DRIVER'

/** Older checkouts record all of them, have one driver, and refuse a name that they do not know. */
function newerSettings(checkout: string): Readonly<Record<string, string>> {
  const page = readFileSync(join(checkout, 'spec', 'manual', 'configuration.md'), 'utf8')
  return Object.fromEntries(
    [
      [EVERY_RECORD, String(1024 ** 2)],
      [DRIVER, HTTP_DRIVER],
    ].filter(([name = '']) => page.includes(name)),
  )
}

function programOf(checkout: string): string {
  return join(checkout, 'cli', 'object-store.mjs')
}

async function gather(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Runs a command of the program of a checkout to its end. */
export async function runCommand(
  checkout: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  directory = tmpdir(),
): Promise<Output> {
  const child = spawn(process.execPath, [programOf(checkout), ...words], {
    cwd: directory,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([gather(child.stdout), gather(child.stderr)])
  await ended
  return { code: child.exitCode, stdout, stderr }
}

/**
 * Starts a server and waits until it is ready.
 * @param settings further names of the environment
 */
export async function startServer(checkout: string, settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const home = mkdtempSync(join(tmpdir(), 'answers-'))
  const [s3Port, apiPort] = [await freePort(), await freePort()]
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    OBJECT_STORE_DATA_DIR: join(home, 'data'),
    OBJECT_STORE_S3_BIND: `127.0.0.1:${s3Port}`,
    OBJECT_STORE_S3_FRONT_ENDS: '1',
    OBJECT_STORE_API_BIND: `127.0.0.1:${apiPort}`,
    OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
    OBJECT_STORE_ROOT_ACCESS_KEY: ROOT.accessKey,
    OBJECT_STORE_ROOT_SECRET_KEY: ROOT.secretKey,
    OBJECT_STORE_CREDENTIAL_MASTER_KEY: MASTER_KEY,
    OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN,
    OBJECT_STORE_METRICS_SCRAPE_TOKEN: SCRAPE_TOKEN,
    OBJECT_STORE_STORAGE_RESERVED_MIB: '0',
    OBJECT_STORE_OBJECT_LOCK_CLOCK_WATERMARK_INTERVAL_SECONDS: '3600',
    OBJECT_STORE_SERVER_STALL_TIMEOUT_SECONDS: '5',
    OBJECT_STORE_LOG_REQUESTS: 'none',
    OBJECT_STORE_LOG_LEVEL: 'warn',
    ...newerSettings(checkout),
    ...settings,
  }
  const log: Buffer[] = []
  const child = spawn(process.execPath, [programOf(checkout), 'server'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.on('data', (data: Buffer) => log.push(data))
  const ended = once(child, 'exit')
  // Clients see only that their connections are cut: what ended the server by itself is told here.
  child.once('exit', (exitCode, signal) => {
    if (child.killed) return
    process.stderr.write(`the server ended: ${signal ?? `exit code ${exitCode}`}\n${Buffer.concat(log).toString()}\n`)
  })
  const isEnded = () => child.exitCode !== null || child.signalCode !== null
  for (let looks = 0; !(await isReady(apiPort)); looks += 1) {
    if (isEnded() || looks > LOOKS_MAXIMUM) {
      child.kill('SIGKILL')
      throw new Error(`the server of ${checkout} does not start:\n${Buffer.concat(log).toString()}`)
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MILLISECONDS)
    })
  }
  return {
    s3Port,
    apiPort,
    dataDirectory: join(home, 'data'),
    environment,
    stop: async () => {
      if (!isEnded()) child.kill('SIGTERM')
      await ended
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Asks a route that leaves no record. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', path: '/ready', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('error', () => resolve(false))
  })
}
