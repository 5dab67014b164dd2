import { hashes, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

// The library asks the platform for SHA-512, asynchronously, unless it is given one.
hashes.sha512 = sha512

/**
 * Whether a signature is one of Ed25519 (RFC 8032 section 5.1.7) over the message. Encodings that are not the shortest
 * are refused, and so are the keys of small order, under which a signature can hold for every message.
 * @param signature 64 bytes
 * @param publicKey 32 bytes
 */
export function isSigned(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return verify(signature, message, publicKey, { zip215: false })
}
