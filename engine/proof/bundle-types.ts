/**
 * A proof bundle as its JSON has it (spec/formats/proof-bundle.md): the members of these types are the members of the
 * document, names included. Digests are lower-case hexadecimal, times RFC 3339 text, whole numbers below 2^53.
 */

export const PROOF_FORMAT = 'object-store.proof-bundle'
/**
 * 1 is the default. 2 has the records themselves, which bind its statements to the hash in the tree; the signed
 * encoding has the number of the format (spec/decisions/0027-proof-bundles.md).
 */
export const PROOF_FORMAT_VERSIONS = [1, 2] as const
export type ProofFormatVersion = (typeof PROOF_FORMAT_VERSIONS)[number]
export const SIGNATURE_ALGORITHM = 'ed25519'

/** The version that is described. */
export interface ProofObject {
  readonly bucket: string
  readonly key: string
  readonly version_id: string
  /** Bytes. */
  readonly size: number
  /** Absent when the object has none. */
  readonly content_type?: string
  readonly created_at: string
}

/** Why a bundle has no history, and how the canonical encoding spells it. */
export const HISTORY_REASONS = {
  chain_not_enabled: 'chain not enabled',
  version_predates_chain: 'version predates the chain',
  not_yet_checkpointed: 'not yet covered by a checkpoint',
} as const

export type HistoryReason = keyof typeof HISTORY_REASONS

/** One step of an inclusion path: the sibling and its side. */
export interface PathStep {
  readonly side: 'left' | 'right'
  readonly hash: string
}

/** A record of the audit chain that touched the version. */
export interface ProofRecord {
  readonly sequence: number
  readonly timestamp: string
  readonly operation: string
  readonly principal: string
  readonly result: string
  readonly previous_hash: string
  readonly record_hash: string
  /** In format version 2, and only there: the record as the journal has it, in base64 (stored-record.ts). */
  readonly record?: string
  readonly inclusion_path: { readonly index: number; readonly steps: readonly PathStep[] }
}

/** A checkpoint's statement about the records `from_sequence` to `to_sequence`, both inclusive. */
export interface ProofCheckpoint {
  readonly sequence: number
  readonly from_sequence: number
  readonly to_sequence: number
  readonly leaf_count: number
  readonly root: string
  readonly previous_checkpoint_hash: string
}

/** A third party's statement that the checkpoint existed at a time. */
export interface ProofAnchor {
  /** Such as `rfc3161`. */
  readonly kind: string
  /** Base64. */
  readonly receipt: string
  readonly asserted_at?: string
}

export type ProofHistory =
  | { readonly status: 'unavailable'; readonly reason: HistoryReason; readonly detail: string }
  | {
      readonly status: 'present'
      readonly records: readonly ProofRecord[]
      readonly checkpoint: ProofCheckpoint
      readonly anchor?: ProofAnchor
    }

/** Everything that the signature covers. */
export interface UnsignedBundle {
  readonly format: string
  readonly format_version: ProofFormatVersion
  readonly object: ProofObject
  /** SHA-256 of the bytes as recorded when they were written. */
  readonly payload: { readonly sha256: string }
  readonly history: ProofHistory
  /** The key that signs: 32 bytes, and the first 8 bytes of its SHA-256. */
  readonly deployment: { readonly algorithm: string; readonly public_key: string; readonly key_id: string }
}

export interface ProofBundle extends UnsignedBundle {
  /** 64 bytes over the canonical encoding. */
  readonly signature: { readonly algorithm: string; readonly canonical_version: number; readonly value: string }
}
