import { signal } from '@preact/signals'
import { parseRoute, type Route } from './address.ts'

/** Where the address is now. */
export const route = signal<Route>({ segments: [], query: {} })

/** Follows the address from now on. */
export function followAddress(): void {
  addEventListener('hashchange', readAddress)
  readAddress()
}

function readAddress(): void {
  route.value = parseRoute(location.hash)
}

/** Goes to a place; with `replace` the one before is not kept in the history. */
export function go(href: string, replace = false): void {
  if (replace) location.replace(href)
  else location.hash = href
}
