import { type Codec, compile, type Field, type Fields } from './compile.ts'
import { type Kind, refuse } from './kinds.ts'

/** A field, with its label and note for the page. */
export function field<T>(kind: Kind<T>, label: string, note?: string): Field<T> {
  return { kind, label, note, trailing: undefined }
}

/**
 * A field that most records do without, at the end of its record: a writer leaves it out, with all that follow, where it and
 * they have the value `absent`.
 */
export function trailing<T>(kind: Kind<T>, absent: T & (false | undefined), label: string, note?: string): Field<T> {
  return { kind, label, note, trailing: { absent } }
}

/** The values of fields in the program. */
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** Several values that belong together, stored as an array. */
export interface RecordKind<T> extends Kind<T> {
  readonly fields: Fields
}

export function record<F extends Fields>(page: string, fields: F): RecordKind<ValuesOf<F>> {
  const { encode, decode } = compile(undefined, fields)
  return { page, fields, encode, decode: decode as Kind<ValuesOf<F>>['decode'] }
}

/** One form of a union: the first element of its array, and the fields after it. */
export interface Variant<F extends Fields = Fields> {
  readonly code: number
  readonly meaning: string
  readonly fields: F
}

type UnionOf<V extends Readonly<Record<string, Variant>>> = {
  [K in keyof V]: { readonly kind: K } & ValuesOf<V[K]['fields']>
}[keyof V]

/** A value of one of several forms, distinguished by `kind`. */
export function union<V extends Readonly<Record<string, Variant>>>(
  page: string,
  variants: V,
): Kind<UnionOf<V>> & { readonly variants: Readonly<Record<string, Variant>> } {
  const codecs = new Map<unknown, Codec>()
  for (const [value, { code, fields }] of Object.entries(variants)) {
    const codec = compile({ property: 'kind', value, code }, fields)
    codecs.set(value, codec).set(code, codec)
  }
  return {
    page,
    variants,
    encode: (value) => codecs.get(value.kind)?.encode(value),
    decode: (stored, where) => {
      if (!Array.isArray(stored)) return refuse(where, page, stored)
      const codec = typeof stored[0] === 'number' ? codecs.get(stored[0]) : undefined
      return (codec ?? refuse(where, `a known ${page}`, stored[0])).decode(stored, where) as UnionOf<V>
    },
  }
}
