import { ManagementError } from './errors.ts'
import { type ManagementRoute, routeTable } from './route-table.ts'

/** A route found, with the decoded parts of its path. */
export interface FoundRoute {
  readonly route: ManagementRoute
  readonly parameters: ReadonlyMap<string, string>
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
  return segments.every((segment, index) => nameOf(segment) !== undefined || segment === parts[index])
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ManagementError('INVALID_REQUEST', 'The path cannot be decoded.')
  }
}

function parametersOf({ segments, takesRest }: CompiledRoute, parts: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>()
  segments.forEach((segment, index) => {
    const name = nameOf(segment)
    if (name === undefined) return
    const isRest = takesRest && index === segments.length - 1
    const value = decode(isRest ? parts.slice(index).join('/') : (parts[index] as string))
    if (value === '') throw new ManagementError('NOT_FOUND')
    parameters.set(name, value)
  })
  return parameters
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
 * @throws ManagementError NOT_FOUND, METHOD_NOT_ALLOWED, INVALID_REQUEST
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
  return { route: found.route, parameters: parametersOf(found, parts) }
}

/**
 * The query of a request.
 * @throws ManagementError INVALID_REQUEST naming a parameter that the route does not take, or takes once
 */
export function parseQuery(raw: string, route: ManagementRoute): Map<string, string> {
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(raw)) {
    if (!route.query.includes(name)) throw new ManagementError('INVALID_REQUEST', `${name}: there is no such parameter`)
    if (query.has(name)) throw new ManagementError('INVALID_REQUEST', `${name}: is there twice`)
    query.set(name, value)
  }
  return query
}
