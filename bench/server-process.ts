import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Children, ended } from './children.ts'
import type { Endpoint } from './endpoint.ts'

/** The command of the project. */
export const COMMAND = fileURLToPath(new URL('../../cli/object-store.mjs', import.meta.url))

const START_TIMEOUT_MILLISECONDS = 300_000
const STOP_TIMEOUT_MILLISECONDS = 60_000
const POLL_MILLISECONDS = 20
const LOG_SHOWN_CHARACTERS = 2000
const CERTIFICATE_SETTING = 's3.tls_certificate_file='

/** The server did not start, or did not end as it should have. */
export class ServerFailedError extends Error {
  override readonly name = 'ServerFailedError'
}

/** Secrets made for one run. */
export interface BenchSecrets {
  /** Hexadecimal. */
  readonly masterKey: string
  readonly accessKey: string
  readonly secretKey: string
}

export function makeSecrets(): BenchSecrets {
  return {
    masterKey: randomBytes(32).toString('hex'),
    accessKey: `BENCH${randomBytes(8).toString('hex').toUpperCase()}`,
    secretKey: randomBytes(20).toString('hex'),
  }
}

export interface ServerStart {
  readonly dataDirectory: string
  /** For the server's standard error, as a file that need not be read while measuring. */
  readonly logDirectory: string
  readonly secrets: BenchSecrets
  readonly settings: readonly string[]
  readonly profileDirectory: string | undefined
}

let logs = 0

/** Our own server as a process of its own, on the loopback interface. */
export class ServerProcess {
  readonly endpoint: Endpoint
  /** Of the management listener. */
  readonly managementUrl: string
  readonly pid: number
  /** From the start of the process until it said that it accepts requests. */
  readonly startSeconds: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, endpoint: Endpoint, managementUrl: string, startSeconds: number) {
    this.#child = child
    this.managementUrl = managementUrl
    this.pid = child.pid ?? 0
    this.endpoint = endpoint
    this.startSeconds = startSeconds
  }

  /** @throws ServerFailedError with the end of its log */
  static async start(children: Children, options: ServerStart): Promise<ServerProcess> {
    const { secrets } = options
    const port = await freePort()
    const profile =
      options.profileDirectory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDirectory}`]
    logs += 1
    const logPath = join(options.logDirectory, `server-${logs}.log`)
    const log = openSync(logPath, 'a', 0o600)
    const startedAt = Date.now()
    const settings = options.settings.flatMap((setting) => ['--set', setting])
    const child = children.start(process.execPath, [...profile, COMMAND, 'server', ...settings], {
      stdio: ['ignore', log, log],
      env: {
        OBJECT_STORE_DATA_DIR: options.dataDirectory,
        OBJECT_STORE_S3_BIND: `127.0.0.1:${port}`,
        OBJECT_STORE_API_BIND: '127.0.0.1:0',
        OBJECT_STORE_CONSOLE_BIND: '127.0.0.1:0',
        OBJECT_STORE_CREDENTIAL_MASTER_KEY: secrets.masterKey,
        OBJECT_STORE_ROOT_ACCESS_KEY: secrets.accessKey,
        OBJECT_STORE_ROOT_SECRET_KEY: secrets.secretKey,
      },
    })
    closeSync(log)
    const { acceptedAt, managementUrl } = await accepting(child, logPath)
    const { accessKey, secretKey } = secrets
    const certificate = certificateIn(options.settings)
    const url = `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
    const endpoint = { url, accessKey, secretKey, region: 'us-east-1', certificate }
    return new ServerProcess(child, endpoint, managementUrl, (acceptedAt - startedAt) / 1000)
  }

  /**
   * Asks it to end in order.
   * @throws ServerFailedError, ChildTimeoutError
   */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const exitCode = await ended(this.#child, STOP_TIMEOUT_MILLISECONDS)
    if (exitCode !== 0) throw new ServerFailedError(`the server ended with ${exitCode ?? this.#child.signalCode}`)
  }

  /** Ends it without any notice: `kill -9`. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await ended(this.#child, STOP_TIMEOUT_MILLISECONDS)
  }
}

/** The certificate of a server with TLS. */
function certificateIn(settings: readonly string[]): string | undefined {
  const path = settings
    .findLast((setting) => setting.startsWith(CERTIFICATE_SETTING))
    ?.slice(CERTIFICATE_SETTING.length)
  return path === undefined ? undefined : readFileSync(path, 'utf8')
}

/** The server's message when it starts to accept requests; the time is milliseconds since the Unix epoch. */
async function accepting(
  child: ChildProcess,
  logPath: string,
): Promise<{ readonly acceptedAt: number; readonly managementUrl: string }> {
  const deadline = performance.now() + START_TIMEOUT_MILLISECONDS
  for (;;) {
    const text = readFileSync(logPath, 'utf8')
    const line = text.split('\n').find((one) => one.includes('"the server accepts requests"') && one.endsWith('}'))
    if (line !== undefined) {
      const { time, apiUrl } = JSON.parse(line) as { readonly time: string; readonly apiUrl: string }
      return { acceptedAt: Date.parse(time), managementUrl: apiUrl }
    }
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new ServerFailedError(`the server did not start:\n${text.slice(-LOG_SHOWN_CHARACTERS)}`)
    }
    await sleep(POLL_MILLISECONDS)
  }
}

/** A free port. Taken beforehand, since threads cannot share a port that the kernel picked for the first. */
function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
