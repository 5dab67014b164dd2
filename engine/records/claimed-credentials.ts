/** What records say of credentials that were refused (spec/decisions/0004-audit-records.md). */
import type { Pairs } from '../events/audit.ts'
import { decodeAuditPart } from '../events/entry-codec.ts'

/** Name in the metadata of a record of a refused request: the credential that it named, which proves nothing. */
const CLAIMED_CREDENTIAL = 'claimed_credential_id'
const CLAIMED_ACCOUNT = 'claimed_account'
/** Before a credential id, the name of its count in a summary. */
const COUNTED_CLAIM = 'claimed:'

const CLAIMED_BYTES = Buffer.from(CLAIMED_CREDENTIAL)

/** Metadata of a refused request: the ids that it claimed, as far as the store knows them, and why it was refused. */
export function claimedCredential(
  credentialId: string | undefined,
  account: string | undefined,
  reason: string | undefined,
): Pairs {
  return [
    ...(credentialId === undefined ? [] : [CLAIMED_CREDENTIAL, credentialId]),
    ...(account === undefined ? [] : [CLAIMED_ACCOUNT, account]),
    ...(reason === undefined ? [] : ['reason', reason]),
  ]
}

/** The credential that the body of a record claims. */
export function claimOfBody(body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (!bytes.includes(CLAIMED_BYTES)) return undefined
  const { metadata } = decodeAuditPart(bytes)
  const at = metadata.indexOf(CLAIMED_CREDENTIAL)
  return at === -1 || at % 2 === 1 ? undefined : String(metadata[at + 1])
}

/** Metadata of a summary: how many of its requests claimed each credential. */
export function countedClaims(counts: ReadonlyMap<string, number>): Pairs {
  return [...counts].flatMap(([credentialId, count]) => [`${COUNTED_CLAIM}${credentialId}`, count])
}

/** Whether the metadata of a record names a claimed credential, alone or in a summary. */
export function hasClaimOf(metadata: Pairs, credentialId: string): boolean {
  for (let at = 0; at < metadata.length; at += 2) {
    if (metadata[at] === CLAIMED_CREDENTIAL && metadata[at + 1] === credentialId) return true
    if (metadata[at] === `${COUNTED_CLAIM}${credentialId}`) return true
  }
  return false
}
