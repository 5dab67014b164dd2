import { didYouMean, nearestName } from './nearest-name.ts'

/** Output for a command line that cannot be parsed. */
interface UsageAdvice {
  readonly message: string
  /** Lines that help to correct it. */
  readonly advice: readonly string[]
}

/** The useful part of a parse error; the rest lists every command. */
interface ParseFault {
  readonly message: string
  readonly candidates?: readonly { readonly usage: string; readonly reason: string | null }[]
}

const OPTION = /^--?[A-Za-z][A-Za-z0-9-]*/
const OPTIONS_OF_USAGE = /--?[A-Za-z][A-Za-z0-9-]*/g

/** The words before the first option: the command and its positional arguments. */
function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'))
  return end === -1 ? argv : argv.slice(0, end)
}

function startsWithPath(words: readonly string[], path: readonly string[]): boolean {
  return path.length > 0 && path.every((word, index) => words[index] === word)
}

/** The command at the start of a command line: `server doctor`, not `server`, where both are commands. */
export function commandOf(
  argv: readonly string[],
  paths: readonly (readonly string[])[],
): readonly string[] | undefined {
  const words = leadingWords(argv)
  const matching = paths.filter((path) => startsWithPath(words, path))
  return matching.toSorted((one, other) => other.length - one.length)[0]
}

/** Commands that begin with the words given but need more of them: `config` of `config show`. */
export function commandsOfGroup(argv: readonly string[], paths: readonly (readonly string[])[]): readonly string[] {
  const words = leadingWords(argv)
  if (words.length === 0 || commandOf(argv, paths) !== undefined) return []
  return paths.filter((path) => words.every((word, index) => path[index] === word)).map((path) => path.join(' '))
}

/** The command with its arguments, without the options; empty if the parser has none. */
function usageLine(usage: string): string[] {
  const line = usage
    .replaceAll(/\[--?[^\]]*\] ?/g, '')
    .replaceAll(/ ?--[a-z-]+ #\d+/g, '')
    .trim()
  return line === '' ? [] : [`Usage: ${line}`]
}

/** A word after `--wait` is its value only when written `--wait=VALUE`: the option may stand alone. */
function valueAdvice(argv: readonly string[]): string {
  const index = argv.indexOf('--wait')
  const value = index === -1 ? undefined : argv[index + 1]
  return value === undefined || value.startsWith('-') ? '' : `; write it as --wait=${value}`
}

function optionAdvice(fault: ParseFault, argv: readonly string[], command: string): UsageAdvice {
  const candidate = fault.candidates?.find(({ reason }) => reason !== null)
  const usage = candidate?.usage ?? fault.candidates?.[0]?.usage ?? ''
  const known: readonly string[] = usage.match(OPTIONS_OF_USAGE) ?? []
  const [unknown = ''] = argv
    .map((word) => OPTION.exec(word)?.[0] ?? '')
    .filter((word) => word !== '' && !known.includes(word))
  const reason = candidate?.reason ?? fault.message.split('\n')[0] ?? ''
  const suggestion = unknown === '' ? '' : didYouMean(unknown, known)
  const bare = reason.endsWith('.') ? reason.slice(0, -1) : reason
  return {
    message: `${command}: ${bare}${suggestion}${valueAdvice(argv)}`,
    advice: [
      ...(/positional/.test(reason) ? usageLine(usage) : []),
      `Run "object-store ${command} --help" for its options.`,
    ],
  }
}

/**
 * Explains the fault of a command line in terms of the typed words.
 * @param paths the words of every command
 */
export function usageAdvice(
  fault: ParseFault,
  argv: readonly string[],
  paths: readonly (readonly string[])[],
): UsageAdvice {
  const words = leadingWords(argv)
  const path = commandOf(argv, paths)
  if (path !== undefined) return optionAdvice(fault, argv, path.join(' '))
  const group = commandsOfGroup(argv, paths)
  const help = 'Run "object-store --help" for the list of commands.'
  if (group.length > 0) {
    return { message: `${words.join(' ')} is not a command by itself; it has: ${group.join(', ')}`, advice: [help] }
  }
  if (words.length === 0)
    return { message: `the command must come before its options (${argv[0] ?? ''})`, advice: [help] }
  const known = paths.map((candidate) => candidate.join(' ')).filter((name) => !name.startsWith('-'))
  const meant = suggestedCommand(words, known)
  const advice = meant === undefined ? [help] : [`Did you mean "object-store ${meant}"?`, help]
  return { message: `there is no command "${words.join(' ')}"`, advice }
}

/** Words that people know from other programs, and the first words of the command here. */
const FAMILIAR: Readonly<Record<string, string>> = {
  user: 'service-account',
  users: 'service-account',
  ls: 'object list',
  cp: 'object put',
  rm: 'object delete',
  mb: 'bucket create',
  rb: 'bucket delete',
  start: 'server',
  run: 'server',
  logs: 'audit query',
  log: 'audit query',
  health: 'status',
  ready: 'status',
}

/**
 * The command that was probably meant.
 * @param words as typed, without options
 * @param names every command, such as `service-account list`
 * @returns a command, or a group with `--help`
 */
function suggestedCommand(words: readonly string[], names: readonly string[]): string | undefined {
  const [first = '', ...rest] = words
  const familiar = Object.hasOwn(FAMILIAR, first) ? FAMILIAR[first] : undefined
  if (familiar !== undefined) return inGroup(familiar, rest, names)
  // Positional arguments may follow the command, so fewer words are compared as well.
  const tries = [words.join(' '), words.slice(0, 2).join(' '), first]
  const nearest = tries.map((text) => nearestName(text, names)).find((name) => name !== undefined)
  if (nearest !== undefined) return nearest
  const group = groupOf(first, names)
  if (group !== undefined) return inGroup(group, rest, names)
  const ends = names.filter((name) => name.endsWith(` ${first}`))
  return ends.length === 1 ? ends[0] : undefined
}

/** The group that has a word in its name, or one much like it: `service-account` for `acounts`. */
function groupOf(word: string, names: readonly string[]): string | undefined {
  const groups = [...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? ''))]
  const byPart = new Map(groups.flatMap((group) => [group, ...group.split('-')].map((part) => [part, group])))
  const part = nearestName(word.replace(/s$/, ''), byPart.keys())
  return part === undefined ? undefined : byPart.get(part)
}

function inGroup(group: string, rest: readonly string[], names: readonly string[]): string {
  if (names.includes(group)) return group
  const near = nearestName([group, ...rest.slice(0, 1)].join(' '), names)
  return rest.length > 0 && near?.startsWith(`${group} `) ? near : `${group} --help`
}
