/** The commands that are one request to the management plane, made from its routes. */
import { Command, type CommandClass, Option } from 'clipanion'
import { API, type Route } from '../../planes/management/define-route.ts'
import type { AnyValues, RouteCommand } from '../../planes/management/route-command.ts'
import { routeList } from '../../planes/management/route-list.ts'
import type { CliContext } from '../cli-context.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { ClientCommand } from './client-command.ts'
import { type ClientRequest, encodedPart } from './management-client.ts'
import { objectOf, rowsOf } from './tables.ts'

const CATEGORY = 'Running server'
/** First words of commands, in the order of the help; any other comes last. */
const SUBJECTS: readonly string[] = [
  'bucket',
  'quota',
  'object',
  'verify',
  'service-account',
  'credential',
  'policy',
  'token',
  'session',
  'system',
  'storage',
  'report',
]

function rank({ command }: { readonly command: RouteCommand }): number {
  const [subject = ''] = command.path.split(' ')
  return SUBJECTS.includes(subject) ? SUBJECTS.indexOf(subject) : SUBJECTS.length
}

export const routeCommands: readonly CommandClass<CliContext>[] = routeList
  .flatMap((route) => route.commands.map((command) => ({ route, command })))
  .toSorted((left, right) => rank(left) - rank(right))
  .map(({ route, command }) => makeCommand(route, command))

function makeCommand(route: Route, command: RouteCommand): CommandClass<CliContext> {
  return class extends ClientCommand {
    static override paths = [command.path.split(' ')]
    static override usage = Command.Usage({ category: CATEGORY, description: command.description })

    // The parser finds arguments and options among the members of an instance.
    readonly #parsed = Object.assign(this, declared(command))

    override async execute(): Promise<number> {
      const values = valuesOf(command, this.#parsed)
      const answer = await this.client().json(requestOf(route, command, values))
      this.print(answer, rowsOf(command.show))
      return exitTable[command.exit?.(objectOf(answer)) ?? 'ok'].code
    }
  }
}

/** The members that the parser fills in, by kind and name. */
function declared({ arguments: positional, options }: RouteCommand): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(positional)) {
    members[`argument:${name}`] = Option.String({ name, required: kind !== 'optional' })
  }
  for (const [name, option] of Object.entries(options)) {
    if (typeof option === 'string') members[`option:${name}`] = Option.String(`--${name}`, { description: option })
    else if ('flag' in option) {
      members[`option:${name}`] = Option.Boolean(`--${name}`, false, { description: option.flag })
    } else members[`option:${name}`] = Option.String(`--${name}`, { description: option.number })
  }
  return members
}

/** @throws ExitError `usage` */
function valuesOf(command: RouteCommand, members: Readonly<Record<string, unknown>>): AnyValues {
  const values: Record<string, AnyValues[string]> = {}
  for (const [name, kind] of Object.entries(command.arguments)) {
    values[name] = valueOf(name, members[`argument:${name}`], kind === 'number')
  }
  for (const [name, option] of Object.entries(command.options)) {
    values[name] = valueOf(name, members[`option:${name}`], typeof option !== 'string' && 'number' in option)
  }
  return values
}

function valueOf(name: string, parsed: unknown, isNumber: boolean): AnyValues[string] {
  if (typeof parsed !== 'string') return parsed === true ? true : undefined
  if (!isNumber) return parsed
  if (!/^\d{1,15}$/.test(parsed)) throw new ExitError('usage', `${name} takes a whole number`)
  return Number(parsed)
}

function requestOf(route: Route, command: RouteCommand, values: AnyValues): ClientRequest {
  const { path, body, instead: asked = route } = command.call(values)
  const inOrder = Object.keys(command.arguments).values()
  const target = asked.path.slice(API.length).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part = path === undefined ? values[inOrder.next().value ?? ''] : path[name]
    if (typeof part !== 'string') throw new Error(`${command.path} has nothing for {${name}}`)
    return encodedPart(part)
  })
  const query = Object.keys(command.options).flatMap((name): [string, string][] => {
    const [parameter, value] = [name.replaceAll('-', '_'), values[name]]
    return typeof value === 'string' && Object.hasOwn(asked.query, parameter) ? [[parameter, value]] : []
  })
  return { method: asked.method, path: target, query: Object.fromEntries(query), json: body }
}
