/**
 * Proxies that are trusted to say where a request comes from. A proxy appends the address of its client to `Forwarded`
 * (RFC 7239) or to `X-Forwarded-For`. Any client can send such a header, so it is read only from trusted proxies, and
 * of its list only the entries that trusted proxies have appended.
 */
import { BlockList, isIP, SocketAddress } from 'node:net'

const MAPPED = /^::ffff:(?=\d+\.)/i
/** One element of `Forwarded`: pairs of a name and a token or a quoted text. No address has a comma or a backslash. */
const PAIR = /^\s*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\,;]*)"|([\w!#$%&'*+.^`|~-]+))\s*$/
/** What may follow an address in both headers (RFC 7239 section 6). */
const PORT = /^:\d{1,5}$/

/** The fault in an entry of a list of proxies; undefined for an address or a network such as `10.0.0.0/8`. */
export function networkProblem(entry: string): string | undefined {
  const [address = '', prefix, ...more] = entry.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0) {
    return 'is neither an IP address nor a network such as 10.0.0.0/8'
  }
  if (prefix === undefined) return undefined
  const bits = version === 4 ? 32 : 128
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return `has no prefix length of 1 to ${bits}`
  return Number(prefix) === 0 ? 'is every address: any client could say where it comes from' : undefined
}

export class TrustedProxies {
  readonly #list = new BlockList()

  /** @param entries addresses and networks without a `networkProblem` */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [address = '', prefix] = entry.split('/')
      if (prefix === undefined) this.#list.addAddress(address, familyOf(address))
      else this.#list.addSubnet(address, Number(prefix), familyOf(address))
    }
  }

  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, familyOf(address))
  }

  /**
   * The address that a request comes from: the last appended address that is not a proxy's. Falls back to the peer if
   * the peer is not a proxy, if there is no valid list, and if both headers exist and disagree, because the client must
   * have sent one of them.
   * @param header the value of a header by its lower-case name
   */
  clientOf(peer: string, header: (name: string) => string | undefined): string {
    if (!this.has(peer)) return peer
    const [forwarded, older] = [header('forwarded'), header('x-forwarded-for')]
    const first = forwarded === undefined ? undefined : this.#lastOfNoProxy(forwarded, forOf)
    const second = older === undefined ? undefined : this.#lastOfNoProxy(older, (element) => element)
    if (forwarded !== undefined && older !== undefined && first !== second) return peer
    return first ?? second ?? peer
  }

  /** Reads from the right and stops at the answer: entries to its left were sent by the client. */
  #lastOfNoProxy(list: string, nodeOf: (element: string) => string | undefined): string | undefined {
    let last: string | undefined
    for (let end = list.length; end > 0; ) {
      const comma = list.lastIndexOf(',', end - 1)
      const node = nodeOf(list.slice(comma + 1, end).trim())
      last = node === undefined ? undefined : addressOf(node)
      if (last === undefined || !this.has(last)) return last
      end = comma
    }
    return last
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** The value of `for` in an element of `Forwarded`. */
function forOf(element: string): string | undefined {
  const pairs = element.split(';').map((pair) => PAIR.exec(pair))
  if (pairs.includes(null)) return undefined
  const nodes = pairs.filter((pair) => pair?.[1]?.toLowerCase() === 'for')
  return nodes.length === 1 ? (nodes[0]?.[2] ?? nodes[0]?.[3]) : undefined
}

/** The address of a node, in the form of a peer's; undefined for `unknown`, hidden names and anything else. */
function addressOf(node: string): string | undefined {
  const bracket = node.startsWith('[') ? node.indexOf(']') : -1
  const colon = node.indexOf(':')
  const isVersion4 = colon !== -1 && colon === node.lastIndexOf(':')
  const end = bracket !== -1 ? bracket + 1 : isVersion4 ? colon : node.length
  const rest = node.slice(end)
  if (rest !== '' && !PORT.test(rest)) return undefined
  const address = (bracket === -1 ? node.slice(0, end) : node.slice(1, bracket)).replace(MAPPED, '')
  if (address.includes('%')) return undefined
  switch (isIP(address)) {
    case 4:
      return address
    case 6:
      return new SocketAddress({ address, family: 'ipv6' }).address
    default:
      return undefined
  }
}
