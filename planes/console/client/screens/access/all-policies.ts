import { call } from '../../api/call.ts'
import { PAGE_ENTRIES, type Policy } from './access-types.ts'

/** Every policy, by name. */
export async function allPolicies(signal: AbortSignal): Promise<readonly Policy[]> {
  const policies: Policy[] = []
  let after: string | undefined
  do {
    const page = await call('GET /policies', { query: { limit: PAGE_ENTRIES, after } }, signal)
    policies.push(...page.policies)
    after = page.next_after ?? undefined
  } while (after !== undefined)
  return policies
}
