import { hash } from 'node:crypto'
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
import { SigningKey } from './signing-key.ts'

/** Hexadecimal digits of the first 8 bytes. */
const KEY_ID_LENGTH = 16

/** The contents of a bundle. `sha256`: lower-case hexadecimal. */
interface ProofStatement {
  readonly object: ProofObject
  readonly sha256: string
  readonly history: ProofHistory
}

/** Signs proof bundles with the key of the deployment. */
export class ProofSigner {
  readonly #key: SigningKey
  readonly #deployment: UnsignedBundle['deployment']

  /** `seed`: the 32 bytes of an Ed25519 private key (RFC 8032 section 5.1.5). */
  constructor(seed: Uint8Array) {
    this.#key = new SigningKey(seed)
    const { publicKey } = this.#key
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
    const value = this.#key.sign(canonicalBytes(unsigned)).toString('hex')
    return { ...unsigned, signature: { algorithm: SIGNATURE_ALGORITHM, canonical_version: CANONICAL_VERSION, value } }
  }
}
