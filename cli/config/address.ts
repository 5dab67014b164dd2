import { isIPv6 } from 'node:net'
import type { Address } from './config-types.ts'

const PORT_MAXIMUM = 65_535
const PORT = /^(0|[1-9][0-9]{0,4})$/
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/

/**
 * Reads `host:port`, with an IPv6 address in brackets.
 * @returns undefined if the text is not such an address
 */
export function parseAddress(text: string): Address | undefined {
  const colon = text.lastIndexOf(':')
  if (colon < 1) return undefined
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)]
  if (!PORT.test(port) || Number(port) > PORT_MAXIMUM) return undefined
  const bracketed = host.startsWith('[') && host.endsWith(']')
  const name = bracketed ? host.slice(1, -1) : host
  if (bracketed ? !isIPv6(name) : !HOST.test(name)) return undefined
  return Object.freeze({ host: name, port: Number(port) })
}

/** `host:port`, with an IPv6 address in brackets. */
export function formatAddress(address: Address): string {
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
}

/** Hosts that mean "every interface". Clients cannot connect to them, so they are given the loopback instead. */
const loopbackOfWildcard: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address of a listener bound to `address` for clients on the same machine. */
export function localAddress(address: Address): Address {
  return { ...address, host: loopbackOfWildcard[address.host] ?? address.host }
}

/**
 * The URL of a listener bound to `address` for clients on the same machine.
 * @param secure whether it speaks TLS
 */
export function localUrl(address: Address, secure: boolean): string {
  return `${secure ? 'https' : 'http'}://${formatAddress(localAddress(address))}`
}
