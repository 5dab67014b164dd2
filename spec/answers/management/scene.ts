/** What blocks of the management plane have made before they ask: one thing of each kind, and a caller of each role. */
import { SCRAPE_TOKEN, SYSTEM_TOKEN } from '../server.ts'
import type { Caller } from '../asking.ts'
import { ADMINISTRATOR, type Talk } from '../talk.ts'

export interface Scene {
  readonly values: Readonly<Record<string, string>>
  readonly callers: readonly Caller[]
}

export const bearer = (name: string, token: string): Caller => ({ name, authorization: `Bearer ${token}` })
export const basic = (name: string, pair: string): Caller => ({
  name,
  authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
})

export const SYSTEM = bearer('system token', SYSTEM_TOKEN)

export async function tokenOf(talk: Talk, role: string): Promise<Caller> {
  const made = await talk.api('POST', '/management-tokens', { body: JSON.stringify({ name: `a ${role}`, role }) })
  return bearer(`a ${role}`, made.member('token'))
}

export const STATEMENTS: readonly object[] = [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:x/*'] }]

export async function makeScene(talk: Talk): Promise<Scene> {
  const { bucket } = talk
  await talk.api('POST', '/buckets', { body: JSON.stringify({ name: bucket }) })
  await talk.api('PUT', `/buckets/${bucket}/object/key`, { body: 'bytes', headers: ['content-type: text/plain'] })
  const account = await talk.api('POST', '/service-accounts', {
    body: JSON.stringify({ name: `account of ${bucket}`, description: 'words' }),
  })
  const policy = await talk.api('POST', '/policies', {
    body: JSON.stringify({ name: 'a policy', statements: STATEMENTS }),
  })
  const token = await talk.api('POST', '/management-tokens', { body: '{"name":"a token","role":"auditor"}' })
  const values = {
    bucket,
    key: 'key',
    account: account.member('id'),
    credential: account.member('credential_id'),
    policy: policy.member('id'),
    token: token.member('id'),
  }
  const roles = ['system-administrator', 'storage-administrator', 'auditor']
  const callers: Caller[] = [ADMINISTRATOR, SYSTEM]
  for (const role of roles) callers.push(await tokenOf(talk, role))
  return { values, callers }
}

export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** Credentials that open nothing. */
export const STRANGERS: readonly (Caller | null)[] = [
  null,
  { name: 'an empty header', authorization: '' },
  bearer('an unknown token', 'x'.repeat(40)),
  bearer('an empty token', ''),
  bearer('two tokens', `${SYSTEM_TOKEN} ${SYSTEM_TOKEN}`),
  { name: 'the token without its scheme', authorization: SYSTEM_TOKEN },
  { name: 'the token with another scheme', authorization: `Token ${SYSTEM_TOKEN}` },
  bearer('the scrape token', SCRAPE_TOKEN),
  basic('root with another secret', 'answersroot:other'),
  basic('another user', 'other:answers-root-secret-key'),
  basic('no colon', 'answersroot'),
  { name: 'no base64', authorization: 'Basic !!!' },
  { name: 'an AWS signature', authorization: 'AWS4-HMAC-SHA256 Credential=a' },
]

/** Other spellings of credentials that are known. */
export const SPELLINGS: readonly Caller[] = [
  { name: 'bearer in small letters', authorization: `bearer ${SYSTEM_TOKEN}` },
  { name: 'bearer in capitals', authorization: `BEARER ${SYSTEM_TOKEN}` },
  { name: 'bearer with blanks', authorization: `Bearer    ${SYSTEM_TOKEN}  ` },
  { name: 'basic in small letters', authorization: ADMINISTRATOR.authorization.replace('Basic', 'basic') },
]
