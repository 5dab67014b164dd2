import { nearestName } from './nearest-name.ts'

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
export function suggestedCommand(words: readonly string[], names: readonly string[]): string | undefined {
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
