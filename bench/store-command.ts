import type { Bench } from './bench.ts'
import type { CommandOutcome } from './children.ts'
import { COMMAND } from './server-process.ts'

const TIMEOUT_MILLISECONDS = 600_000

/** A command of the project failed. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}

/**
 * Runs `object-store <words>` on a data directory.
 * @throws CommandFailedError when it ended with anything but 0
 */
async function runCommand(bench: Bench, words: readonly string[], directory: string): Promise<CommandOutcome> {
  const outcome = await bench.children.run(process.execPath, [COMMAND, ...words, '--data-dir', directory], {
    timeoutMilliseconds: TIMEOUT_MILLISECONDS,
    // A rebuild authenticates changes of access.
    environment: { OBJECT_STORE_CREDENTIAL_MASTER_KEY: bench.secrets.masterKey },
  })
  if (outcome.exitCode !== 0) {
    const text = (outcome.stdout + outcome.stderr).trim().slice(0, 1000)
    throw new CommandFailedError(`object-store ${words.join(' ')} ended with ${outcome.exitCode}: ${text}`)
  }
  return outcome
}

/**
 * Runs `object-store <words> --json` on the large store.
 * @returns its output, and how long its process ran
 * @throws CommandFailedError
 */
export async function runStoreCommand(
  bench: Bench,
  words: readonly string[],
): Promise<{ readonly report: Readonly<Record<string, unknown>>; readonly outcome: CommandOutcome }> {
  const outcome = await runCommand(bench, [...words, '--json'], bench.filled.directory)
  return { report: JSON.parse(outcome.stdout) as Record<string, unknown>, outcome }
}

/** A record as `object-store journal show` prints it. */
export interface ShownRecord {
  readonly timestamp: string
  readonly changes: readonly unknown[]
}

/**
 * The records of an operation that succeeded, as the journal of a data directory has them.
 * @throws CommandFailedError
 */
export async function recordsOf(bench: Bench, directory: string, operation: string): Promise<ShownRecord[]> {
  const words = ['journal', 'show', '--operation', operation, '--result', 'success']
  const { stdout } = await runCommand(bench, words, directory)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ShownRecord)
}

/** @throws CommandFailedError when the report has no such number */
export function numberIn(report: Readonly<Record<string, unknown>>, name: string): number {
  const value = report[name]
  if (typeof value !== 'number') throw new CommandFailedError(`the report has no number ${name}`)
  return value
}
