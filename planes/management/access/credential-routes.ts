import type { Microseconds } from '../../../engine/brands.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { ADMINISTRATOR, defineRoute, json, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { newCredential } from './new-credential.ts'
import type { ManagementRequest } from '../requests/management-request.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { EXPIRES_AT, LIFETIME, LIFETIMES, SENT_TIME, sentExpiry } from '../schemas/common.ts'
import { component } from '../schemas/components.ts'
import { FLAG, object } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { credentialRecord, requireAccount, requireCredential } from './account-records.ts'

async function issue(
  request: ManagementRequest,
  services: ManagementServices,
  account: string,
  expiresMicroseconds: Microseconds | undefined,
): Promise<HttpResponse> {
  const { secretKey, ...stored } = newCredential(services.secrets)
  const change = { kind: 'issue-credential', account, ...stored, expiresMicroseconds } as const
  const done = await request.journal.execute(change, ['credential_id', stored.credential])
  const times = { createdMicroseconds: done.timeMicroseconds, expiresMicroseconds }
  const record = credentialRecord({ ...stored, enabled: true, ...times }, services.expiryClock())
  return jsonResponse(201, { ...record, secret_key: secretKey })
}

const issueCredential = defineRoute({
  pattern: 'POST /service-accounts/{id}/credentials',
  roles: ADMINISTRATOR,
  summary: 'Issues a new credential and keeps the old ones.',
  request: object({}),
  answer: { 201: json(component('IssuedCredential')) },
  errors: ['ACCOUNT_NOT_FOUND', 'TOO_MANY_CREDENTIALS'],
  /** For rotation: the old credentials work until they are disabled. */
  async handle(request, services) {
    const { account } = requireAccount(request.parameters.id, services)
    await request.body()
    return issue(request, services, account, undefined)
  },
  command: command('credential rotate', 'issue a new credential and keep the old ones; its secret key is shown once', {
    arguments: { account: 'text' },
  }),
})

const issueTemporaryCredential = defineRoute({
  pattern: 'POST /service-accounts/{id}/temporary-credentials',
  roles: ADMINISTRATOR,
  summary: 'Issues a credential that expires.',
  request: object({}, { expires_in_seconds: LIFETIME, expires_at: SENT_TIME }),
  answer: { 201: json(component('IssuedCredential')) },
  errors: ['ACCOUNT_NOT_FOUND', 'TOO_MANY_CREDENTIALS'],
  async handle(request, services) {
    const { account } = requireAccount(request.parameters.id, services)
    const expires = sentExpiry(await request.body(), services.expiryClock(), LIFETIMES) ?? undefined
    if (expires === undefined) throw invalid('expires_in_seconds', 'is missing: send it or expires_at')
    return issue(request, services, account, expires)
  },
  command: command('credential temporary', 'issue a credential that expires', {
    arguments: { account: 'text' },
    options: {
      'expires-in': {
        seconds: 'seconds until it expires, or a duration such as 15m or 12h; this or the time is required',
      },
      'expires-at': { time: EXPIRES_AT },
    },
    call: ({ 'expires-in': seconds, 'expires-at': at }) => ({ body: { expires_in_seconds: seconds, expires_at: at } }),
  }),
})

const putCredentialStatus = defineRoute({
  pattern: 'PUT /service-accounts/{id}/credentials/{credential_id}/status',
  roles: ADMINISTRATOR,
  summary: 'Enables or disables a credential.',
  request: object({ enabled: FLAG }),
  answer: { 200: json(component('Credential')) },
  errors: ['ACCOUNT_NOT_FOUND', 'CREDENTIAL_NOT_FOUND'],
  /** Applies from the next signed request. */
  async handle(request, services) {
    const { id: account, credential_id: credential } = request.parameters
    requireCredential(account, credential, services)
    const { enabled } = await request.body()
    // Read before the change: another request may delete the account before this one is answered.
    const shown = requireCredential(account, credential, services)
    const change = { kind: 'set-credential-status', account, credential, enabled } as const
    await request.journal.execute(change)
    const lastUse = services.access.lastUse(credential)
    return jsonResponse(200, credentialRecord({ ...shown, enabled }, services.expiryClock(), lastUse))
  },
  command: (['enable', 'disable'] as const).map((verb) =>
    command(`credential ${verb}`, `${verb} a credential`, {
      arguments: { account: 'text', credential: 'text' },
      call: () => ({ body: { enabled: verb === 'enable' } }),
    }),
  ),
})

export const CREDENTIAL_ROUTES: readonly Route[] = [issueCredential, issueTemporaryCredential, putCredentialStatus]
