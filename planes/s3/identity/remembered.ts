/** Longer texts are not cached, to bound memory. */
const TEXT_LENGTH_MAXIMUM = 512
const TEXTS_MAXIMUM = 64

/**
 * Caches the results of `read` for about 64 recent texts: clients send the same credential and the same list of headers
 * with every request. Exceptions are not cached. Callers must not modify results.
 */
export function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    let result = known.get(text)
    if (result !== undefined) return result
    result = read(text)
    if (text.length > TEXT_LENGTH_MAXIMUM) return result
    if (known.size >= TEXTS_MAXIMUM) known.clear()
    known.set(text, result)
    return result
  }
}
