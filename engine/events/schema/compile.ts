import { asItIs, FormError, type Kind, refuse } from './kinds.ts'

/** A place in an array: its kind, and its description for the page. */
export interface Field<T> {
  readonly kind: Kind<T>
  readonly label: string
  readonly note: string | undefined
  /** Set for a field that is left out where it and all fields after it have this value. */
  readonly trailing: { readonly absent: false | undefined } | undefined
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** First element of an array with several forms, and the property that distinguishes the forms in the program. */
interface Head {
  readonly property: 'name' | 'kind'
  readonly value: string
  readonly code: number
}

export interface Codec {
  readonly encode: (value: object) => unknown[]
  readonly decode: (stored: unknown, where: string) => object
}

/**
 * The code that stores and reads records of these fields, written out once when the program starts:
 *
 *     (v) => [3, v.bucketId, v.key, encode7(v.payload)]
 *     (s) => ({ name: 'object.written', bucketId: decode0(s[1], 'bucket id'), key: decode1(s[2], 'key'), … })
 *
 * A loop over the names of fields takes five times as long as this (spec/decisions/0003-journal-entries.md). Only the
 * constants of the schemas go into the code, never data.
 */
export function compile(head: Head | undefined, fields: Fields): Codec {
  const all = Object.values(fields)
  const most = all.length + (head === undefined ? 0 : 1)
  const least = most - all.filter(({ trailing }) => trailing !== undefined).length
  const build = readerOf(head, fields)
  return {
    encode: writerOf(head, fields),
    decode: (stored, where) => {
      if (!Array.isArray(stored)) return refuse(where, 'array', stored)
      if (stored.length < least || stored.length > most) {
        return refuse(where, least === most ? `array of ${most}` : `array of ${least} to ${most}`, stored)
      }
      try {
        return build(stored)
      } catch (error) {
        throw error instanceof FormError ? new FormError(`${where}: ${error.message}`) : error
      }
    },
  }
}

function writerOf(head: Head | undefined, fields: Fields): Codec['encode'] {
  const all = Object.entries(fields)
  const items = all.map(([name, { kind }], at) => (kind.encode === asItIs ? `v.${name}` : `encode${at}(v.${name})`))
  if (head !== undefined) items.unshift(String(head.code))
  const arrayWithout = (last: number) => `[${items.slice(0, items.length - last).join(', ')}]`
  // A trailing field is written when it, or a field after it, has another value than `absent`.
  const trailing = all.toReversed().filter(([, field]) => field.trailing !== undefined)
  const longer = trailing.map(([name, field], at) => `v.${name} !== ${field.trailing?.absent} ? ${arrayWithout(at)} : `)
  return compiled(fields, `v => ${longer.join('')}${arrayWithout(longer.length)}`) as Codec['encode']
}

type Reader = (stored: readonly unknown[]) => object

function readerOf(head: Head | undefined, fields: Fields): Reader {
  const first = head === undefined ? 0 : 1
  const items = Object.entries(fields).map(([name, { label, trailing }], index) => {
    const value = `decode${index}(s[${first + index}], ${JSON.stringify(label)})`
    return `${name}: ${trailing === undefined ? value : `s.length > ${first + index} ? ${value} : ${trailing.absent}`}`
  })
  if (head !== undefined) items.unshift(`${head.property}: ${JSON.stringify(head.value)}`)
  return compiled(fields, `s => ({ ${items.join(', ')} })`) as Reader
}

function compiled(fields: Fields, code: string): unknown {
  const kinds = Object.values(fields).map(({ kind }) => kind)
  const names = kinds.map((_, at) => `{ encode: encode${at}, decode: decode${at} }`)
  return new Function('kinds', `'use strict'; const [${names.join(', ')}] = kinds; return ${code}`)(kinds)
}
