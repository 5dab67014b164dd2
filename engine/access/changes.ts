/** Changes of access. */
import { defineChange } from '../events/schema/change.ts'
import { bucketName, bucketPolicyText, identifier } from '../events/names.ts'
import { bucketId, bytes, digest, flag, listOf, microseconds, optional, text, wordOf } from '../events/schema/kinds.ts'
import { field } from '../events/schema/record.ts'
import { MANAGEMENT_ROLES, policyStatements } from '../events/values.ts'

const account = field(identifier, 'account id')
const accessKey = field(identifier, 'access key')
const enabled = field(flag, 'enabled')
const policy = field(identifier, 'policy id')
const token = field(identifier, 'token id')
const title = field(text, 'name')
const expiresMicroseconds = field(optional(microseconds), 'expiry', 'since 1970; nil: never')

export const accountCreated = defineChange('account.created', 23, {
  account,
  title,
  description: field(text, 'description'),
})

export const accountStatusSet = defineChange('account.status-set', 24, { account, enabled })

/** Its credentials and bindings are deleted with it. */
export const accountDeleted = defineChange('account.deleted', 25, { account })

export const credentialIssued = defineChange('credential.issued', 26, {
  account,
  credential: field(identifier, 'credential id'),
  accessKey,
  /** The secret key under the master key (engine/keys/secret-box.ts); never the secret itself. */
  sealedSecret: field(bytes, 'sealed secret'),
  expiresMicroseconds,
})

export const credentialStatusSet = defineChange('credential.status-set', 27, { accessKey, enabled })

/** A credential that was expired or disabled made room for a new one. */
export const credentialRemoved = defineChange('credential.removed', 33, { accessKey })

export const policyCreated = defineChange('policy.created', 28, {
  policy,
  title,
  statements: field(policyStatements, 'statements'),
})

/** Its accounts have the new statements from the next request on. */
export const policyReplaced = defineChange('policy.replaced', 50, {
  policy,
  title,
  statements: field(policyStatements, 'statements'),
})

export const policyDeleted = defineChange('policy.deleted', 51, { policy })

export const policyAttached = defineChange('policy.attached', 29, { policy, account })

export const policyDetached = defineChange('policy.detached', 30, { policy, account })

/** The policy of a bucket, in the language of AWS (spec/decisions/0024-identity-and-roles.md, 0268). */
export const bucketPolicySet = defineChange('bucket-policy.set', 85, {
  bucketId: field(bucketId, 'bucket id'),
  bucket: field(bucketName, 'name'),
  document: field(optional(bucketPolicyText), 'policy', 'as it was sent; nil: it is removed'),
  accounts: field(listOf(identifier), 'accounts', 'ids, in the order in which the policy names accounts first'),
})

/** A token of the management plane. Only its digest is kept. */
export const tokenIssued = defineChange('token.issued', 31, {
  token,
  title,
  role: field(wordOf(MANAGEMENT_ROLES), 'role'),
  digest: field(digest, 'SHA-256 of the token'),
  expiresMicroseconds,
})

export const tokenRevoked = defineChange('token.revoked', 32, { token })

/** The master key is another one from the next entry on (spec/decisions/0040-access-changes-are-authenticated.md). */
export const masterKeyChanged = defineChange('master-key.changed', 37, {
  check: field(digest, 'check of the new key', 'as the genesis has of the first one'),
  /** Never the key itself. */
  sealedPrevious: field(bytes, 'sealed key', 'the one before, see "The master key"'),
  after: field(digest, 'code before', 'of the last entry that changed access; zeros when there is none'),
})

/** The last change of every entry that changes access. */
export const accessAuthenticated = defineChange('access.authenticated', 35, {
  mac: field(digest, 'authentication code', 'see "Access"'),
})
