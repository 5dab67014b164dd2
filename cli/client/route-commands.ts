/** The commands that are one request to the management plane, made from its routes. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, type CommandClass, Option } from 'clipanion'
import { API, type Route } from '../../planes/management/routing/define-route.ts'
import type { AnyValues, RouteCommand } from '../../planes/management/routing/route-command.ts'
import { routeList } from '../../planes/management/routing/route-list.ts'
import type { CliContext } from '../cli-context.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { bucketArgument, objectArgument, quantityOption, timeOption, wholeOption } from '../commands/option-values.ts'
import { ClientCommand } from './client-command.ts'
import { type ClientRequest, encodedPart, type ManagementClient } from './management-client.ts'
import { joinedPages } from './joined-pages.ts'
import { fields, objectOf, rowsOf } from './tables.ts'

const CATEGORY = 'Running server'
/** Entries of a page where all pages are asked for: the maximum of the server. */
const PAGE_ENTRIES = '1000'
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
  'share',
  'embed',
  'webhook',
  'session',
  'system',
  'storage',
  'report',
]

/** Arguments that name a bucket. */
const BUCKETS: ReadonlySet<string> = new Set(['bucket', 'source-bucket'])

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
      const parsed = valuesOf(command, this.#parsed, this.context.workingDirectory)
      const values = await idsOf(parsed, this.client())
      const request = requestOf(route, command, values)
      const { show } = command
      if (show !== undefined && 'page' in show && values['limit'] === undefined) return this.#follow(request, show.page)
      const isPage = (['after', 'limit', 'maximum-entries'] as const).some((name) => values[name] !== undefined)
      const isWhole = command.joined !== undefined && !isPage
      const answer = isWhole
        ? await joinedPages(command.joined, async (after) => {
            return objectOf(await this.client().json(requestOf(route, command, { ...values, after })))
          })
        : await this.client().json(request)
      this.print(answer, rowsOf(show))
      return exitTable[command.exit?.(objectOf(answer)) ?? 'ok'].code
    }

    /** Prints every page of a listing as it comes; with --json all of them as one answer. */
    async #follow(request: ClientRequest, member: string): Promise<number> {
      const client = this.client()
      const all: { entries: unknown[]; prefixes: unknown[] } = { entries: [], prefixes: [] }
      let position: Record<string, string> = {}
      for (let isFirst = true; ; isFirst = false) {
        const query = { ...request.query, ...position, limit: PAGE_ENTRIES }
        const page = objectOf(await client.json({ ...request, query }))
        const [entries, prefixes] = [page[member], page['prefixes']].map((list) =>
          Array.isArray(list) ? list : undefined,
        )
        const { next_after: after, next_after_version_id: version } = page
        const isLast = typeof after !== 'string'
        const rest = { ...page, next_after: null }
        if (this.json) {
          all.entries.push(...(entries ?? []))
          all.prefixes.push(...(prefixes ?? []))
        } else this.print(rest, (answer) => rowsOf(command.show)(answer).slice(isFirst ? 0 : 1))
        const grouped = prefixes === undefined ? {} : { prefixes: all.prefixes }
        if (isLast && this.json) this.print({ ...page, [member]: all.entries, ...grouped }, fields)
        if (isLast) return exitTable.ok.code
        position = { after, ...(typeof version === 'string' ? { after_version_id: version } : {}) }
      }
    }
  }
}

/** The members that the parser fills in, by kind and name. */
function declared({ arguments: positional, options }: RouteCommand): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(positional)) {
    const shown = kind === 'object' ? 'bucket/key' : name
    members[`argument:${name}`] = Option.String({ name: shown, required: kind !== 'optional' })
  }
  for (const [name, option] of Object.entries(options)) {
    if (typeof option === 'string') members[`option:${name}`] = Option.String(`--${name}`, { description: option })
    else if ('flag' in option) {
      members[`option:${name}`] = Option.Boolean(`--${name}`, false, { description: option.flag })
    } else {
      const [description] = Object.values<string>(option)
      members[`option:${name}`] = Option.String(`--${name}`, { description: description ?? '' })
    }
  }
  return members
}

/** @throws ExitError `usage` */
function valuesOf(command: RouteCommand, members: Readonly<Record<string, unknown>>, directory: string): AnyValues {
  const values: Record<string, AnyValues[string]> = {}
  for (const [name, kind] of Object.entries(command.arguments)) {
    values[name] = valueOf(name, members[`argument:${name}`], kind)
  }
  for (const [name, option] of Object.entries(command.options)) {
    const kind = typeof option === 'string' ? 'text' : (Object.keys(option)[0] ?? 'text')
    const value = valueOf(`--${name}`, members[`option:${name}`], kind)
    values[name] = kind === 'file' && typeof value === 'string' ? textOfFile(resolve(directory, value)) : value
  }
  return values
}

/** Resources that can be given by name instead of id: where they are listed, and the prefix of their ids. */
const NAMED = {
  policy: { path: '/policies', member: 'policies', prefix: 'pol-' },
  account: { path: '/service-accounts', member: 'service_accounts', prefix: 'sa-' },
} as const

/** The values of a command with the ids of policies and accounts that were given by name. @throws ExitError as idOf */
async function idsOf(values: AnyValues, client: ManagementClient): Promise<AnyValues> {
  const found: Record<string, AnyValues[string]> = { ...values }
  for (const kind of ['policy', 'account'] as const) {
    const given = values[kind]
    if (typeof given === 'string') found[kind] = await idOf(kind, given, client)
  }
  return found
}

/**
 * The id of a resource that was given by its id or its name. @throws ExitError `notFound`, `usage` where several have
 * the name
 */
export async function idOf(kind: keyof typeof NAMED, given: string, client: ManagementClient): Promise<string> {
  const { prefix } = NAMED[kind]
  if (given.startsWith(prefix)) return given
  const ids = (await recordsNamed(kind, given, client)).map(({ id }) => id)
  if (ids.length > 1) throw new ExitError('usage', `more than one ${kind} has the name ${given}: ${ids.join(', ')}`)
  if (ids[0] === undefined) throw new ExitError('notFound', `there is no ${kind} with the name or id ${given}`)
  return ids[0]
}

/** A resource in a listing. */
export interface NamedRecord {
  readonly id: string
  readonly name: string
}

/** The resources with a name, as they are listed. */
export async function recordsNamed<R extends NamedRecord = NamedRecord>(
  kind: keyof typeof NAMED,
  name: string,
  client: ManagementClient,
): Promise<readonly R[]> {
  const { path, member } = NAMED[kind]
  const found: R[] = []
  for (let after: Record<string, string> | undefined = {}; after !== undefined; ) {
    const query: Record<string, string> = { ...after, limit: PAGE_ENTRIES }
    const page = objectOf(await client.json({ method: 'GET', path, query }))
    const listed = page[member] as readonly R[]
    found.push(...listed.filter((each) => each.name === name))
    const next: unknown = page['next_after']
    after = typeof next === 'string' ? { after: next } : undefined
  }
  return found
}

/** The text of a file without the end of its line. @throws ExitError `usage` */
function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new ExitError('usage', `${path} cannot be read: ${(error as Error).message}`)
  }
}

/** @throws ExitError `usage` */
function valueOf(name: string, parsed: unknown, kind: string): AnyValues[string] {
  if (typeof parsed !== 'string') return parsed === true ? true : undefined
  if (kind === 'object') return objectArgument(parsed)
  if (kind === 'time') return timeOption(name, parsed)
  if (kind === 'seconds' || kind === 'days') return quantityOption(name, parsed, kind)
  if (kind === 'number') return wholeOption(name, parsed)
  return BUCKETS.has(name) ? bucketArgument(parsed) : parsed
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
