/** Service accounts that are made over the management plane, and clients that sign as they do. */
import { randomUUID } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import type { PolicyStatement } from '../../engine/events/values.ts'
import type { ApiClient } from './api-client.ts'
import type { AccountRecord, CreatedAccount, IssuedCredential, PolicyRecord } from './management-records.ts'
import type { RawRequest } from './wire-client.ts'

export interface Identity {
  readonly account: AccountRecord
  readonly credential: IssuedCredential
  /** Ids of the attached policies. */
  readonly policies: readonly string[]
  readonly s3: S3Client
  /** For requests of the wire client. */
  readonly signing: { readonly sign: Exclude<RawRequest['sign'], false | undefined> }
}

export function allow(actions: readonly string[], ...resources: string[]): PolicyStatement {
  return { effect: 'allow', actions, resources }
}

export function deny(actions: readonly string[], ...resources: string[]): PolicyStatement {
  return { effect: 'deny', actions, resources }
}

export function s3ClientOf(
  endpoint: string,
  { access_key: accessKeyId, secret_key: secretAccessKey }: IssuedCredential,
) {
  const credentials = { accessKeyId, secretAccessKey }
  return new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', maxAttempts: 1, credentials })
}

export function signingOf(credential: IssuedCredential): Identity['signing'] {
  return { sign: { accessKey: credential.access_key, secretKey: credential.secret_key } }
}

/** Makes a policy and attaches it; gives its id. */
export async function attach(api: ApiClient, account: string, statements: readonly PolicyStatement[]): Promise<string> {
  const { id } = await api.get<PolicyRecord>('POST', '/policies', { name: 'policy', statements })
  await api.get('PUT', `/policies/${id}/bindings/${account}`)
  return id
}

/** An account with one policy for each list of statements. `endpoint`: that of the S3 plane. */
export async function newIdentity(
  { api, endpoint }: { readonly api: ApiClient; readonly endpoint: string },
  ...lists: readonly (readonly PolicyStatement[])[]
): Promise<Identity> {
  const name = `identity ${randomUUID()}`
  const { account, credential } = await api.get<CreatedAccount>('POST', '/service-accounts', { name })
  const policies: string[] = []
  for (const statements of lists) policies.push(await attach(api, account.id, statements))
  return { account, credential, policies, s3: s3ClientOf(endpoint, credential), signing: signingOf(credential) }
}
