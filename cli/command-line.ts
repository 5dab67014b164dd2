import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isTerminal } from './terminal/is-terminal.ts'
import { Cli, type Command, type CommandClass } from 'clipanion'
import type { CliContext } from './cli-context.ts'
import { ExitError, type ExitName, exitTable } from './exit-codes.ts'
import { commandHelp, groupHelp } from './terminal/help-text.ts'
import { commandOf, commandsOfGroup, usageAdvice } from './terminal/usage-advice.ts'
import { packageVersion } from './version.ts'

const BINARY_NAME = 'object-store'
const HELP_FLAGS: readonly string[] = ['-h', '--help']
/** Commands that print what all commands are. */
const OF_ALL_COMMANDS: readonly string[] = ['help', 'completion']

type Paths = readonly (readonly string[])[]

function useColours(context: CliContext): boolean {
  const terminal = isTerminal(context.stdout)
  // no-color.org: any value but the empty one asks for no colours.
  return terminal && (context.environment['NO_COLOR'] ?? '') === ''
}

/** Prints a failure on standard error, as text or as one JSON object, and returns its exit code. */
function reportFailure(
  failure: ExitError,
  context: CliContext,
  asJson: boolean,
  advice: readonly string[] = [],
): number {
  const text = asJson
    ? JSON.stringify({ error: { exit: failure.exit, code: failure.exitCode, message: failure.message, advice } })
    : [`object-store: ${failure.message}`, ...advice].join('\n')
  context.stderr.write(`${text}\n`)
  return failure.exitCode
}

/** System errors that an operator can act on; any other is a plain failure. */
const exitBySystemError: Readonly<Record<string, ExitName>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOENT: 'notFound',
  ENOSPC: 'diskFull',
  EDQUOT: 'diskFull',
}

/** Faults of a file, in words; other errors keep the message of the system. */
const systemProblems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be used: permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'has a file where a directory must be',
  EEXIST: 'exists already',
}

function systemMessage({ code = '', path, message, syscall }: NodeJS.ErrnoException): string {
  // A directory that cannot be created: mkdir of Node accepts an existing directory.
  const isFile = code === 'EEXIST' && syscall === 'mkdir'
  const problem = isFile
    ? 'is a file where a directory must be; move it away, or choose another path'
    : systemProblems[code]
  if (problem === undefined || path === undefined) return message
  // A file that cannot be made: it is the directory that is not there.
  const missing = code === 'ENOENT' && !existsSync(dirname(path)) ? dirname(path) : path
  return `${missing} ${problem}`
}

function failureOf(error: unknown): ExitError {
  if (error instanceof ExitError) return error
  if (error instanceof Error && 'syscall' in error && 'code' in error) {
    return new ExitError(
      exitBySystemError[String(error.code)] ?? 'failed',
      systemMessage(error as NodeJS.ErrnoException),
      { cause: error },
    )
  }
  // The parser marks the user's own errors.
  const byUser = error instanceof Error && 'clipanion' in error
  if (byUser) return new ExitError('usage', error.message)
  // Anything else is a fault of the program: the stack is worth more than a short message.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new ExitError('failed', `unexpected failure: ${text}`)
}

/** Help on the command, or the group of commands, before --help; undefined without --help. */
function helpAsked(
  commands: readonly CommandClass<CliContext>[],
  words: readonly string[],
  paths: Paths,
  context: CliContext,
): string | undefined {
  if (!words.some((word) => HELP_FLAGS.includes(word))) return undefined
  const command = commandOf(words, paths)?.join(' ')
  const names = command === undefined ? commandsOfGroup(words, paths) : [command]
  const cli = commandLine(commandsNamed(commands, names), context)
  const definitions = cli.definitions().filter(({ path }) => names.includes(path.slice(BINARY_NAME.length + 1)))
  const [first] = definitions
  if (first === undefined) return undefined
  return definitions.length > 1
    ? groupHelp(words[0] ?? '', definitions, cli.format())
    : commandHelp(first, cli.format())
}

function commandsNamed(commands: readonly CommandClass<CliContext>[], names: readonly string[]) {
  return commands.filter(({ paths = [] }) => paths.some((path) => names.includes(path.join(' '))))
}

/** Runs a parsed command. The parser by itself would report errors on standard output and end with 1. */
async function runCommand(cli: Cli<CliContext>, command: Command<CliContext>, context: CliContext, asJson: boolean) {
  const run = command.validateAndExecute.bind(command)
  command.validateAndExecute = async () => {
    try {
      return await run()
    } catch (error) {
      return reportFailure(failureOf(error), context, asJson)
    }
  }
  return cli.run(command, context)
}

function commandLine(commands: readonly CommandClass<CliContext>[], context: CliContext): Cli<CliContext> {
  return Cli.from<CliContext>([...commands], {
    binaryName: BINARY_NAME,
    binaryLabel: 'Object Store',
    binaryVersion: packageVersion(),
    enableColors: useColours(context),
  })
}

/**
 * The command that runs a server, when these words name one and are right. A server lives long, and starts: it does not load
 * the modules of all other commands, whose memory it would keep. Undefined when all commands are to be asked.
 */
async function serverCommand(words: readonly string[], context: CliContext): Promise<Asked | undefined> {
  const [name, option = '-'] = words
  if (!option.startsWith('-') || words.some((word) => HELP_FLAGS.includes(word))) return undefined
  const commands: CommandClass<CliContext>[] = []
  if (name === 'server') commands.push((await import('./commands/server.ts')).ServerCommand)
  if (name === 'quickstart') commands.push((await import('./commands/quickstart.ts')).QuickstartCommand)
  return askedOf(commands, words, context)
}

interface Asked {
  readonly cli: Cli<CliContext>
  readonly command: Command<CliContext>
}

/**
 * Parses for these commands alone: the parser takes some 50 ms of processor time to get ready for all of them. Undefined when
 * the words are wrong, which is reported with all commands in view.
 */
function askedOf(
  commands: readonly CommandClass<CliContext>[],
  words: readonly string[],
  context: CliContext,
): Asked | undefined {
  if (commands.length === 0) return undefined
  const cli = commandLine(commands, context)
  try {
    return { cli, command: cli.process([...words], context) }
  } catch (error) {
    if (error instanceof Error && 'clipanion' in error) return undefined
    throw error
  }
}

/** The command that the words name, when they are right and ask for no help. */
function namedCommand(
  commands: readonly CommandClass<CliContext>[],
  words: readonly string[],
  paths: Paths,
  context: CliContext,
): Asked | undefined {
  const named = commandOf(words, paths)?.join(' ')
  if (named === undefined || OF_ALL_COMMANDS.includes(named) || words.some((word) => HELP_FLAGS.includes(word)))
    return undefined
  return askedOf(commandsNamed(commands, [named]), words, context)
}

/**
 * Runs the command `object-store`.
 * @param argv the words after the program name
 * @returns the exit code, one of `exitTable`
 */
export async function runCommandLine(argv: readonly string[], context: CliContext): Promise<number> {
  const words = argv.length === 0 ? ['--help'] : [...argv]
  const asJson = words.includes('--json')
  const server = await serverCommand(words, context)
  if (server !== undefined) return runCommand(server.cli, server.command, context, asJson)
  const { commandList } = await import('./commands/command-list.ts')
  const paths: Paths = commandList.flatMap((command) => command.paths ?? [])
  const named = namedCommand(commandList, words, paths, context)
  if (named !== undefined) return runCommand(named.cli, named.command, context, asJson)
  const help = helpAsked(commandList, words, paths, context)
  if (help !== undefined) {
    context.stdout.write(help)
    return exitTable.ok.code
  }
  const cli = commandLine(commandList, context)
  let command: Command<CliContext>
  try {
    command = cli.process(words, context)
  } catch (error) {
    if (!(error instanceof Error) || !('clipanion' in error)) throw error
    const { message, advice } = usageAdvice(error, words, paths)
    return reportFailure(new ExitError('usage', message), context, asJson, advice)
  }
  return runCommand(cli, command, context, asJson)
}
