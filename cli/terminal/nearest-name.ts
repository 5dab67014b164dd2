/** A name further away than this share of its length is not a likely misspelling. */
const DISTANCE_SHARE_MAXIMUM = 0.4

/** Levenshtein distance: insertions, removals and replacements of characters between two texts. */
export function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}

/**
 * The known name nearest to `name`; the first of several.
 * @returns undefined if none is near enough to suggest
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let distanceLeast = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < distanceLeast) {
      nearest = candidate
      distanceLeast = distance
    }
  }
  if (nearest === undefined) return undefined
  return distanceLeast <= Math.max(name.length, nearest.length) * DISTANCE_SHARE_MAXIMUM ? nearest : undefined
}

/** ` (did you mean x?)`, or nothing when no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}
