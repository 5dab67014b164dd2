/** Rules for connections that both drivers follow. */
import type { TrustedProxies } from './trusted-proxies.ts'

/**
 * Cipher suites of TLS 1.2: forward secrecy and authenticated encryption only (RFC 9325 section 4.2). The libraries'
 * defaults also accept static RSA key exchange and CBC with SHA-1. All suites of TLS 1.3 are acceptable.
 */
export const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** Fraction of open connections from which connections are short. */
export const CROWDED_PART = 3 / 4

/**
 * Why a connection was closed for want of places: `full`, every place is taken; `silent`, it had not sent a request yet, and a new
 * connection took its place; `share`, its address has more than half of all connections.
 */
export type ConnectionRefusal = 'full' | 'silent' | 'share'

/** Bounds of the connections of a listener. */
export interface ConnectionBounds {
  /** Beyond it a connection without a head is closed, else the new one. */
  readonly maximum: number
  /** Exempt from shares: they carry connections of many clients. */
  readonly proxies: TrustedProxies | undefined
  /** Called for each connection that is closed for them. */
  readonly refused: (reason: ConnectionRefusal) => void
}
