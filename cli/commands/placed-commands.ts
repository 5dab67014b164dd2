import type { CommandClass } from 'clipanion'
import type { CliContext } from '../cli-context.ts'

/** Commands of a feature, and the command that the help shows before them. */
export interface PlacedCommands {
  /** Its words, such as `journal verify`. */
  readonly after: string
  readonly commands: readonly CommandClass<CliContext>[]
}

/** @throws Error when no command has the words that others come after */
export function withCommands(
  spine: readonly CommandClass<CliContext>[],
  placed: readonly PlacedCommands[],
): CommandClass<CliContext>[] {
  const all = [...spine]
  for (const { after, commands } of placed) {
    const index = all.findIndex(({ paths = [] }) => paths.some((words) => words.join(' ') === after))
    if (index === -1) throw new Error(`no command is ${after}`)
    all.splice(index + 1, 0, ...commands)
  }
  return all
}
