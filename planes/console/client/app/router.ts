import { signal } from '@preact/signals'
import { parseRoute, type Route } from './address.ts'

/** The current route. */
export const route = signal<Route>({ segments: [], query: {} })

/** Starts to update `route` with the address. */
export function followAddress(): void {
  addEventListener('hashchange', readAddress)
  readAddress()
}

function readAddress(): void {
  route.value = parseRoute(location.hash)
}

/** Goes to an address; with `replace`, it replaces the current one in the history. */
export function go(href: string, replace = false): void {
  if (replace) location.replace(href)
  else location.hash = href
}
