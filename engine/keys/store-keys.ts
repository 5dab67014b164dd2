/**
 * Every key of a store. Each is derived from the master key with its own label (HKDF-SHA256, RFC 5869), so no two uses
 * share a key and no key reveals the master key. A label never changes: data made with its key would become unreadable.
 */
import { hkdfSync } from 'node:crypto'
import type { Sequence } from '../brands.ts'

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
  /** Seals the tokens of links in the journal. */
  capabilityTokens: 'object-store/capability-token/v1',
  /** Makes the hashes of the passwords of shares, after scrypt. */
  capabilityPasswords: 'object-store/capability-password/v1',
  /** Authenticates the tickets of unlocked shares. */
  capabilityTickets: 'object-store/capability-ticket/v1',
  /** Authenticates the continuation tokens of listings. */
  continuationTokens: 'object-store/continuation-token/v1',
  /** The keys that sign checkpoints after the first one are derived from it, one for each generation. */
  checkpointGenerations: 'object-store/checkpoint-generations/v1',
  /** Authenticates the changes of access in the journal. */
  accessChanges: 'object-store/access-changes/v1',
  /** Authenticates the projections' rows of access. */
  accessRows: 'object-store/access-rows/v1',
  /** Not a key: the journal holds it to recognize the master key. */
  masterKeyCheck: 'object-store/master-key-check/v1',
  /** Seals the master key before this one in the journal. */
  previousMasterKey: 'object-store/previous-master-key/v1',
  /** Authenticates the key file. */
  keyFile: 'object-store/key-file/v1',
} as const

/**
 * The key that signs proof bundles. Salt and info are fixed by the specification (Signing key) and leave the deployment
 * out: deployments with the same master key sign with the same key.
 */
const PROOF_SIGNING = { label: 'object-store/proof-signing/v1', info: Buffer.from('proof-bundle-signing-key') }

/**
 * The first key that signs checkpoints. It differs from the key of proof bundles: a checkpoint must never pass for a
 * part of a bundle.
 */
const CHECKPOINT_SIGNING = {
  label: 'object-store/checkpoint-signing/v1',
  info: Buffer.from('checkpoint-signing-key'),
}

/** The key that cosigns the checkpoints of other logs: C2SP wants one key for each kind of statement. */
const WITNESS_SIGNING = { label: 'object-store/witness-signing/v1', info: Buffer.from('witness-signing-key') }

/** Labels of the keys that are derived from `payloads`, one for each payload (payload-keys.ts). */
export const PAYLOAD_KEY_LABELS = {
  volume: 'object-store/payload-in-volume/v1',
  file: 'object-store/payload-in-file/v1',
} as const

/** Label of the keys that are derived from `checkpointGenerations`. */
const CHECKPOINT_GENERATION = 'object-store/checkpoint-signing/generation'

const KEY_BYTES = 32

/** 32 bytes for each use, of one master key. */
type KeysOfOne = Readonly<
  Record<
    | Exclude<keyof typeof LABELS, 'masterKeyCheck' | 'previousMasterKey' | 'keyFile'>
    | 'checkpointSigning'
    | 'witnessSigning',
    Uint8Array
  >
>

/** Keys of an earlier master key that are still needed: sealed, hashed and authenticated data stays as it is. */
interface EarlierKeys
  extends Pick<
    KeysOfOne,
    | 'payloads'
    | 'credentialSecrets'
    | 'webhookSecrets'
    | 'capabilityTokens'
    | 'capabilityPasswords'
    | 'accessChanges'
    | 'checkpointSigning'
    | 'checkpointGenerations'
  > {
  /** The entry that changed the master key to the next one: the last that this one authenticates. */
  readonly changed: MasterKeyChange
}

/** An entry that changed the master key. */
export interface MasterKeyChange {
  readonly sequence: Sequence
  /** Of the new key: 32 bytes. */
  readonly check: Uint8Array
  /** The key before, sealed with the new one. */
  readonly sealedPrevious: Uint8Array
  /** The code of the change of access before it, to which the sealed key is bound: 32 bytes. */
  readonly after: Uint8Array
}

/** The keys of a store: 32 bytes for each use. Can be sent to another thread. */
export interface StoreKeys extends KeysOfOne {
  /** The newest first; none while the store has the master key that it was created with. */
  readonly earlier: readonly EarlierKeys[]
}

function derived(masterKey: Uint8Array, label: string, info: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, label, info, KEY_BYTES))
}

/** The keys of a deployment whose master key never changed. */
export function storeKeys(masterKey: Uint8Array, deploymentId: Uint8Array): StoreKeys {
  return { ...keysOfOne(masterKey, deploymentId), earlier: [] }
}

/** The keys that one master key gives. */
export function keysOfOne(masterKey: Uint8Array, deploymentId: Uint8Array): KeysOfOne {
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
    checkpointGenerations: derived(masterKey, LABELS.checkpointGenerations, deploymentId),
    checkpointSigning: derived(masterKey, CHECKPOINT_SIGNING.label, CHECKPOINT_SIGNING.info),
    witnessSigning: derived(masterKey, WITNESS_SIGNING.label, WITNESS_SIGNING.info),
  }
}

/** The Ed25519 seed that signs the checkpoints of a generation from 1 on. `key`: `checkpointGenerations` of a master key. */
export function checkpointGenerationSeed(key: Uint8Array, generation: number): Buffer {
  return derived(key, CHECKPOINT_GENERATION, Buffer.from(String(generation)))
}

/** The key that seals the master key before this one. */
export function previousMasterKeyKey(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derived(masterKey, LABELS.previousMasterKey, deploymentId)
}

/** The key that authenticates the key file. */
export function keyFileKey(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derived(masterKey, LABELS.keyFile, deploymentId)
}

/** The Ed25519 seed that signs proof bundles: 32 bytes. */
export function proofSigningSeed(masterKey: Uint8Array): Buffer {
  return derived(masterKey, PROOF_SIGNING.label, PROOF_SIGNING.info)
}

/** The 32 bytes in the journal that identify a master key. */
export function masterKeyCheck(masterKey: Uint8Array, deploymentId: Uint8Array): Buffer {
  return derived(masterKey, LABELS.masterKeyCheck, deploymentId)
}
