import type { Pairs } from '../../../engine/events/audit.ts'
import { claimedCredential } from '../../../engine/records/claimed-credentials.ts'
import type { RefusedCredential } from './credential-directory.ts'

/**
 * Metadata of the record of a request whose credential was refused.
 * @param isWrong whether the signature is not the one of a credential that may sign
 * @param isValid whether the signature is the one of a credential that may not sign; undefined when that was not judged
 */
export function claimPairs(refused: RefusedCredential, isWrong: boolean, isValid: boolean | undefined): Pairs {
  const reason = isWrong ? 'wrong-signature' : refused.state === 'usable' ? undefined : refused.state
  const claimed = claimedCredential(refused.credentialId, refused.account, reason)
  return isValid === undefined ? claimed : [...claimed, 'signature', isValid ? 'valid' : 'wrong']
}
