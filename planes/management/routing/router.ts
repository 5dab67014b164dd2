import { API, type Route } from './define-route.ts'
import { ManagementError } from '../errors.ts'
import { routeList } from './route-list.ts'

/** The route of a request, with the values of the `{name}` parts of its path as sent. */
export interface FoundRoute {
  readonly route: Route
  readonly sent: Readonly<Record<string, string>>
}

/** Message for S3 clients that are configured with the address of this listener. */
const ELSEWHERE =
  'Nothing exists at this path. Those of the management listener begin with /api/v1; S3 has a listener of its own (s3.bind, port 7600 unless set).'

/** `{name}` is one segment and not empty; `{key}` and `{tile}` are the rest of the path. */
const PATTERNS = routeList.map((route) => {
  const pattern = route.path
    .replaceAll('.', '\\.')
    .replaceAll(/\{(key|tile)\}/g, '(?<$1>.+)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return { route, pattern: new RegExp(`^${pattern}$`, 's') }
})

function takes({ method: own }: Route, method: string): boolean {
  return own === method || (own === 'GET' && method === 'HEAD')
}

/** The first pattern that matches a path, whatever the method; for the log. */
export function patternOf(path: string): string | undefined {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.route.path
}

/**
 * Finds the route of a request. The path is split before it is decoded, so an encoded slash is part of a name.
 * @throws ManagementError NOT_FOUND, METHOD_NOT_ALLOWED
 */
export function findRoute(method: string, path: string): FoundRoute {
  const atPath = PATTERNS.flatMap(({ route, pattern }) => {
    const match = pattern.exec(path)
    return match === null ? [] : [{ route, sent: match.groups ?? {} }]
  })
  if (atPath.length === 0) {
    throw new ManagementError('NOT_FOUND', path.startsWith(`${API}/`) ? undefined : ELSEWHERE)
  }
  const found = atPath.find(({ route }) => takes(route, method))
  if (found !== undefined) return found
  const allow = atPath.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]))
  throw new ManagementError('METHOD_NOT_ALLOWED', undefined, [['allow', [...new Set(allow)].join(', ')]])
}
