import { KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import type { Pairs } from '../../../engine/events/audit.ts'
import { boundedText } from '../../../engine/events/bounded-text.ts'
import type { FoundRoute } from '../routing/router.ts'

/** Query parameters that belong to the target of a request. */
const TARGETS: readonly string[] = ['version_id', 'export_id']

/**
 * The target of a request for its audit records: the named parts of its path and the parameters above, by name. Values
 * are not checked, because refused requests are recorded too: undecodable values are recorded as sent, and values
 * longer than a key are cut.
 */
export function targetOf({ route, sent }: FoundRoute, query: string): Pairs {
  const parts = Object.entries(sent)
  for (const piece of query === '' ? [] : query.split('&')) {
    const [name = ''] = piece.split('=', 1)
    const isFirst = parts.every(([other]) => other !== name)
    if (TARGETS.includes(name) && Object.hasOwn(route.query, name) && isFirst) {
      parts.push([name, piece.slice(name.length + 1).replaceAll('+', ' ')])
    }
  }
  return parts.flatMap(([name, value]) => [name, boundedText(decoded(value), KEY_BYTES_MAXIMUM)])
}

/** The named parts of the path, decoded. A part that cannot be decoded is returned as sent. */
export function decodedParts({ sent }: FoundRoute): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, decoded(value)]))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
