import { hkdfSync } from 'node:crypto'

/** The master key is not the one this store was made with. */
export class MasterKeyMismatchError extends Error {
  override readonly name = 'MasterKeyMismatchError'
}

const DIGEST = 'sha256'
const KEY_BYTES = 32

/**
 * A key for one purpose, derived from the master key (HKDF-SHA256, RFC 5869), so that no two uses share a key and
 * none of them tells the master key.
 */
export function derivedKey(masterKey: Uint8Array, purpose: string, context: Uint8Array): Buffer {
  return Buffer.from(hkdfSync(DIGEST, masterKey, `object-store/${purpose}/v1`, context, KEY_BYTES))
}

/** What the genesis record holds to tell a wrong master key: 32 bytes. */
export function masterKeyCheck(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derivedKey(masterKey, 'master-key-check', deploymentId)
}
