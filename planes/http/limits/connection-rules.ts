/** Rules for connections that both drivers follow. */

/**
 * Cipher suites of TLS 1.2: forward secrecy and authenticated encryption only (RFC 9325 section 4.2). The libraries'
 * defaults also accept static RSA key exchange and CBC with SHA-1. All suites of TLS 1.3 are acceptable.
 */
export const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** Fraction of open connections from which connections are short. */
export const CROWDED_PART = 3 / 4
