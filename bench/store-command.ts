import type { Bench } from './bench.ts'
import type { CommandOutcome } from './children.ts'
import { COMMAND } from './server-process.ts'

const TIMEOUT_MILLISECONDS = 600_000

/** A command of the project failed. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}

/**
 * Runs `object-store <words> --json` on the large store.
 * @returns what it printed, and how long its process ran
 * @throws CommandFailedError when it ended with anything but 0
 */
export async function runStoreCommand(
  bench: Bench,
  words: readonly string[],
): Promise<{ readonly report: Readonly<Record<string, unknown>>; readonly outcome: CommandOutcome }> {
  const args = [COMMAND, ...words, '--json', '--data-dir', bench.filled.directory]
  const outcome = await bench.children.run(process.execPath, args, {
    timeoutMilliseconds: TIMEOUT_MILLISECONDS,
    environment: {},
  })
  if (outcome.exitCode !== 0) {
    const text = (outcome.stdout + outcome.stderr).trim().slice(0, 1000)
    throw new CommandFailedError(`object-store ${words.join(' ')} ended with ${outcome.exitCode}: ${text}`)
  }
  return { report: JSON.parse(outcome.stdout) as Record<string, unknown>, outcome }
}

/** @throws CommandFailedError when the report has no such number */
export function numberIn(report: Readonly<Record<string, unknown>>, name: string): number {
  const value = report[name]
  if (typeof value !== 'number') throw new CommandFailedError(`the report has no number ${name}`)
  return value
}
