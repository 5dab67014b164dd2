import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import {
  CANONICAL_VERSION,
  PROOF_FORMAT,
  PROOF_FORMAT_VERSION,
  type ProofBundle,
  type ProofHistory,
  type ProofObject,
  SIGNATURE_ALGORITHM,
  type UnsignedBundle,
} from '../proof/bundle-types.ts'
import { canonicalBytes } from '../proof/canonical.ts'

/** A PKCS #8 private key of Ed25519 (RFC 8410 section 7) up to the 32 bytes of its seed. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 32
/** Hexadecimal digits of the first 8 bytes. */
const KEY_ID_LENGTH = 16

/** The contents of a bundle. `sha256`: lower-case hexadecimal. */
interface ProofStatement {
  readonly object: ProofObject
  readonly sha256: string
  readonly history: ProofHistory
}

/**
 * Signs proof bundles with the key of the deployment. node:crypto signs and other code, in `proof/`, verifies, so two
 * implementations must agree.
 */
export class ProofSigner {
  readonly #key: KeyObject
  readonly #deployment: UnsignedBundle['deployment']

  /** `seed`: the 32 bytes of an Ed25519 private key (RFC 8032 section 5.1.5). */
  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
    const publicKey = createPublicKey(this.#key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)
    this.#deployment = {
      algorithm: SIGNATURE_ALGORITHM,
      public_key: publicKey.toString('hex'),
      key_id: hash('sha256', publicKey, 'hex').slice(0, KEY_ID_LENGTH),
    }
  }

  /** The public key that verifies the bundles. */
  get deployment(): UnsignedBundle['deployment'] {
    return this.#deployment
  }

  sign({ object, sha256, history }: ProofStatement): ProofBundle {
    const unsigned: UnsignedBundle = {
      format: PROOF_FORMAT,
      format_version: PROOF_FORMAT_VERSION,
      object,
      payload: { sha256 },
      history,
      deployment: this.#deployment,
    }
    const value = sign(null, canonicalBytes(unsigned), this.#key).toString('hex')
    return { ...unsigned, signature: { algorithm: SIGNATURE_ALGORITHM, canonical_version: CANONICAL_VERSION, value } }
  }
}
