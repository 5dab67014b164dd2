import type { PolicyState } from '../../../engine/access/state.ts'
import { ADMINISTRATOR, defineRoute, json, NOTHING, type Route, SYSTEM_AND_AUDITOR } from '../routing/define-route.ts'
import { ManagementError } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { SENT_POLICY, sentStatements } from './policy-document.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { listOf, object } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339 } from '../requests/timestamps.ts'

function policyRecord({ policy, title, createdMicroseconds, statements }: PolicyState, accounts: string[]) {
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

const listPolicies = defineRoute({
  pattern: 'GET /policies',
  roles: SYSTEM_AND_AUDITOR,
  summary: 'A page of the policies, by name.',
  query: NAMED_QUERY,
  answer: { 200: json(object({ policies: listOf(component('Policy')), ...NEXT_AFTER })) },
  handle(request, services) {
    const accountsOf = bindings(services)
    const { records, next } = namedPage(request, {
      entries: services.access.policies(),
      placeOf: ({ title, policy }) => [title, policy],
      recordOf: (policy) => policyRecord(policy, accountsOf.get(policy.policy) ?? []),
    })
    return jsonResponse(200, { policies: records, next_after: next })
  },
  command: command('policy list', 'list the policies', {
    options: NAMED_OPTIONS,
    show: { page: 'policies', columns: ['id', 'name', 'created_at', 'statements'] },
  }),
})

const createPolicy = defineRoute({
  pattern: 'POST /policies',
  roles: ADMINISTRATOR,
  summary: 'Creates a policy.',
  request: SENT_POLICY,
  answer: { 201: json(component('Policy')) },
  async handle(request, services) {
    const sent = await request.body()
    const title = sent.name
    const statements = sentStatements(sent, services.actions)
    const policy = newId('pol')
    const change = { kind: 'create-policy', policy, title, statements } as const
    const { timeMicroseconds } = await request.journal.execute(change, ['policy_id', policy])
    return jsonResponse(201, policyRecord({ policy, title, statements, createdMicroseconds: timeMicroseconds }, []))
  },
})

const getPolicy = defineRoute({
  pattern: 'GET /policies/{policy_id}',
  roles: SYSTEM_AND_AUDITOR,
  summary: 'One policy with the accounts it is attached to.',
  answer: { 200: json(component('Policy')) },
  errors: ['POLICY_NOT_FOUND'],
  handle(request, services) {
    const accountsOf = bindings(services)
    const policy = services.access.policy(request.parameters.policy_id)
    if (policy === undefined) throw new ManagementError('POLICY_NOT_FOUND')
    return jsonResponse(200, policyRecord(policy, accountsOf.get(policy.policy) ?? []))
  },
  command: command('policy show', 'show a policy and the accounts it is attached to', {
    arguments: { policy: 'text' },
  }),
})

const putPolicy = defineRoute({
  pattern: 'PUT /policies/{policy_id}',
  roles: ADMINISTRATOR,
  summary: 'Replaces the name and the statements of a policy.',
  request: SENT_POLICY,
  answer: { 200: json(component('Policy')) },
  errors: ['POLICY_NOT_FOUND'],
  /** Applies to every account that has it, from the next signed request. */
  async handle(request, services) {
    const sent = await request.body()
    const title = sent.name
    const statements = sentStatements(sent, services.actions)
    // Read before the change: another request may delete the policy before this one is answered.
    const accountsOf = bindings(services)
    const present = services.access.policy(request.parameters.policy_id)
    if (present === undefined) throw new ManagementError('POLICY_NOT_FOUND')
    const { policy } = present
    await request.journal.execute({ kind: 'replace-policy', policy, title, statements })
    return jsonResponse(200, policyRecord({ ...present, title, statements }, accountsOf.get(policy) ?? []))
  },
})

const deletePolicy = defineRoute({
  pattern: 'DELETE /policies/{policy_id}',
  roles: ADMINISTRATOR,
  summary: 'Deletes a policy that is attached to no service account.',
  answer: { 204: NOTHING },
  errors: ['POLICY_NOT_FOUND', 'CONFLICT'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-policy', policy: request.parameters.policy_id })
    return noContent()
  },
  command: command('policy delete', 'delete a policy that is attached to no service account', {
    arguments: { policy: 'text' },
    show: { done: 'deleted' },
  }),
})

const attachPolicy = defineRoute({
  pattern: 'PUT /policies/{policy_id}/bindings/{account_id}',
  roles: ADMINISTRATOR,
  summary: 'Attaches a policy to a service account.',
  answer: { 204: NOTHING },
  errors: ['POLICY_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'TOO_MANY_POLICIES'],
  async handle(request) {
    const { policy_id: policy, account_id: account } = request.parameters
    await request.journal.execute({ kind: 'attach-policy', policy, account })
    return noContent()
  },
  command: command('policy attach', 'attach a policy to a service account', {
    arguments: { policy: 'text', account: 'text' },
    show: { done: 'attached' },
  }),
})

const detachPolicy = defineRoute({
  pattern: 'DELETE /policies/{policy_id}/bindings/{account_id}',
  roles: ADMINISTRATOR,
  summary: 'Detaches a policy from a service account.',
  answer: { 204: NOTHING },
  errors: ['POLICY_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'POLICY_NOT_ATTACHED'],
  async handle(request) {
    const { policy_id: policy, account_id: account } = request.parameters
    await request.journal.execute({ kind: 'detach-policy', policy, account })
    return noContent()
  },
  command: command('policy detach', 'detach a policy from a service account', {
    arguments: { policy: 'text', account: 'text' },
    show: { done: 'detached' },
  }),
})

export const POLICY_ROUTES: readonly Route[] = [
  listPolicies,
  createPolicy,
  getPolicy,
  putPolicy,
  deletePolicy,
  attachPolicy,
  detachPolicy,
]
