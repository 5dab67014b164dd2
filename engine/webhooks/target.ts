/**
 * Where webhooks may send to (specification, Target restrictions). Pure: names are resolved elsewhere, and every
 * resulting address is checked by `addressFault`.
 */
import { isIP } from 'node:net'
import { addressList, familyOf, isPrivateAddress, unmapped } from '../private-addresses.ts'

/** Permissions by the settings `webhooks.*`. */
export interface TargetRules {
  readonly allowHttp: boolean
  readonly allowPrivateNetworks: boolean
}

const TARGET_CHARACTERS_MAXIMUM = 2048
const HTTP_URL = /^https?:\/\//i

/** Clouds hand credentials to any client of these addresses: always refused, whatever the settings. */
const METADATA = addressList([
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  'fd00:ec2::23/128',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
])

/** The other special addresses of IPv4 (RFC 6890 and its registry): no receiver is there. */
const SPECIAL_IPV4 = addressList([
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** All addresses of IPv6 that are handed out. Others, such as NAT64 and addresses that embed IPv4, are refused. */
const PUBLIC_IPV6 = addressList(['2000::/3'])
/** Teredo and other protocols, documentation, 6to4: they lead to an address of IPv4, or nowhere. */
const SPECIAL_IPV6 = addressList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/**
 * The fault of a target as it is written, to be printed after its name; undefined for a valid one. An address in it is
 * judged too; a name must still be resolved.
 */
export function targetFault(target: string, rules: TargetRules): string | undefined {
  if (target.length > TARGET_CHARACTERS_MAXIMUM) return `must have at most ${TARGET_CHARACTERS_MAXIMUM} characters`
  const url = HTTP_URL.test(target) && !/\s/.test(target) && URL.canParse(target) ? new URL(target) : undefined
  if (url === undefined) return 'must be an https URL'
  if (url.protocol === 'http:' && !rules.allowHttp) return 'must be https, because webhooks.allow_http is off'
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password'
  if (target.includes('#')) return 'must hold no fragment'
  if (url.port === '0') return 'must not hold the port 0'
  const address = addressIn(url)
  return address === undefined ? undefined : addressFault(address, rules)
}

/** The address that the host of a URL is; undefined for a name. */
export function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}

/** Why nothing is sent to an address; undefined when something may be. */
export function addressFault(address: string, { allowPrivateNetworks }: TargetRules): string | undefined {
  // A zone names a network of this machine, and no public address has one.
  if (isIP(address) === 0 || address.includes('%')) return `${address} is not an address to send to`
  const plain = unmapped(address)
  const family = familyOf(plain)
  if (METADATA.check(plain, family)) return `${address} is a metadata service`
  if (isPrivateAddress(address)) {
    return allowPrivateNetworks
      ? undefined
      : `${address} is in a private network, and webhooks.allow_private_networks is off`
  }
  const isPublic =
    family === 'ipv4'
      ? !SPECIAL_IPV4.check(plain, family)
      : PUBLIC_IPV6.check(plain, family) && !SPECIAL_IPV6.check(plain, family)
  return isPublic ? undefined : `${address} is not a public address`
}
