type Intersection<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void ? All : never

/** One object with the members of all. What is in the types is exact, as if each had been spread by its name. */
export function merged<T extends object>(parts: readonly T[]): Intersection<T> {
  return Object.assign({}, ...parts) as Intersection<T>
}
