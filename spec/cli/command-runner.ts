import { spawn } from 'node:child_process'
import { PassThrough, Readable } from 'node:stream'
import type { CliContext } from '../../cli/cli-context.ts'
import { runCommandLine } from '../../cli/command-line.ts'
import type { ProcessControl } from '../../cli/server/process-control.ts'
import type { RunningServer } from '../../cli/server/running-server.ts'
import { waitingText } from '../support/stream-text.ts'

const masterKey = 'ab'.repeat(32)
/** What a server needs to start, with secrets that can be searched for. */
export const environment = {
  OBJECT_STORE_CREDENTIAL_MASTER_KEY: masterKey,
  OBJECT_STORE_ROOT_ACCESS_KEY: 'ROOTACCESS',
  OBJECT_STORE_ROOT_SECRET_KEY: 'canary-secret-canary-secret',
  OBJECT_STORE_LOG_LEVEL: 'silent',
}

/** A process control whose signals the spec sends, and which only remembers what it was asked to do. */
export class FakeControl implements ProcessControl {
  readonly exits: string[] = []
  listeners: ((signal: string) => void)[] = []

  onStopSignal(listener: (signal: string) => void): () => void {
    this.listeners.push(listener)
    return () => {
      this.listeners = this.listeners.filter((each) => each !== listener)
    }
  }

  reloadListeners: (() => void)[] = []

  onReloadSignal(listener: () => void): () => void {
    this.reloadListeners.push(listener)
    return () => {
      this.reloadListeners = this.reloadListeners.filter((each) => each !== listener)
    }
  }

  /** What SIGHUP does. */
  hangUp(): void {
    for (const listener of this.reloadListeners) listener()
  }

  signal(name: string): void {
    for (const listener of this.listeners) listener(name)
  }

  exitNow(exitCode: number): void {
    this.exits.push(`now ${exitCode}`)
  }

  async exitDespiteThreads(exitCode: number): Promise<void> {
    this.exits.push(`despite threads ${exitCode}`)
  }

  exitSoon(exitCode: number): void {
    this.exits.push(`soon ${exitCode}`)
  }

  surviveClosedOutput(): void {}
}

/** A server that ends when it is stopped, or when the spec says so. */
export class FakeServer implements RunningServer {
  readonly s3Address = '127.0.0.1:17600'
  readonly apiAddress = '127.0.0.1:17601'
  readonly s3Url: string = 'http://127.0.0.1:17600'
  readonly apiUrl: string = 'http://127.0.0.1:17601'
  readonly consoleUrl: string | undefined = 'http://127.0.0.1:17602'
  readonly s3SelfSigned: boolean = false
  readonly deploymentId = 'deployment'
  readonly ended: Promise<number>
  stops = 0
  reloads = 0
  end: (exitCode: number) => void = () => {}

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = resolve
    })
  }

  async reload(): Promise<void> {
    this.reloads += 1
  }

  async stop(): Promise<void> {
    this.stops += 1
    this.end(0)
  }
}

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions extends Partial<Pick<CliContext, 'environment' | 'workingDirectory' | 'startServer' | 'control'>> {
  readonly terminal?: boolean
  /** Whether standard error is a terminal, which bars are drawn on. */
  readonly errorTerminal?: boolean
  /** What its standard input has. */
  readonly input?: string
}

/** Runs the command in this process, with streams of its own. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { terminal, errorTerminal, input = '', ...context } = options
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  if (terminal === true) Object.assign(stdout, { isTTY: true })
  if (errorTerminal === true) Object.assign(stderr, { isTTY: true })
  const exitCode = await runCommandLine(argv, {
    env: {},
    environment: {},
    workingDirectory: '/work-place',
    control: new FakeControl(),
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout,
    stderr,
    colorDepth: 1,
    ...context,
  })
  return { exitCode, stdout: waitingText(stdout), stderr: waitingText(stderr) }
}

/** Runs the real command in a process of its own. */
export async function spawned(argv: readonly string[], extra: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, ['cli/object-store.mjs', ...argv], {
    env: { PATH: process.env['PATH'], ...extra },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  return { exitCode, stdout, stderr }
}

/** A real server in a process of its own. */
export interface StartedServer {
  /** What it printed until it accepted requests. */
  readonly stdout: string
  /** Asks it to stop; resolves with its exit code. */
  stop(): Promise<number>
}

/**
 * Starts the real `quickstart` and waits until it has printed its example.
 * @throws Error with its error output when it ends before
 */
export async function startedServer(argv: readonly string[]): Promise<StartedServer> {
  const child = spawn(process.execPath, ['cli/object-store.mjs', ...argv], { env: { PATH: process.env['PATH'] } })
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const closed = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      if (stdout.includes('s3 ls s3://first')) resolve()
    })
    void closed.then((code) => reject(new Error(`the server ended with ${code}: ${stderr}`)))
  })
  return {
    stdout,
    stop() {
      child.kill('SIGTERM')
      return closed
    },
  }
}
