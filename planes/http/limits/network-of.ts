const GROUPS = 8
const NETWORK_GROUPS = 4

/** The 64-bit network of an IPv6 address, since one client may use all its addresses (RFC 6177); IPv4 unchanged. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [left = '', right] = address.split('::')
  const first = left === '' ? [] : left.split(':')
  const last = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array.from({ length: Math.max(0, GROUPS - first.length - last.length) }, () => '0')
  const groups = right === undefined ? first : [...first, ...zeros, ...last]
  return groups.slice(0, NETWORK_GROUPS).join(':')
}
