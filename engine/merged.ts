/** What is of all types of a union at once. */
export type Intersection<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void
  ? All
  : never

/**
 * One object with the members of all. What is in the types is exact, as if each had been spread by its name.
 * @throws Error when two of them have a member of the same name: one would hide the other
 */
export function merged<T extends object>(parts: readonly T[]): Intersection<T> {
  const all: Record<string, unknown> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    if (name in all) throw new Error(`two features have a "${name}"; give one of them another name`)
    all[name] = value
  }
  return all as Intersection<T>
}
