/** Reads path, query and body of a request as its route declares them. */
import { isUtf8 } from 'node:buffer'
import { BodyTooLargeError, type HttpRequest } from '../../http/exchange.ts'
import type { Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from './management-request.ts'
import type { FoundRoute } from '../routing/router.ts'
import { refuseRepeatedMembers } from './repeated-member.ts'
import { BODY, SHOWN_NAME_CHARACTERS } from '../schemas/schema.ts'

/** Largest JSON body (specification, Limits). */
const JSON_BYTES_MAXIMUM = 1024 ** 2

/**
 * Decodes path and query. Their values, and the body, are checked when the handler reads them.
 * @throws ManagementError INVALID_REQUEST naming a parameter that is unknown or repeated
 */
export function readRequest(
  { route, sent }: FoundRoute,
  http: HttpRequest,
): Pick<ManagementRequest, 'parameters' | 'query' | 'body'> {
  const parameters = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, decode(value, 'path')]))
  const query = parseQuery(http.query, route)
  return {
    parameters,
    query: (name) => route.query[name]?.read(query.get(name), name),
    body: () => readBody(http, route),
  }
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(what, 'cannot be decoded')
  }
}

/** `+` is a blank; the rest is percent-encoded UTF-8. */
function parseQuery(raw: string, route: Route): Map<string, string> {
  const query = new Map<string, string>()
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    const mark = piece.includes('=') ? piece.indexOf('=') : piece.length
    const [name, value] = [piece.slice(0, mark), piece.slice(mark + 1)].map((text) =>
      decode(text.replaceAll('+', ' '), 'query'),
    ) as [string, string]
    if (!Object.hasOwn(route.query, name)) {
      throw invalid(name.slice(0, SHOWN_NAME_CHARACTERS), 'unknown parameter')
    }
    if (query.has(name)) throw invalid(name, 'occurs more than once')
    query.set(name, value)
  }
  return query
}

/** An empty body counts as an empty object. */
async function readBody({ body }: HttpRequest, { request }: Route): Promise<unknown> {
  let bytes: Buffer
  try {
    bytes = await body.readAll(JSON_BYTES_MAXIMUM)
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new ManagementError('BODY_TOO_LARGE')
    throw error
  }
  if (bytes.length === 0) return request?.read({}, BODY)
  const value = request?.read(parse(bytes), BODY)
  refuseRepeatedMembers(bytes.toString())
  return value
}

function parse(bytes: Buffer): unknown {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8')
    return JSON.parse(bytes.toString())
  } catch {
    throw invalid(BODY, 'is not JSON')
  }
}
