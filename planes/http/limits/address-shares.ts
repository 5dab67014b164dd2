/**
 * Finds the address that holds more than half of the connections to a port. uWebSockets.js does not report the address
 * of a connection that closes after an answered request, so they cannot be counted here. The kernel is asked instead,
 * while connections are short.
 */
import { readFile } from 'node:fs/promises'
import { SocketAddress } from 'node:net'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Connections of the network namespace, as proc(5) says. A kernel without IPv6 has only the first. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const
/** Minimum interval between two counts, and the maximum part of the time that counting may take. */
const INTERVAL_MILLISECONDS = 1000
const TIME_PART_MAXIMUM = 1 / 20
/** How long the address with most connections gives way after a connection from another address. */
const OTHERS_MILLISECONDS = 10_000
/** An older count is not used. */
const AGE_MILLISECONDS_MAXIMUM = 10_000
/** ESTABLISHED, and CLOSE_WAIT: closed by the client and not yet by this server. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08'])
/** Words of an address are in the machine's byte order, which is little-endian on all platforms of uWebSockets.js. */
const WORD = /(..)(..)(..)(..)/g
/** The first three words of an IPv4 address on a socket of IPv6. */
const MAPPED = '0000000000000000ffff0000'

export class AddressShares {
  readonly #ask: () => Promise<string | undefined>
  readonly #proxies: TrustedProxies | undefined
  #most: string | undefined
  #countedAt = Number.NEGATIVE_INFINITY
  #nextAt = Number.NEGATIVE_INFINITY
  #isCounting = false
  /** When, while connections were short, the last one came from an address other than the one with most of them. */
  #othersCameAt = Number.NEGATIVE_INFINITY

  /**
   * @param ask returns the address that holds more than half of the connections now, if there is one
   * @param proxies exempt: they carry connections of many clients
   */
  constructor(ask: () => Promise<string | undefined>, proxies?: TrustedProxies) {
    this.#ask = ask
    this.#proxies = proxies
  }

  /**
   * Whether a new connection comes from the address that already has most. To be called while connections are short.
   */
  isOneTooMany(address: string): boolean {
    const most = this.#mostOfLate()
    if (most !== undefined && most !== address) this.#othersCameAt = performance.now()
    return most === address
  }

  /** Whether connections of this address must end, because connections are short and other addresses need some. */
  givesWay(address: string): boolean {
    if (performance.now() - this.#othersCameAt > OTHERS_MILLISECONDS) return false
    return this.#mostOfLate() === address
  }

  /** The address with more than half of the connections at the last count. Starts a new count when it is due. */
  #mostOfLate(): string | undefined {
    const now = performance.now()
    if (!this.#isCounting && now >= this.#nextAt) void this.#count(now)
    return now - this.#countedAt < AGE_MILLISECONDS_MAXIMUM ? this.#most : undefined
  }

  async #count(beganAt: number): Promise<void> {
    this.#isCounting = true
    const most = await this.#ask()
    this.#most = most !== undefined && this.#proxies?.has(most) === true ? undefined : most
    this.#countedAt = performance.now()
    this.#nextAt = this.#countedAt + Math.max(INTERVAL_MILLISECONDS, (this.#countedAt - beganAt) / TIME_PART_MAXIMUM)
    this.#isCounting = false
  }
}

/** The address with more than half of the connections to a port, from the tables of the kernel. */
export async function askKernel(port: number): Promise<string | undefined> {
  // A table that cannot be read, for example for want of descriptors, counts as empty until the next time.
  const tables = await Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => '')))
  return addressWithMost(tables, port)
}

/**
 * The peer of more than half of the open connections to a local port, in the form of `peerAddress`; undefined if no
 * address has that many.
 * @param tables contents of `/proc/net/tcp` and `/proc/net/tcp6`
 */
export function addressWithMost(tables: readonly string[], port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const counts = new Map<string, number>()
  let all = 0
  for (const row of tables.flatMap((table) => table.split('\n'))) {
    const [, local, remote, state] = row.trimStart().split(' ', 4)
    if (local === undefined || remote === undefined || state === undefined) continue
    if (!local.endsWith(suffix) || !OPEN_STATES.has(state)) continue
    const address = remote.slice(0, remote.indexOf(':'))
    counts.set(address, (counts.get(address) ?? 0) + 1)
    all += 1
  }
  const most = [...counts].find(([, count]) => count > all / 2)
  return most === undefined ? undefined : addressText(most[0])
}

function addressText(words: string): string {
  const bytes = words.toLowerCase().replace(WORD, '$4$3$2$1')
  const last = bytes.slice(-8)
  if (words.length === 8 || words.toLowerCase().startsWith(MAPPED)) return Buffer.from(last, 'hex').join('.')
  return new SocketAddress({ address: bytes.replace(/(.{4})(?!$)/g, '$1:'), family: 'ipv6' }).address
}
