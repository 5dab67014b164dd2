/** Lists of what the server gives names to: rules and webhooks. */
import { isDeepStrictEqual } from 'node:util'

/** A name and what has it. */
export type Named = readonly [id: string, content: unknown]

/** Begins the names of what was made by a request without an answer; no server gives such a name. */
const UNKNOWN = 'unknown '

export function unknownName(sequence: number): string {
  return `${UNKNOWN}${sequence}`
}

export function isKnown(name: string): boolean {
  return !name.startsWith(UNKNOWN)
}

/** The names of a list for those of the model, in its order; undefined when one of both has what the other has not. */
export function namesOf(expected: readonly Named[], listed: readonly Named[]): Map<string, string> | undefined {
  if (expected.length !== listed.length) return undefined
  const names = new Map<string, string>()
  for (const [index, [id, content]] of expected.entries()) {
    const [name = '', found] = listed[index] ?? []
    if ((isKnown(id) && id !== name) || !isDeepStrictEqual(found, content)) return undefined
    names.set(id, name)
  }
  return names
}

/** Gives entries their names, in their places. */
export function rename<V>(
  entries: Map<string, V>,
  names: ReadonlyMap<string, string>,
  named: (value: V, id: string) => V,
) {
  const all = [...entries]
  entries.clear()
  for (const [id, value] of all) {
    const name = names.get(id) ?? id
    entries.set(name, named(value, name))
  }
}
