/**
 * Every key of a store. Each is derived from the master key with its own label (HKDF-SHA256, RFC 5869), so no two uses
 * share a key and no key reveals the master key. A label never changes: data made with its key would become unreadable.
 */
import { hkdfSync, timingSafeEqual } from 'node:crypto'

/** Keys of one deployment. */
const LABELS = {
  /** The keys of encrypted payloads are derived from it (spec/formats/payloads.md). */
  payloads: 'object-store/payload-encryption/v1',
  /** Turns the sequences of versions into the ids that clients see. */
  versionIds: 'object-store/version-id/v1',
  /** The same for multipart uploads. */
  uploadIds: 'object-store/upload-id/v1',
  /** Seals the secrets of service accounts in the journal. */
  credentialSecrets: 'object-store/credential-secret/v1',
  /** Seals the signing secrets of webhooks in the journal. */
  webhookSecrets: 'object-store/webhook-secret/v1',
  /** Makes the digests by which the tokens of shares and embeds are found. */
  capabilityDigests: 'object-store/capability-digest/v1',
  /** Seals those tokens in the journal. */
  capabilityTokens: 'object-store/capability-token/v1',
  /** Makes the hashes of the passwords of shares, after scrypt. */
  capabilityPasswords: 'object-store/capability-password/v1',
  /** Authenticates the tickets of unlocked shares. */
  capabilityTickets: 'object-store/capability-ticket/v1',
  /** Authenticates the continuation tokens of listings. */
  continuationTokens: 'object-store/continuation-token/v1',
  /** Authenticates the changes of access in the journal. */
  accessChanges: 'object-store/access-changes/v1',
  /** Authenticates the rows of the projections that say who may do what. */
  accessRows: 'object-store/access-rows/v1',
  /** Not a key: the genesis record holds it to recognize the master key. */
  masterKeyCheck: 'object-store/master-key-check/v1',
} as const

/**
 * The key that signs proof bundles. Salt and info are those of the specification (Signing key), without the deployment:
 * deployments with the same master key sign with the same key.
 */
const PROOF_SIGNING = { label: 'object-store/proof-signing/v1', info: Buffer.from('proof-bundle-signing-key') }

/** Labels of the keys that are derived from `payloads`, one for each payload (payload-keys.ts). */
export const PAYLOAD_KEY_LABELS = {
  volume: 'object-store/payload-in-volume/v1',
  file: 'object-store/payload-in-file/v1',
} as const

const KEY_BYTES = 32

/** 32 bytes for each use. Can be sent to another thread. */
export type StoreKeys = Readonly<Record<Exclude<keyof typeof LABELS, 'masterKeyCheck'>, Uint8Array>>

function derived(masterKey: Uint8Array, label: string, info: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, label, info, KEY_BYTES))
}

/** The keys of a deployment. */
export function storeKeys(masterKey: Uint8Array, deploymentId: Uint8Array): StoreKeys {
  return {
    payloads: derived(masterKey, LABELS.payloads, deploymentId),
    versionIds: derived(masterKey, LABELS.versionIds, deploymentId),
    uploadIds: derived(masterKey, LABELS.uploadIds, deploymentId),
    credentialSecrets: derived(masterKey, LABELS.credentialSecrets, deploymentId),
    webhookSecrets: derived(masterKey, LABELS.webhookSecrets, deploymentId),
    capabilityDigests: derived(masterKey, LABELS.capabilityDigests, deploymentId),
    capabilityTokens: derived(masterKey, LABELS.capabilityTokens, deploymentId),
    capabilityPasswords: derived(masterKey, LABELS.capabilityPasswords, deploymentId),
    capabilityTickets: derived(masterKey, LABELS.capabilityTickets, deploymentId),
    continuationTokens: derived(masterKey, LABELS.continuationTokens, deploymentId),
    accessChanges: derived(masterKey, LABELS.accessChanges, deploymentId),
    accessRows: derived(masterKey, LABELS.accessRows, deploymentId),
  }
}

/** The Ed25519 seed that signs proof bundles: 32 bytes. */
export function proofSigningSeed(masterKey: Uint8Array): Buffer {
  return derived(masterKey, PROOF_SIGNING.label, PROOF_SIGNING.info)
}

/** The 32 bytes in the genesis record that identify the master key. */
export function masterKeyCheck(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derived(masterKey, LABELS.masterKeyCheck, deploymentId)
}

/** Whether the store of a genesis record was created with this master key. */
export function isMasterKeyOf(
  genesis: { readonly deploymentId: Uint8Array; readonly masterKeyCheck: Uint8Array },
  masterKey: Uint8Array,
): boolean {
  return timingSafeEqual(masterKeyCheck(masterKey, genesis.deploymentId), genesis.masterKeyCheck)
}
