import { ExitError, type ExitName } from '../exit-codes.ts'
import type { ClientRequest } from './management-client.ts'

/** Values of the arguments and options of a command, by name. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** A positional argument, in order. */
export interface ArgumentRow {
  readonly name: string
  readonly optional?: true
}

/** An option; a flag takes no value. */
export interface OptionRow {
  /** Without its dashes. */
  readonly name: string
  readonly description: string
  readonly flag?: true
}

/** A command that is one request: what it takes, what it asks, and how the answer is shown. */
export interface CommandRow {
  /** Such as `bucket create`. */
  readonly path: string
  readonly description: string
  readonly arguments?: readonly ArgumentRow[]
  readonly options?: readonly OptionRow[]
  readonly request: (values: Values) => ClientRequest
  /** What the answer ends the command with; `ok` where there is none. */
  readonly exit?: (answer: never) => ExitName
  readonly show: (answer: never) => readonly (readonly string[])[]
}

/** A value that the command line must have. */
export function text(values: Values, name: string): string {
  const value = values[name]
  if (typeof value !== 'string') throw new ExitError('usage', `${name} is missing`)
  return value
}

export function optional(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true
}

/** A whole number, undefined when it was not given. */
export function integer(values: Values, name: string): number | undefined {
  const value = optional(values, name)
  if (value === undefined) return undefined
  if (!/^\d{1,15}$/.test(value)) throw new ExitError('usage', `${name} takes a whole number`)
  return Number(value)
}
