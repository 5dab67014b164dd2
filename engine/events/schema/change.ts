import { type Codec, compile, type Fields } from './compile.ts'
import type { ValuesOf } from './record.ts'

/** Everything about one change of the journal: its name, its code and its fields. */
export interface ChangeSchema<N extends string = string, F extends Fields = Fields> extends Codec {
  readonly name: N
  /** First element of the change's array; never reused. */
  readonly code: number
  readonly fields: F
}

/** The change as the program has it. */
export type ChangeOf<S> = S extends ChangeSchema<infer N, infer F> ? { readonly name: N } & ValuesOf<F> : never

/** The changes of several schemas, such as all those that a file exports. */
export type ChangesOf<S> = ChangeOf<S[keyof S]>

/** One change of several, by its name. */
export type ChangeNamed<C extends { readonly name: string }, N extends C['name']> = Extract<C, { readonly name: N }>

export function defineChange<N extends string, F extends Fields>(name: N, code: number, fields: F): ChangeSchema<N, F> {
  return { name, code, fields, ...compile({ property: 'name', value: name, code }, fields) }
}
