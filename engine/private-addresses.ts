/** Addresses of networks that belong to an organization or to this machine. */
import { BlockList, isIP } from 'node:net'

type Family = 'ipv4' | 'ipv6'

/** @param ranges networks such as `10.0.0.0/8` */
export function addressList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

export function familyOf(address: string): Family {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** RFC 1122, 1918, 3927, 4193, 4291, 6598. */
const PRIVATE = addressList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
])

/** Whether a loopback, link-local or private address; false for a text that is no address. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) === 0) return false
  const plain = unmapped(bare)
  return PRIVATE.check(plain, familyOf(plain))
}

/** The address of IPv4 in one of IPv6 (`::ffff:10.0.0.1`, RFC 4291 section 2.5.5.2), in either way to write it. */
export function unmapped(address: string): string {
  if (familyOf(address) === 'ipv4') return address
  const { hostname } = new URL(`http://[${address}]/`)
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? []
  if (high === undefined || low === undefined) return hostname.slice(1, -1)
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.')
}
