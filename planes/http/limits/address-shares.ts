/**
 * Which address holds more than half of the connections to a port. uWebSockets.js does not say whose connection has closed
 * once a request on it was answered, so nobody can count along; the kernel knows, and is asked while connections are short.
 */
import { readFile } from 'node:fs/promises'
import { SocketAddress } from 'node:net'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Connections of the network namespace, as proc(5) says. A kernel without IPv6 has only the first. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const
/** How often they are counted at most, and what part of the time it may take. */
const INTERVAL_MILLISECONDS = 1000
const TIME_PART_MAXIMUM = 1 / 20
/** How long an address with most connections gives way after somebody else has come. */
const OTHERS_MILLISECONDS = 10_000
/** What was counted longer ago than this says nothing. */
const AGE_MILLISECONDS_MAXIMUM = 10_000
/** Established, and those that the client has closed and we have not. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08'])
/** Words of an address are in the order of the machine, which is little-endian wherever the library runs. */
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
  /** When a connection came, while they were short, that was not of the address with most of them. */
  #othersCameAt = Number.NEGATIVE_INFINITY

  /**
   * @param ask tells the address that holds more than half of the connections now, if any does
   * @param proxies their connections are of many clients, and have no share
   */
  constructor(ask: () => Promise<string | undefined>, proxies?: TrustedProxies) {
    this.#ask = ask
    this.#proxies = proxies
  }

  /** Whether a new connection is of the address that has most already. To be asked while connections are short. */
  isOneTooMany(address: string): boolean {
    const most = this.#mostOfLate()
    if (most !== undefined && most !== address) this.#othersCameAt = performance.now()
    return most === address
  }

  /** Whether connections of this address have to end, while they are short, because others have come of late. */
  givesWay(address: string): boolean {
    if (performance.now() - this.#othersCameAt > OTHERS_MILLISECONDS) return false
    return this.#mostOfLate() === address
  }

  /** The address that held more than half of the connections when they were counted last. Has them counted again. */
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

/** What `AddressShares` asks where nobody counts along. */
export async function askKernel(port: number): Promise<string | undefined> {
  // What cannot be read, for want of descriptors perhaps, has no rows, and is read again the next time.
  const tables = await Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => '')))
  return addressWithMost(tables, port)
}

/**
 * The peer of more than half of the open connections to a local port, as text as `peerAddress` has it; undefined if no
 * address has so many.
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
