import type { SecretBox } from '../../../engine/keys/secret-box.ts'
import { invalid } from '../errors.ts'
import { newAccessKey, newId, newSecretKey } from '../requests/identifiers.ts'
import { type Range, readAs, text } from '../schemas/schema.ts'

/** A credential before it is stored, with the secret key that only its owner will see. */
interface NewCredential {
  readonly credential: string
  readonly accessKey: string
  readonly secretKey: string
  /** For the journal; sealed for its access key alone. */
  readonly sealedSecret: Uint8Array
}

/** Keys that an administrator gives, such as those that an application has already. */
interface GivenKeys {
  readonly access_key?: string
  readonly secret_key?: string
}

/** The bounds of the root credential. */
const ACCESS_KEY_LENGTH = { minimum: 3, maximum: 128 } as const
const SECRET_KEY_LENGTH = { minimum: 16, maximum: 256 } as const

/** A text of one form. The message of a refusal never repeats the value. */
function formed(range: Range, form: RegExp, fault: string) {
  const plain = text(range)
  return readAs(plain, (value, field) => {
    const read = plain.read(value, field)
    if (!form.test(read)) throw invalid(field, fault)
    return read
  })
}

/** Keys in a body that creates a credential: both or neither. */
export const GIVEN_KEYS = {
  access_key: formed(
    ACCESS_KEY_LENGTH,
    /^[A-Za-z0-9._-]+$/,
    'may contain only letters, digits, dots, underscores and hyphens',
  ),
  secret_key: formed(
    SECRET_KEY_LENGTH,
    /^[\x21-\x7e]+$/,
    'may contain only visible characters of ASCII, without spaces',
  ),
} as const

/** @throws ManagementError INVALID_REQUEST for one key without the other */
export function newCredential(secrets: SecretBox, given: GivenKeys = {}): NewCredential {
  const { access_key: accessKey = newAccessKey(), secret_key: secretKey = newSecretKey() } = given
  if ((given.access_key === undefined) !== (given.secret_key === undefined)) {
    const missing = given.access_key === undefined ? 'access_key' : 'secret_key'
    throw invalid(missing, 'is missing: access_key and secret_key are given together, or neither is')
  }
  return { credential: newId('cred'), accessKey, secretKey, sealedSecret: secrets.seal(secretKey, accessKey) }
}
