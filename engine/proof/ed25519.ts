import { hashes, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

// Without this the library uses the platform's SHA-512, which is async.
hashes.sha512 = sha512

/**
 * Whether an Ed25519 signature (RFC 8032 section 5.1.7) over the message is valid. Refuses encodings that are not the
 * shortest, and keys of small order, for which one signature can be valid for every message.
 * @param signature 64 bytes
 * @param publicKey 32 bytes
 */
export function isSigned(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return verify(signature, message, publicKey, { zip215: false })
}
