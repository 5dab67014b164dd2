import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { requiredExpiry } from '../expiry.ts'
import { readJson, requiredBoolean } from '../json-body.ts'
import { type ManagementRequest, pathParameter } from '../management-request.ts'
import { newCredential } from '../new-credential.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { credentialRecord, requireAccount, requireCredential } from './account-records.ts'

/** Rotation: the new credential stands beside the old ones, which work until they are disabled. */
export async function issueCredential(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const { account } = requireAccount(pathParameter(request, 'id'), services)
  await readJson(request, [])
  return issue(request, services, account, undefined)
}

/** A credential that stops working by itself. */
export async function issueTemporaryCredential(
  request: ManagementRequest,
  services: ManagementServices,
): Promise<HttpResponse> {
  const { account } = requireAccount(pathParameter(request, 'id'), services)
  const members = await readJson(request, ['expires_in_seconds'])
  return issue(request, services, account, requiredExpiry(members, services.clock()))
}

async function issue(
  request: ManagementRequest,
  services: ManagementServices,
  account: string,
  expiresMicroseconds: number | undefined,
): Promise<HttpResponse> {
  const { secretKey, ...stored } = newCredential(services.secrets)
  const change = { kind: 'issue-credential', account, ...stored, expiresMicroseconds } as const
  const done = await execute(request, services, change, ['credential_id', stored.credential])
  const times = { createdMicroseconds: done.timeMicroseconds, expiresMicroseconds }
  return jsonResponse(201, { ...credentialRecord({ ...stored, enabled: true, ...times }), secret_key: secretKey })
}

/** Enables or disables a credential; holds for the next request that is signed with it. */
export async function putCredentialStatus(
  request: ManagementRequest,
  services: ManagementServices,
): Promise<HttpResponse> {
  const account = pathParameter(request, 'id')
  const credential = pathParameter(request, 'credential_id')
  requireCredential(account, credential, services)
  const enabled = requiredBoolean(await readJson(request, ['enabled']), 'enabled')
  const change = { kind: 'set-credential-status', account, credential, enabled } as const
  await execute(request, services, change, ['enabled', String(enabled)])
  return jsonResponse(200, credentialRecord(requireCredential(account, credential, services)))
}
