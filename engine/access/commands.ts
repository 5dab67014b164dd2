import type { Microseconds } from '../brands.ts'
import type { ManagementRole, PolicyStatement } from '../events/values.ts'

interface NewCredential {
  account: string
  credential: string
  accessKey: string
  sealedSecret: Uint8Array
}

/** Commands on access. The caller makes the ids; an id already in use is refused. */
export interface AccessCommands {
  /** A service account with its first credential, which does not expire. */
  'create-account': NewCredential & { title: string; description: string }
  'set-account-status': { account: string; enabled: boolean }
  'delete-account': { account: string }
  /** `expiresMicroseconds` is undefined for a credential that does not expire. */
  'issue-credential': NewCredential & { expiresMicroseconds: Microseconds | undefined }
  'set-credential-status': { account: string; credential: string; enabled: boolean }
  /** The statements are valid by `actionFault` and `resourceFault`. */
  'create-policy': { policy: string; title: string; statements: readonly PolicyStatement[] }
  /** The same; every account that the policy is attached to has the new statements. */
  'replace-policy': { policy: string; title: string; statements: readonly PolicyStatement[] }
  /** Refused while it is attached. */
  'delete-policy': { policy: string }
  'attach-policy': { policy: string; account: string }
  'detach-policy': { policy: string; account: string }
  /** The document can be translated with these accounts, in the order in which it names them; undefined removes it. */
  'set-bucket-policy': { bucket: string; document: string | undefined; accounts: readonly string[] }
  'issue-token': {
    token: string
    title: string
    role: ManagementRole
    digest: Uint8Array
    expiresMicroseconds: Microseconds | undefined
  }
  'revoke-token': { token: string }
}
