/** Lists in the order of ids which the server made up, as a whole or among things of one name. */

const PATHS = /^\/api\/v1\/(?:service-accounts|policies|management-tokens)/

type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json }

function idOf(item: Json): string | undefined {
  return typeof item === 'string' && /^(?:sa|pol)-[a-z2-7]{20}$/.test(item) ? item : undefined
}

function memberOf(item: Json, name: string): string {
  const member = typeof item === 'object' && item !== null && !Array.isArray(item) ? Object(item)[name] : undefined
  return typeof member === 'string' ? member : ''
}

function sorted(value: Json, nameOf: (text: string) => string): Json {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) {
    const entries = Object.entries(value as { readonly [name: string]: Json })
    return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member, nameOf)]))
  }
  const items = (value as readonly Json[]).map((item) => sorted(item, nameOf))
  const number = (item: Json) => numbered(nameOf(memberOf(item, 'id')))
  if (items.length > 1 && items.every((item) => memberOf(item, 'id') !== '')) {
    return items.toSorted((a, b) => (memberOf(a, 'name') === memberOf(b, 'name') ? number(a) - number(b) : 0))
  }
  const ids = items.map(idOf)
  if (items.length < 2 || ids.includes(undefined)) return items
  const inOrder = ids.every((id, index) => index === 0 || String(ids[index - 1]) < String(id))
  const named = items.toSorted((a, b) => numbered(nameOf(idOf(a) ?? '')) - numbered(nameOf(idOf(b) ?? '')))
  return inOrder ? ['in the order of their ids', ...named] : ['not in the order of their ids', ...named]
}

function numbered(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? 0)
}

/**
 * The text of an answer with the items of such lists in the order in which they were first seen.
 * @param nameOf the name that an id has got
 */
export function withoutRandomOrder(path: string, text: string, nameOf: (text: string) => string): string {
  if (!PATHS.test(path) || !text.startsWith('{')) return text
  return JSON.stringify(sorted(JSON.parse(text) as Json, nameOf))
}
