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

/** What the keys of encrypted payloads are derived from (spec/formats/payloads.md): 32 bytes. */
export function payloadKey(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derivedKey(masterKey, 'payload-encryption', deploymentId)
}

/**
 * The Ed25519 seed that signs proof bundles: 32 bytes. Salt `object-store/proof-signing/v1` and info are those of the
 * specification (Signing key), which knows no deployment here: deployments with one master key sign with one key.
 */
export function proofSigningSeed(masterKey: Uint8Array): Buffer {
  return derivedKey(masterKey, 'proof-signing', Buffer.from('proof-bundle-signing-key'))
}

/** Purposes of the keys that turn numbers of the journal into ids that clients see; all threads derive the same. */
export const VERSION_ID_KEY = 'version-id'
export const UPLOAD_ID_KEY = 'upload-id'

/** Purpose of the key that seals the secrets of service accounts in the journal. */
export const CREDENTIAL_SECRET_KEY = 'credential-secret'
