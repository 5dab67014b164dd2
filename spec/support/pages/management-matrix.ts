/** Every route of the management plane and every kind of credential: what must come of each pair, read from the page. */
import { type ApiAnswer, basic, bearer } from '../api-client.ts'
import { tableWith } from './markdown-tables.ts'

/** A credential: what is sent, and whom the server takes the sender for. */
export interface ManagementSender {
  readonly name: string
  readonly authorization: string | undefined
  /** Undefined: nobody. */
  readonly role?: string
  readonly credentialId?: string
  readonly scrapes?: true
}

/** A token with its id. */
export interface KnownToken {
  readonly id: string
  readonly token: string
}

export interface KnownCredentials {
  readonly systemToken: string
  readonly scrapeToken: string
  readonly rootAccessKey: string
  readonly rootSecretKey: string
  /** By role, one that was revoked, and one that has expired where there is one. */
  readonly system: KnownToken
  readonly storage: KnownToken
  readonly auditor: KnownToken
  readonly revoked: KnownToken
  readonly expired?: KnownToken
}

function as(role: string, authorization: string, credentialId: string): Omit<ManagementSender, 'name'> {
  return { role, authorization, credentialId }
}

/** Senders that are somebody come first; no two send the same. */
export function managementSenders(known: KnownCredentials): ManagementSender[] {
  const { systemToken, scrapeToken, rootAccessKey, rootSecretKey, system, storage, auditor, revoked, expired } = known
  return [
    { name: 'the system token', ...as('system-administrator', bearer(systemToken), 'system') },
    { name: 'root', ...as('system-administrator', basic(rootAccessKey, rootSecretKey), 'root') },
    { name: 'a system administrator', ...as('system-administrator', bearer(system.token), system.id) },
    { name: 'a storage administrator', ...as('storage-administrator', bearer(storage.token), storage.id) },
    { name: 'an auditor', ...as('auditor', bearer(auditor.token), auditor.id) },
    { name: 'an auditor in small letters', ...as('auditor', `bearer ${auditor.token}`, auditor.id) },
    { name: 'the scrape token', authorization: bearer(scrapeToken), scrapes: true },
    { name: 'nobody', authorization: undefined },
    { name: 'an empty header', authorization: '' },
    { name: 'a revoked token', authorization: bearer(revoked.token) },
    ...(expired === undefined ? [] : [{ name: 'an expired token', authorization: bearer(expired.token) }]),
    { name: 'a token that never was', authorization: bearer(`osm_${'A'.repeat(43)}`) },
    { name: 'a token cut short', authorization: bearer(system.token.slice(0, -1)) },
    { name: 'a token and more', authorization: `${bearer(system.token)}A` },
    { name: 'two tokens', authorization: `${bearer(system.token)},${bearer(system.token)}` },
    { name: 'a token without its scheme', authorization: system.token },
    { name: 'the id of a token', authorization: bearer(system.id) },
    { name: 'a token as a password', authorization: basic(rootAccessKey, system.token) },
    { name: 'root with another password', authorization: basic(rootAccessKey, `${rootSecretKey}x`) },
    { name: 'root with half a password', authorization: basic(rootAccessKey, rootSecretKey.slice(1)) },
    { name: 'root without a password', authorization: basic(rootAccessKey, '') },
    { name: 'another user with the password of root', authorization: basic('root', rootSecretKey) },
    { name: 'the password of root alone', authorization: basic('', rootSecretKey) },
    { name: 'root without a colon', authorization: `Basic ${Buffer.from(rootAccessKey).toString('base64')}` },
    { name: 'a signature of S3', authorization: `AWS4-HMAC-SHA256 Credential=${rootAccessKey}/x` },
  ]
}

/** A row of the page, with a path that can be asked for. */
export interface ManagementRow {
  readonly method: string
  readonly path: string
  readonly target: string
  readonly roles: readonly string[]
  readonly body: string
}

/**
 * Every route of the page.
 * @param values what stands for the `{name}` parts of paths, or for one of them after a word, such as `webhooks/{id}`; any
 *   other is a name of nothing
 */
export function managementRows(values: Readonly<Record<string, string>>): ManagementRow[] {
  return tableWith('spec/manual/management/routes.md', 'method | path | roles | body | meaning').map(
    ([method = '', code = '', roles = '', body = '']) => {
      const path = code.replaceAll('`', '')
      const target = path
        .replaceAll(/([\w-]+\/)\{\w+\}/g, (part, word: string) => (part in values ? `${word}${values[part]}` : part))
        .replaceAll(/\{\w+\}/g, (name) => values[name] ?? 'nothing-of-this-name')
      return { method, path, target, roles: roles.split(', '), body }
    },
  )
}

/** What an answer must be for a sender: 401, 403, or whatever the handler says. */
export function expectedOf(row: ManagementRow, sender: ManagementSender): 'UNAUTHENTICATED' | 'FORBIDDEN' | 'handled' {
  if (row.roles.includes('none')) return 'handled'
  if (row.roles.includes('scrape-token')) return sender.scrapes ? 'handled' : 'UNAUTHENTICATED'
  if (sender.role === undefined) return 'UNAUTHENTICATED'
  if (!row.roles.includes(sender.role)) return 'FORBIDDEN'
  return 'handled'
}

const STATUS = { UNAUTHENTICATED: 401, FORBIDDEN: 403 } as const

/** Of an answer what is judged. */
export type JudgedAnswer = Pick<ApiAnswer, 'status' | 'code'> & { readonly challenged: boolean }

/** What is wrong with an answer, or nothing: a row has some two dozen senders, and most of them are refused. */
export function matrixFaults(row: ManagementRow, sender: ManagementSender, answer: JudgedAnswer): string[] {
  const { status, code, challenged } = answer
  const outcome = expectedOf(row, sender)
  const got = `${sender.name} got ${status} ${code}`
  if (outcome !== 'handled') {
    const isRight = status === STATUS[outcome] && code === outcome && challenged === (outcome === 'UNAUTHENTICATED')
    return isRight ? [] : [`${got}, challenged: ${challenged}, instead of ${outcome}`]
  }
  if (['UNAUTHENTICATED', 'FORBIDDEN', 'METRICS_CLOSED'].includes(code ?? '')) return [got]
  return status >= 500 ? [got] : []
}
