/** Whether a client would rather have a page than JSON (RFC 9110 section 12.5.1). */

interface Weights {
  page: number
  json: number
}

const WEIGHT = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i
/** How exactly each range names each of the two types. */
const RANGES: ReadonlyMap<string, readonly [type: keyof Weights, exactness: number][]> = new Map([
  ['text/html', [['page', 3]]],
  ['application/xhtml+xml', [['page', 3]]],
  ['text/*', [['page', 2]]],
  ['application/json', [['json', 3]]],
  ['application/*', [['json', 2]]],
  [
    '*/*',
    [
      ['page', 1],
      ['json', 1],
    ],
  ],
])

/**
 * Whether the header asks for a page: it must name pages and weigh them at least as much as JSON. Programs say nothing,
 * or that anything will do; browsers name pages.
 */
export function acceptsPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights: Weights = { page: 0, json: 0 }
  const exactness: Weights = { page: 0, json: 0 }
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';')
    const weight = weightOf(parameters)
    for (const [type, exact] of RANGES.get(name.trim().toLowerCase()) ?? []) {
      if (exact < exactness[type] || (exact === exactness[type] && weight < weights[type])) continue
      exactness[type] = exact
      weights[type] = weight
    }
  }
  return exactness.page > 1 && weights.page > 0 && weights.page >= weights.json
}

/** A weight that cannot be read counts as none at all. */
function weightOf(parameters: readonly string[]): number {
  const named = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter))
  if (named === undefined) return 1
  const match = WEIGHT.exec(named)
  return match === null ? 0 : Number(match[1])
}
