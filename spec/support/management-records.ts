/** Records as the management plane answers with them, as far as specs look at them. */

export interface CredentialRecord {
  readonly credential_id: string
  readonly access_key: string
  readonly enabled: boolean
  readonly status: string
  readonly temporary: boolean
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

export interface IssuedCredential extends CredentialRecord {
  readonly secret_key: string
}

export interface AccountRecord {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly enabled: boolean
  readonly created_at: string
  readonly credentials: readonly CredentialRecord[]
  readonly policies: readonly string[]
}

export interface CreatedAccount {
  readonly account: AccountRecord
  readonly credential: IssuedCredential
}

export interface PolicyRecord {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly statements: readonly unknown[]
  readonly accounts: readonly string[]
}

export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly created_at: string
  readonly expires_at: string | null
}

export interface IssuedToken extends TokenRecord {
  readonly token: string
}
