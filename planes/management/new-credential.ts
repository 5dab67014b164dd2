import type { SecretBox } from '../../engine/secret-box.ts'
import { newAccessKey, newId, newSecretKey } from './identifiers.ts'

/** A credential that is not stored yet, and the secret key that only its owner will ever see. */
export interface NewCredential {
  readonly credential: string
  readonly accessKey: string
  readonly secretKey: string
  /** For the journal. It is sealed for its access key and opens with no other. */
  readonly sealedSecret: Uint8Array
}

export function newCredential(secrets: SecretBox): NewCredential {
  const accessKey = newAccessKey()
  const secretKey = newSecretKey()
  return { credential: newId('cred'), accessKey, secretKey, sealedSecret: secrets.seal(secretKey, accessKey) }
}
