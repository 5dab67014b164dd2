import type { SecretBox } from '../../../engine/keys/secret-box.ts'
import { newAccessKey, newId, newSecretKey } from '../requests/identifiers.ts'

/** A credential before it is stored, with the secret key that only its owner will see. */
interface NewCredential {
  readonly credential: string
  readonly accessKey: string
  readonly secretKey: string
  /** For the journal; sealed for its access key alone. */
  readonly sealedSecret: Uint8Array
}

export function newCredential(secrets: SecretBox): NewCredential {
  const accessKey = newAccessKey()
  const secretKey = newSecretKey()
  return { credential: newId('cred'), accessKey, secretKey, sealedSecret: secrets.seal(secretKey, accessKey) }
}
