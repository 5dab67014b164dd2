import { createHmac, randomBytes } from 'node:crypto'
import { SecretBox } from '../keys/secret-box.ts'

const TOKEN_BYTES = 32
/** 32 bytes in base64url, without padding; the last character has four bits. */
const TOKEN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** Kinds of links that a token opens. */
type CapabilityKind = 'share' | 'embed'

/** A new token, and its form in the journal. */
interface NewToken {
  /** 43 characters of base64url. */
  readonly token: string
  /** 32 bytes. */
  readonly digest: Uint8Array
  readonly sealedToken: Uint8Array
}

/**
 * The tokens in the addresses of shares and embeds: 256 random bits. The journal and the projections have a keyed digest,
 * by which alone a token is found, and the token sealed for the id that it belongs to. So a copy of either opens nothing, and a
 * guess cannot be checked without the master key.
 */
export class CapabilityTokens {
  readonly #digestKey: Uint8Array
  readonly #box: SecretBox

  /** Keys of 32 bytes, each for this purpose only. `earlier`: keys that tokens may still be sealed with. */
  constructor(
    keys: { readonly capabilityDigests: Uint8Array; readonly capabilityTokens: Uint8Array },
    earlier: readonly Uint8Array[] = [],
  ) {
    this.#digestKey = keys.capabilityDigests
    this.#box = new SecretBox(keys.capabilityTokens, earlier)
  }

  /** @param id of the share or embed */
  create(kind: CapabilityKind, id: string): NewToken {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    return { token, digest: this.#digest(kind, token), sealedToken: this.#box.seal(token, id) }
  }

  /** The digest by which a token is found; undefined for a text that is not a token. */
  digest(kind: CapabilityKind, token: string): Uint8Array | undefined {
    return TOKEN.test(token) ? this.#digest(kind, token) : undefined
  }

  /** @throws SecretBoxError */
  open(id: string, sealedToken: Uint8Array): string {
    return this.#box.open(sealedToken, id)
  }

  #digest(kind: CapabilityKind, token: string): Uint8Array {
    return Uint8Array.from(createHmac('sha256', this.#digestKey).update(`${kind} ${token}`).digest())
  }
}
