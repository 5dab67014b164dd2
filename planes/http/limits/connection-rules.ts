/** What every driver keeps to with its connections. */

/**
 * What TLS 1.2 may use: forward secrecy and authenticated encryption (RFC 9325 section 4.2). The lists of the libraries take
 * the static RSA key exchange and CBC with SHA-1 too. TLS 1.3 has a list of its own, with nothing in it to be left out.
 */
export const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** From here on connections are short. */
export const CROWDED_PART = 3 / 4
