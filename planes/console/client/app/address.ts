/** The addresses of screens, which are after the `#`. */

/** The place that the address names after its `#`. */
export interface Route {
  readonly segments: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

type Query = Readonly<Record<string, string | undefined>>

/** Parses `#/buckets/photos/objects?prefix=a%2F`. Parts that cannot be decoded are kept as they are. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  return {
    segments: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decoded),
    query: Object.fromEntries(
      query.split('&').flatMap((pair) => {
        if (pair === '') return []
        const [name = '', value = ''] = pair.split(/=(.*)/s)
        return [[decoded(name), decoded(value)]]
      }),
    ),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address of a place, for links. */
export function hrefOf(segments: readonly string[], query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return `#/${segments.map(encodeURIComponent).join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
}

/** The values of `:name` parts when a route is one of a pattern such as `buckets/:bucket`. */
export function matchRoute(pattern: string, { segments }: Route): Readonly<Record<string, string>> | undefined {
  const parts = pattern === '' ? [] : pattern.split('/')
  if (parts.length !== segments.length) return undefined
  const values: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] as string
    if (part.startsWith(':')) values[part.slice(1)] = segment
    else if (part !== segment) return undefined
  }
  return values
}
