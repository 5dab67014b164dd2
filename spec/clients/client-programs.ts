/** Programs of other people that speak S3, found and run the way a user has them. */
import { spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface Outcome {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

export interface RunOptions {
  /** Everything the program finds in its environment beside PATH and a HOME of its own. */
  readonly environment?: Readonly<Record<string, string>>
  readonly directory?: string
  /** What it reads from its standard input. */
  readonly input?: Buffer
}

/** A HOME without settings, so that nobody's own configuration takes part. */
const HOME = mkdtempSync(join(tmpdir(), 'object-store-client-home-'))
process.once('exit', () => rmSync(HOME, { recursive: true, force: true }))

/** Runs a program to its end. */
export function run(program: string, words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = spawn(program, words, {
    cwd: options.directory ?? HOME,
    env: { PATH: process.env['PATH'], HOME, LC_ALL: 'C.UTF-8', ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // One that ends before it has read everything is told by its exit code.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input)
  const stdout: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => void stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(stdout), stderr }))
  })
}

/** The environment of this process, for package managers, which find their settings in it and in the home directory. */
export function surroundings(): Record<string, string> {
  const given = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('OBJECT_STORE_') || name.startsWith('npm_') ? [] : [[name, value] as const],
  )
  return Object.fromEntries(given)
}

function candidates(name: string): string[] {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name))
  const found = places.filter((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  // /bin is often another name of /usr/bin.
  return [...new Map(found.map((path) => [realpathSync(path), path])).values()]
}

export interface Program {
  readonly path: string
  readonly version: string
}

/**
 * Every version of a program that is on the PATH and works.
 * @param probe words that make it print its version on the first line
 * @throws Error when there is none
 */
export async function programs(name: string, probe: readonly string[]): Promise<Program[]> {
  const found = new Map<string, Program>()
  for (const path of candidates(name)) {
    const { code, stdout } = await run(path, probe)
    const version = String(stdout).split('\n')[0] ?? ''
    if (code === 0 && !found.has(version)) found.set(version, { path, version })
  }
  if (found.size === 0)
    throw new Error(`${name} ${probe.join(' ')} does not work here; .ci/run installs what is needed`)
  return [...found.values()]
}
