/**
 * The tools of requirements.txt and more-requirements.txt, which `npm run install:clients` installs, the others with `-- --more`:
 * Python libraries, and programs.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Outcome, run, type RunOptions } from './client-programs.ts'

/** The sources: scripts and pages are run from where they are written. */
export const SOURCES = fileURLToPath(new URL('../../../spec/clients/', import.meta.url))

/** @throws Error when they are not installed: nothing is left out in silence */
async function toolsDirectory(words: readonly string[]): Promise<string> {
  const environment: Record<string, string> = {}
  for (const name of ['HOME', 'XDG_CACHE_HOME']) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  const { code, stdout, stderr } = await run('bash', [join(SOURCES, 'install-tools.sh'), '--where', ...words], {
    environment,
  })
  if (code !== 0) throw new Error(stderr.trim())
  return String(stdout).trim()
}

export interface ClientTools {
  /** Runs a program that comes with the tools, or a script with their Python. */
  run(program: string, words: readonly string[], options?: RunOptions): Promise<Outcome>
  /** The path of a program. */
  path(program: string): string
}

/** @param which `--more` for those of more-requirements.txt */
export async function clientTools(...which: readonly '--more'[]): Promise<ClientTools> {
  const directory = await toolsDirectory(which)
  // What Python compiles stays with the tools, so that the second run is faster and the sources stay as they are.
  const always = { PYTHONPYCACHEPREFIX: join(directory, 'compiled'), AWS_EC2_METADATA_DISABLED: 'true' }
  const path = (program: string): string => join(directory, 'bin', program)
  return {
    path,
    run: (program, words, options = {}) =>
      run(path(program), words, { ...options, environment: { ...always, ...options.environment } }),
  }
}
