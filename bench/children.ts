import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

/** The output of a command that ran to its end. */
export interface CommandOutcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** From the start of the process to its end. */
  readonly seconds: number
}

export interface CommandOptions {
  readonly timeoutMilliseconds: number
  /** Written to standard input, which is then closed. */
  readonly input?: string
  /** All of the environment; by default this process's. */
  readonly environment?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
}

/** A program the bench needs is not installed. */
export class MissingProgramError extends Error {
  override readonly name = 'MissingProgramError'
}

/** A child process did not end in the time it had. */
export class ChildTimeoutError extends Error {
  override readonly name = 'ChildTimeoutError'
}

/** Where programs come from that are not part of the project. */
const PACKAGE_OF_PROGRAM: Readonly<Record<string, string>> = {
  wrk: 'wrk is needed to make load and is not installed; on Debian: apt-get install wrk',
  git: 'git is not installed',
}

/** Every process the bench started and that has not ended yet, so that none outlives it. */
export class Children {
  readonly #running = new Set<ChildProcess>()

  start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    const child = spawn(command, args, options)
    this.#running.add(child)
    child.once('exit', () => this.#running.delete(child))
    child.once('error', () => this.#running.delete(child))
    return child
  }

  /**
   * Runs a command to its end.
   * @throws MissingProgramError, ChildTimeoutError (the process is killed)
   */
  run(command: string, args: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
    const started = performance.now()
    const child = this.start(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.environment === undefined ? {} : { env: options.environment }),
      ...(options.workingDirectory === undefined ? {} : { cwd: options.workingDirectory }),
    })
    const stdout = collected(child.stdout)
    const stderr = collected(child.stderr)
    child.stdin?.on('error', () => {}).end(options.input ?? '')
    return new Promise((resolve, reject) => {
      let late = false
      const timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, options.timeoutMilliseconds)
      child.once('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        const advice = PACKAGE_OF_PROGRAM[command]
        reject(error.code === 'ENOENT' && advice !== undefined ? new MissingProgramError(advice) : error)
      })
      child.once('close', (exitCode) => {
        clearTimeout(timer)
        const seconds = (performance.now() - started) / 1000
        if (!late) resolve({ exitCode, stdout: stdout(), stderr: stderr(), seconds })
        else reject(new ChildTimeoutError(`${command} did not end within ${options.timeoutMilliseconds / 1000} s`))
      })
    })
  }

  /** Ends at once whatever still runs. */
  killAll(): void {
    for (const child of this.#running) child.kill('SIGKILL')
  }
}

function collected(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}

/**
 * Waits for the end of a child.
 * @throws ChildTimeoutError
 */
export function ended(child: ChildProcess, timeoutMilliseconds: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new ChildTimeoutError(`process ${child.pid} did not end within ${timeoutMilliseconds / 1000} s`))
    }, timeoutMilliseconds)
    child.once('exit', (exitCode) => {
      clearTimeout(timer)
      resolve(exitCode)
    })
  })
}
