import type { Microseconds, Milliseconds } from '../../../engine/brands.ts'
import type { TokenState } from '../../../engine/access/state.ts'
import { ADMINISTRATOR, defineRoute, json, NOTHING, type Route } from '../routing/define-route.ts'
import { newId, newManagementToken } from '../requests/identifiers.ts'
import { tokenDigest } from './bearer-token.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { EXPIRES_AT, LIFETIME, LIFETIMES, SENT_TIME, sentExpiry, TITLE } from '../schemas/common.ts'
import { component } from '../schemas/components.ts'
import { listOf, object } from '../schemas/schema.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

/** @param lastUse undefined for a token that was never used, such as a new one */
function tokenRecord(token: Omit<TokenState, 'digest'>, now: Milliseconds, lastUse?: Microseconds) {
  const { expiresMicroseconds: expires } = token
  return {
    id: token.token,
    name: token.title,
    role: token.role,
    status: expires !== undefined && expires <= now * 1000 ? 'expired' : 'active',
    created_at: rfc3339(token.createdMicroseconds),
    expires_at: rfc3339OrNull(token.expiresMicroseconds),
    last_used_at: rfc3339OrNull(lastUse),
  }
}

const listTokens = defineRoute({
  pattern: 'GET /management-tokens',
  roles: ADMINISTRATOR,
  summary: 'A page of the issued management tokens, by name and without the secrets.',
  query: NAMED_QUERY,
  answer: { 200: json(object({ management_tokens: listOf(component('ManagementToken')), ...NEXT_AFTER })) },
  handle(request, { access, expiryClock }) {
    const now = expiryClock()
    const { records, next } = namedPage(request, {
      entries: access.tokens(),
      placeOf: ({ title, token }) => [title, token],
      recordOf: (token) => tokenRecord(token, now, access.lastUse(token.token)),
    })
    return jsonResponse(200, { management_tokens: records, next_after: next })
  },
  command: command('token list', 'list the issued management tokens', {
    options: NAMED_OPTIONS,
    show: {
      page: 'management_tokens',
      columns: ['id', 'name', 'role', 'status', 'created_at', 'expires_at', 'last_used_at'],
    },
  }),
})

const issueToken = defineRoute({
  pattern: 'POST /management-tokens',
  roles: ADMINISTRATOR,
  summary: 'Issues a management token for a role; it is shown once.',
  request: object({ name: TITLE, role: component('Role') }, { expires_in_seconds: LIFETIME, expires_at: SENT_TIME }),
  answer: { 201: json(component('IssuedManagementToken')) },
  /** Only the digest of the token is stored. */
  async handle(request, services) {
    const sent = await request.body()
    const { name, role } = sent
    const expiresMicroseconds = sentExpiry(sent, services.expiryClock(), LIFETIMES) ?? undefined
    const id = newId('tok')
    const token = newManagementToken()
    const issued = { token: id, title: name, role, expiresMicroseconds }
    const change = { kind: 'issue-token', ...issued, digest: tokenDigest(token) } as const
    const { timeMicroseconds } = await request.journal.execute(change, ['id', id])
    const record = tokenRecord({ ...issued, createdMicroseconds: timeMicroseconds }, services.expiryClock())
    return jsonResponse(201, { ...record, token })
  },
  command: command('token issue', 'issue a management token; it is shown once', {
    arguments: { name: 'text', role: 'text' },
    options: {
      'expires-in': { seconds: 'seconds until it expires, or a duration such as 12h or 30d' },
      'expires-at': { time: EXPIRES_AT },
    },
    call: ({ name, role, 'expires-in': seconds, 'expires-at': at }) => ({
      body: { name, role, expires_in_seconds: seconds, expires_at: at },
    }),
  }),
})

const revokeToken = defineRoute({
  pattern: 'DELETE /management-tokens/{id}',
  roles: ADMINISTRATOR,
  summary: 'Revokes a management token.',
  answer: { 204: NOTHING },
  errors: ['TOKEN_NOT_FOUND'],
  /** Applies from the next request. */
  async handle(request) {
    await request.journal.execute({ kind: 'revoke-token', token: request.parameters.id })
    return noContent()
  },
  command: command('token revoke', 'revoke a management token', {
    arguments: { 'token-id': 'text' },
    show: { done: 'revoked' },
  }),
})

export const TOKEN_ROUTES: readonly Route[] = [listTokens, issueToken, revokeToken]
