import { invalid, ManagementError } from './errors.ts'
import { type ManagementRoute, routeTable } from './route-table.ts'

/** A route found, with the values of the `{name}` parts of its path as they were sent. */
export interface FoundRoute {
  readonly route: ManagementRoute
  readonly sent: ReadonlyMap<string, string>
}

/** A pattern taken apart. */
interface CompiledRoute {
  readonly route: ManagementRoute
  readonly segments: readonly string[]
  /** Whether the last segment takes all that is left. */
  readonly takesRest: boolean
}

const REST = '{key}'

const ROUTES: readonly CompiledRoute[] = routeTable.map((route) => {
  const segments = route.path.split('/').slice(1)
  return { route, segments, takesRest: segments.at(-1) === REST }
})

/** The name of a `{name}` segment. */
function nameOf(segment: string): string | undefined {
  return segment.startsWith('{') ? segment.slice(1, -1) : undefined
}

function matches({ segments, takesRest }: CompiledRoute, parts: readonly string[]): boolean {
  if (takesRest ? parts.length < segments.length : parts.length !== segments.length) return false
  return segments.every((segment, index) => {
    if (nameOf(segment) === undefined) return segment === parts[index]
    // A name is not empty; of a key that is split only the whole must not be.
    return parts[index] !== '' || (takesRest && index === segments.length - 1 && parts.length > segments.length)
  })
}

/** `what` is said of text that is not UTF-8 in percent-encoding. */
function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(what, 'cannot be decoded')
  }
}

function sentParameters({ segments, takesRest }: CompiledRoute, parts: readonly string[]): Map<string, string> {
  const sent = new Map<string, string>()
  segments.forEach((segment, index) => {
    const name = nameOf(segment)
    if (name === undefined) return
    const isRest = takesRest && index === segments.length - 1
    sent.set(name, isRest ? parts.slice(index).join('/') : (parts[index] as string))
  })
  return sent
}

/** @throws ManagementError INVALID_REQUEST */
export function decodeParameters(sent: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(Array.from(sent, ([name, value]) => [name, decode(value, 'path')]))
}

function takes(route: ManagementRoute, method: string): boolean {
  return route.method === method || (route.method === 'GET' && method === 'HEAD')
}

/** The first pattern that a path fits, for the log, whatever its method. */
export function patternOf(path: string): string | undefined {
  const parts = path.split('/').slice(1)
  return ROUTES.find((route) => matches(route, parts))?.route.path
}

/**
 * The route of a request. The path is split before it is decoded, so an encoded slash is part of a name.
 * @throws ManagementError NOT_FOUND, METHOD_NOT_ALLOWED
 */
export function findRoute(method: string, path: string): FoundRoute {
  const parts = path.split('/').slice(1)
  const atPath = ROUTES.filter((route) => matches(route, parts))
  if (atPath.length === 0) throw new ManagementError('NOT_FOUND')
  const found = atPath.find(({ route }) => takes(route, method))
  if (found === undefined) {
    const allow = atPath.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]))
    throw new ManagementError('METHOD_NOT_ALLOWED', undefined, [['allow', [...new Set(allow)].join(', ')]])
  }
  return { route: found.route, sent: sentParameters(found, parts) }
}

/** Names come from strangers: an answer shows no more of one than this. */
const SHOWN_NAME_CHARACTERS = 64

/**
 * The query of a request: `+` is a blank, everything else is percent-encoded UTF-8.
 * @throws ManagementError INVALID_REQUEST naming a parameter that the route does not take, or takes once
 */
export function parseQuery(raw: string, route: ManagementRoute): Map<string, string> {
  const query = new Map<string, string>()
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    const mark = piece.includes('=') ? piece.indexOf('=') : piece.length
    const [name, value] = [piece.slice(0, mark), piece.slice(mark + 1)].map((text) =>
      decode(text.replaceAll('+', ' '), 'query'),
    ) as [string, string]
    if (!route.query.includes(name)) throw invalid(name.slice(0, SHOWN_NAME_CHARACTERS), 'there is no such parameter')
    if (query.has(name)) throw invalid(name, 'is there twice')
    query.set(name, value)
  }
  return query
}
