import type { TokenState } from '../../../engine/access-state.ts'
import { MANAGEMENT_ROLES } from '../../../engine/events/access-changes.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { tokenDigest } from '../bearer-token.ts'
import { invalid } from '../errors.ts'
import { execute } from '../execute.ts'
import { optionalExpiry } from '../expiry.ts'
import { newId, newManagementToken } from '../identifiers.ts'
import { readJson, requiredMember, requiredText } from '../json-body.ts'
import { type ManagementRequest, pathParameter } from '../management-request.ts'
import { jsonResponse, noContent } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { NAME } from '../titles.ts'
import { rfc3339, rfc3339OrNull } from '../timestamps.ts'

function tokenRecord(token: Omit<TokenState, 'digest'>): Record<string, unknown> {
  return {
    id: token.token,
    name: token.title,
    role: token.role,
    created_at: rfc3339(token.createdMicroseconds),
    expires_at: rfc3339OrNull(token.expiresMicroseconds),
  }
}

export function listTokens(_request: ManagementRequest, { access }: ManagementServices): HttpResponse {
  return jsonResponse(200, { management_tokens: access.tokens().map(tokenRecord) })
}

/** Issues a token for a role. It is shown here and never again: only its digest is kept. */
export async function issueToken(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['name', 'role', 'expires_in_seconds'])
  const title = requiredText(members, 'name', NAME)
  const sent = requiredMember(members, 'role')
  const role = MANAGEMENT_ROLES.find((known) => known === sent)
  if (role === undefined) throw invalid('role', `must be one of ${MANAGEMENT_ROLES.join(', ')}`)
  const expiresMicroseconds = optionalExpiry(members, services.clock())
  const id = newId('tok')
  const token = newManagementToken()
  const issued = { token: id, title, role, expiresMicroseconds }
  const { timeMicroseconds } = await execute(
    request,
    services,
    { kind: 'issue-token', ...issued, digest: tokenDigest(token) },
    ['id', id, 'role', role],
  )
  return jsonResponse(201, { ...tokenRecord({ ...issued, createdMicroseconds: timeMicroseconds }), token })
}

/** The token does not open anything from the next request on. */
export async function revokeToken(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  await execute(request, services, { kind: 'revoke-token', token: pathParameter(request, 'id') })
  return noContent()
}
