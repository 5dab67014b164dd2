/**
 * The command of a route as data: its arguments and options, the request it sends, and how it shows the answer. cli/
 * makes the command from it.
 */

/** Positional arguments by name, in order; an object is `bucket/key` (`objectPath`). */
type Arguments = Readonly<Record<string, 'text' | 'number' | 'optional' | 'object' | 'time'>>
/** Kinds of options whose values are numbers: of anything, or of seconds or days, which may be written as durations. */
type NumberOption = { readonly number: string } | { readonly seconds: string } | { readonly days: string }
/**
 * Options by name, without dashes: a text, a number, a time (sent as RFC 3339), a flag without a value, or a file that
 * holds the text, for what no list of processes may show.
 */
type Options = Readonly<
  Record<
    string,
    string | NumberOption | { readonly time: string } | { readonly flag: string } | { readonly file: string }
  >
>

type ArgumentValue<K> = K extends 'number' ? number : K extends 'optional' ? string | undefined : string
type OptionValue<O> = O extends { readonly flag: string }
  ? boolean
  : O extends NumberOption
    ? number | undefined
    : string | undefined

type Values<A extends Arguments, O extends Options> = { readonly [N in keyof A]: ArgumentValue<A[N]> } & {
  readonly [N in keyof O]: OptionValue<O[N]>
}

/** Bucket and key of an argument `bucket/key`; a bucket's name has no slash. */
export function objectPath(object: string): { readonly bucket: string; readonly key: string } {
  const slash = object.indexOf('/')
  return { bucket: object.slice(0, slash), key: object.slice(slash + 1) }
}

/** The part of a route that a command uses. */
interface AskedRoute {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
}

/** The request that a command sends. An option with the name of a query parameter becomes this parameter. */
interface RouteCall {
  /** The named parts of the path; by default the first arguments, in order. */
  readonly path?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Another route to send the request to. */
  readonly instead?: AskedRoute
}

/** An answer as JSON; empty if it has no body. */
export type Answer = Readonly<Record<string, unknown>>

/**
 * How an answer is shown: one of its lists, then other members; a page of a listing; rows made from it, of which the
 * first is the heading; or a fixed text. Default: its members.
 */
export type Shown =
  | { readonly list: string; readonly columns: readonly string[]; readonly also?: readonly string[] }
  | { readonly page: string; readonly columns: readonly string[] }
  | { readonly rows: (answer: Answer) => readonly (readonly unknown[])[] }
  | { readonly done: string }

interface CommandDefinition<A extends Arguments, O extends Options> {
  readonly arguments?: A
  readonly options?: O
  readonly call?: (values: Values<A, O>) => RouteCall
  readonly show?: Shown
  /**
   * Members of a paged answer that are lists. Unless an option limits the result, the command requests all pages and
   * concatenates these lists.
   */
  readonly joined?: readonly string[]
  /** Exit code for an answer; `ok` by default. */
  readonly exit?: (answer: Answer) => 'ok' | 'partly' | 'doctorFinding' | 'storeDamaged'
}

/** The values of any command. */
export type AnyValues = Readonly<Record<string, string | number | boolean | undefined>>

export interface RouteCommand extends Omit<CommandDefinition<Arguments, Options>, 'call'> {
  /** Such as `bucket create`. */
  readonly path: string
  readonly description: string
  readonly arguments: Arguments
  readonly options: Options
  /** A method, so that the types of the command's own values may be narrower. */
  call(values: AnyValues): RouteCall
}

export function command<const A extends Arguments = {}, const O extends Options = {}>(
  path: string,
  description: string,
  { call = () => ({}), ...definition }: CommandDefinition<A, O> = {},
): RouteCommand {
  return { path, description, arguments: {}, options: {}, ...definition, call }
}
