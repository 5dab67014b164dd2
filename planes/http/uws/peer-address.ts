/** The text form of socket peers, cached. */
import { SocketAddress } from 'node:net'
import type * as uWS from 'uWebSockets.js'

/** Bound of the cache, which is cleared when full. */
const KNOWN_MAXIMUM = 4096

const knownVersion4 = new Map<number, string>()
const knownVersion6 = new Map<string, string>()

/** IPv4 dotted, IPv6 in its short form (RFC 5952), IPv4-mapped IPv6 as IPv4; empty when the socket has no peer. */
export function peerAddress(response: uWS.HttpResponse): string {
  const bytes = new Uint8Array(response.getRemoteAddress())
  if (bytes.length === 4) return version4(bytes, 0)
  if (bytes.length !== 16) return ''
  return isMapped(bytes) ? version4(bytes, 12) : version6(bytes)
}

function isMapped(bytes: Uint8Array): boolean {
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}

function version4(bytes: Uint8Array, start: number): string {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]]
  const key = ((a * 256 + b) * 256 + c) * 256 + d
  return knownVersion4.get(key) ?? remember(knownVersion4, key, `${a}.${b}.${c}.${d}`)
}

function version6(bytes: Uint8Array): string {
  const key = Buffer.from(bytes).toString('hex')
  const known = knownVersion6.get(key)
  if (known !== undefined) return known
  const address = key.replace(/(.{4})(?!$)/g, '$1:')
  return remember(knownVersion6, key, new SocketAddress({ address, family: 'ipv6' }).address)
}

function remember<Key>(known: Map<Key, string>, key: Key, text: string): string {
  if (known.size >= KNOWN_MAXIMUM) known.clear()
  known.set(key, text)
  return text
}
