import type { Sequence } from '../brands.ts'

const ID_BYTES = 4

/** The master key does not belong to this store. */
export class MasterKeyMismatchError extends Error {
  override readonly name = 'MasterKeyMismatchError'
  /** Whether the key is an earlier one of this store. */
  readonly isEarlier: boolean

  constructor(message: string, isEarlier = false) {
    super(message)
    this.isEarlier = isEarlier
  }

  /** For a key that a record of the journal changed to another one. `check`: of that one. */
  static ofEarlier(sequence: Sequence, check: Uint8Array): MasterKeyMismatchError {
    const changed = `record ${sequence} changed it to the one with the id ${masterKeyId(check)}`
    return new MasterKeyMismatchError(`the credential master key is an earlier one of this store: ${changed}`, true)
  }
}

/**
 * An id of a master key for operators: 8 hexadecimal digits, which reveal nothing of the key.
 * @param check by which the journal recognizes the key
 */
export function masterKeyId(check: Uint8Array): string {
  return Buffer.from(check.subarray(0, ID_BYTES)).toString('hex')
}
