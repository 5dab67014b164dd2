import { Command, type CommandClass, Option } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { exitTable } from '../exit-codes.ts'
import { ClientCommand } from './client-command.ts'
import type { CommandRow, Values } from './command-rows.ts'

const CATEGORY = 'Running server'

/** The class that the parser wants, of a row of the table. */
export function makeCommand(row: CommandRow): CommandClass<CliContext> {
  return class extends ClientCommand {
    static override paths = [row.path.split(' ')]
    static override usage = Command.Usage({ category: CATEGORY, description: row.description })

    // The parser finds arguments and options by looking at the members of an instance.
    readonly #values = declare(this as unknown as Record<string, unknown>, row)

    override async execute(): Promise<number> {
      const values = this.#values(this as unknown as Record<string, unknown>)
      const answer = await this.client().json(row.request(values))
      this.print(answer, row.show)
      return exitTable[row.exit?.(answer as never) ?? 'ok'].code
    }
  }
}

/** Declares what a row takes on an instance, and gives back how its values are read once they are parsed. */
function declare(instance: Record<string, unknown>, row: CommandRow): (parsed: Record<string, unknown>) => Values {
  const names: [member: string, name: string][] = []
  for (const { name, optional } of row.arguments ?? []) {
    names.push([`argument:${name}`, name])
    instance[`argument:${name}`] = Option.String({ name, required: optional !== true })
  }
  for (const { name, description, flag } of row.options ?? []) {
    names.push([`option:${name}`, name])
    instance[`option:${name}`] =
      flag === true ? Option.Boolean(`--${name}`, false, { description }) : Option.String(`--${name}`, { description })
  }
  return (parsed) => Object.fromEntries(names.map(([member, name]) => [name, parsed[member]])) as Values
}
