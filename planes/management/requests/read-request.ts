/** Reads path, query and body of a request as its route declares them. */
import { isUtf8 } from 'node:buffer'
import { BodyTooLargeError, type HttpRequest } from '../../http/exchange.ts'
import type { Route } from '../routing/define-route.ts'
import { invalid, ManagementError } from '../errors.ts'
import type { ManagementRequest } from './management-request.ts'
import type { FoundRoute } from '../routing/router.ts'
import { BODY, SHOWN_NAME_CHARACTERS } from '../schemas/schema.ts'
import { endOfString } from '../../../engine/proof/strict-json.ts'

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

/** Far above the nesting of any route's body; bounds memory. */
const NESTING_MAXIMUM = 32
const COLON = /[ \t\n\r]*:/y

/**
 * Refuses a text in which an object has the same member twice, at any depth. Parsers disagree about which one counts
 * (RFC 8259, 4), so a proxy that checked the text may have read another value.
 * @param text JSON
 * @throws ManagementError INVALID_REQUEST naming the member
 */
function refuseRepeatedMembers(text: string): void {
  /** Names of each object that is open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '{' || character === '[') {
      if (open.length === NESTING_MAXIMUM) throw invalid(BODY, 'is nested too deeply')
      open.push(character === '{' ? new Set() : undefined)
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === '"') {
      const end = endOfString(text, at)
      COLON.lastIndex = end
      // Only a name is followed by a colon. Escapes are decoded: "\u006eame" is "name".
      if (COLON.test(text)) note(open.at(-1), JSON.parse(text.slice(at, end)) as string)
      at = end - 1
    }
  }
}

function note(names: Set<string> | undefined, name: string): void {
  if (names?.has(name) === true) throw invalid(name.slice(0, SHOWN_NAME_CHARACTERS), 'occurs more than once')
  names?.add(name)
}
