/** Runs the journal commands in the process of a spec. */
import { PassThrough, Readable } from 'node:stream'
import { Cli } from 'clipanion'
import type { CliContext } from '../../../cli/cli-context.ts'
import { JournalShowCommand } from '../../../cli/commands/journal/show.ts'
import { JournalVerifyCommand } from '../../../cli/commands/journal/verify.ts'
import { ExitError } from '../../../cli/exit-codes.ts'
import { waitingText } from '../stream-text.ts'

export interface CommandOutcome {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** Runs a command as the command line does, and tells its exit code, also that of an error with one. */
export async function runJournalCommand(
  words: readonly string[],
  overrides: Partial<CliContext> = {},
): Promise<CommandOutcome> {
  const [out, error] = [new PassThrough({ highWaterMark: 2 ** 30 }), new PassThrough()]
  const context: CliContext = {
    env: {},
    environment: {},
    workingDirectory: process.cwd(),
    control: {
      onStopSignal: () => () => undefined,
      onReloadSignal: () => () => undefined,
      exitNow() {},
      exitDespiteThreads: () => Promise.resolve(),
      exitSoon() {},
      surviveClosedOutput() {},
    },
    stdin: Readable.from([]),
    stdout: out,
    stderr: error,
    colorDepth: 1,
    ...overrides,
  }
  const cli = Cli.from<CliContext>([JournalVerifyCommand, JournalShowCommand])
  const command = cli.process(['journal', ...words], context)
  let code: number
  let message = ''
  try {
    code = (await command.validateAndExecute()) ?? 0
  } catch (failure) {
    if (!(failure instanceof ExitError)) throw failure
    code = failure.exitCode
    message = failure.message
  }
  return { code, out: waitingText(out), error: waitingText(error) + message }
}

/** The JSON objects of an output with one a line. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line))
}
