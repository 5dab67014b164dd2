import { hash } from 'node:crypto'
import {
  PROOF_FORMAT,
  type ProofBundle,
  type ProofFormatVersion,
  type ProofHistory,
  type ProofObject,
  SIGNATURE_ALGORITHM,
  type UnsignedBundle,
} from '../proof/bundle-types.ts'
import { canonicalBytes } from '../proof/canonical.ts'
import { SigningKey } from './signing-key.ts'

/** Hexadecimal digits of the first 8 bytes. */
const KEY_ID_LENGTH = 16

/** The contents of a bundle. `sha256`: lower-case hexadecimal. `version`: 1 when undefined; 2 needs the records themselves. */
interface ProofStatement {
  readonly object: ProofObject
  readonly sha256: string
  readonly history: ProofHistory
  readonly version?: ProofFormatVersion
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

  sign({ object, sha256, history, version = 1 }: ProofStatement): ProofBundle {
    const unsigned: UnsignedBundle = {
      format: PROOF_FORMAT,
      format_version: version,
      object,
      payload: { sha256 },
      history,
      deployment: this.#deployment,
    }
    const value = this.#key.sign(canonicalBytes(unsigned)).toString('hex')
    return { ...unsigned, signature: { algorithm: SIGNATURE_ALGORITHM, canonical_version: version, value } }
  }
}
