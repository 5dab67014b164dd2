import type { HttpResponse } from '../../http/exchange.ts'
import { execute } from '../execute.ts'
import { newId } from '../identifiers.ts'
import { optionalText, readJson, requiredBoolean, requiredText } from '../json-body.ts'
import { type ManagementRequest, pathParameter } from '../management-request.ts'
import { newCredential } from '../new-credential.ts'
import { jsonResponse, noContent } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { DESCRIPTION, NAME } from '../titles.ts'
import { accountRecord, credentialRecord, requireAccount, storedAccountRecord } from './account-records.ts'

export function listAccounts(_request: ManagementRequest, services: ManagementServices): HttpResponse {
  const accounts = services.access.accounts().map((account) => storedAccountRecord(account, services))
  return jsonResponse(200, { service_accounts: accounts })
}

export function getAccount(request: ManagementRequest, services: ManagementServices): HttpResponse {
  return jsonResponse(200, storedAccountRecord(requireAccount(pathParameter(request, 'id'), services), services))
}

/** Makes an account with its first credential, whose secret key is shown here and never again. */
export async function createAccount(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['name', 'description'])
  const title = requiredText(members, 'name', NAME)
  const description = optionalText(members, 'description', DESCRIPTION) ?? ''
  const account = newId('sa')
  const { secretKey, ...stored } = newCredential(services.secrets)
  const done = await execute(request, services, { kind: 'create-account', account, title, description, ...stored }, [
    'id',
    account,
    'credential_id',
    stored.credential,
  ])
  const shown = { enabled: true, createdMicroseconds: done.timeMicroseconds, expiresMicroseconds: undefined }
  const credential = { ...stored, ...shown }
  return jsonResponse(201, {
    account: accountRecord({ account, title, description, policies: [], ...shown }, [credential]),
    credential: { ...credentialRecord(credential), secret_key: secretKey },
  })
}

export async function deleteAccount(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  await execute(request, services, { kind: 'delete-account', account: pathParameter(request, 'id') })
  return noContent()
}

/** Enables or disables an account with all its credentials; holds for the next request that is signed by one. */
export async function putAccountStatus(
  request: ManagementRequest,
  services: ManagementServices,
): Promise<HttpResponse> {
  const { account } = requireAccount(pathParameter(request, 'id'), services)
  const enabled = requiredBoolean(await readJson(request, ['enabled']), 'enabled')
  await execute(request, services, { kind: 'set-account-status', account, enabled }, ['enabled', String(enabled)])
  return jsonResponse(200, storedAccountRecord(requireAccount(account, services), services))
}
