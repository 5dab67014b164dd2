import type { PolicyState } from '../../../engine/access-state.ts'
import type { HttpResponse } from '../../http/exchange.ts'
import { ManagementError } from '../errors.ts'
import { execute } from '../execute.ts'
import { newId } from '../identifiers.ts'
import { readJson, requiredMember, requiredText } from '../json-body.ts'
import { type ManagementRequest, pathParameter } from '../management-request.ts'
import { policyStatements } from '../policy-document.ts'
import { jsonResponse, noContent } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { NAME } from '../titles.ts'
import { rfc3339 } from '../timestamps.ts'

function policyRecord({ policy, title, createdMicroseconds, statements }: PolicyState, accounts: string[]): unknown {
  return { id: policy, name: title, created_at: rfc3339(createdMicroseconds), statements, accounts }
}

/** Ids of the accounts that each policy is attached to. */
function bindings({ access }: ManagementServices): Map<string, string[]> {
  const accountsOf = new Map<string, string[]>()
  for (const { account, policies } of access.accounts()) {
    for (const policy of policies) {
      const accounts = accountsOf.get(policy)
      if (accounts === undefined) accountsOf.set(policy, [account])
      else accounts.push(account)
    }
  }
  return accountsOf
}

export function listPolicies(_request: ManagementRequest, services: ManagementServices): HttpResponse {
  const accountsOf = bindings(services)
  const policies = services.access.policies()
  return jsonResponse(200, {
    policies: policies.map((policy) => policyRecord(policy, accountsOf.get(policy.policy) ?? [])),
  })
}

export function getPolicy(request: ManagementRequest, services: ManagementServices): HttpResponse {
  const accountsOf = bindings(services)
  const policy = services.access.policy(pathParameter(request, 'policy_id'))
  if (policy === undefined) throw new ManagementError('POLICY_NOT_FOUND')
  return jsonResponse(200, policyRecord(policy, accountsOf.get(policy.policy) ?? []))
}

/** A policy never changes: another rule is another policy, attached in place of the old one. */
export async function createPolicy(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const members = await readJson(request, ['name', 'statements'])
  const title = requiredText(members, 'name', NAME)
  const statements = policyStatements(requiredMember(members, 'statements'), services.actions)
  const policy = newId('pol')
  const change = { kind: 'create-policy', policy, title, statements } as const
  const { timeMicroseconds } = await execute(request, services, change, ['policy_id', policy])
  return jsonResponse(201, policyRecord({ policy, title, statements, createdMicroseconds: timeMicroseconds }, []))
}

export async function attachPolicy(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  await execute(request, services, { kind: 'attach-policy', ...bindingOf(request) })
  return noContent()
}

export async function detachPolicy(request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  await execute(request, services, { kind: 'detach-policy', ...bindingOf(request) })
  return noContent()
}

function bindingOf(request: ManagementRequest): { readonly policy: string; readonly account: string } {
  return { policy: pathParameter(request, 'policy_id'), account: pathParameter(request, 'account_id') }
}
