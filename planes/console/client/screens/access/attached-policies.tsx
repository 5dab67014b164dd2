import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { Choice } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty, Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { say, sayFailure } from '../../parts/status.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { type AccountPart, PAGE_ENTRIES, type Policy } from './access-types.ts'
import { PolicyTest } from './policy-test.tsx'

/** The policies of an account, and a test of what they allow together. */
export function AttachedPolicies({ account, changed }: AccountPart) {
  const [attaching, setAttaching] = useState(false)
  const policies = useLoaded(allPolicies, [account.policies])
  return (
    <Loading of={policies}>
      {(known) => {
        const attached = known.filter(({ id }) => account.policies.includes(id))
        return (
          <>
            <section class="section">
              <h2>Policies</h2>
              {attached.length === 0 ? (
                <Empty title="The account may do nothing">
                  <p>Without a policy every request of an account is refused.</p>
                </Empty>
              ) : (
                <ul class="cards">
                  {attached.map((policy) => (
                    <AttachedPolicy account={account.id} policy={policy} changed={changed} key={policy.id} />
                  ))}
                </ul>
              )}
              {may(ADMINISTRATOR) ? (
                <button type="button" onClick={() => setAttaching(true)}>
                  Attach a policy
                </button>
              ) : null}
              {attaching ? (
                <AttachDialog
                  account={account.id}
                  policies={known.filter(({ id }) => !account.policies.includes(id))}
                  changed={changed}
                  onClose={() => setAttaching(false)}
                />
              ) : null}
            </section>
            <section class="section wide">
              <h2>What it may do</h2>
              <PolicyTest
                statements={attached.flatMap(({ statements }) => statements)}
                names={attached.flatMap(({ name, statements }) =>
                  statements.map((_, index) => `${name}, statement ${index + 1}`),
                )}
              />
            </section>
          </>
        )
      }}
    </Loading>
  )
}

interface AttachedPolicyProps {
  readonly account: string
  readonly policy: Policy
  readonly changed: () => void
}

function AttachedPolicy({ account, policy: { id, name }, changed }: AttachedPolicyProps) {
  const detach = async () => {
    try {
      await call('DELETE /policies/{policy_id}/bindings/{account_id}', { path: { policy_id: id, account_id: account } })
      say('The policy is detached.')
      changed()
    } catch (error) {
      sayFailure(error)
    }
  }
  return (
    <li>
      <a href={hrefOf(['access', 'policies', id])}>
        <Name of={name} />
      </a>
      {may(ADMINISTRATOR) ? (
        <p class="actions">
          <button type="button" aria-label={`Detach the policy ${name}`} onClick={() => void detach()}>
            Detach
          </button>
        </p>
      ) : null}
    </li>
  )
}

interface AttachDialogProps {
  readonly account: string
  /** Policies that are not attached yet. */
  readonly policies: readonly Policy[]
  readonly changed: () => void
  readonly onClose: () => void
}

function AttachDialog({ account, policies, changed, onClose }: AttachDialogProps) {
  const [policy, setPolicy] = useState(policies[0]?.id ?? '')
  const attach = async () => {
    await call('PUT /policies/{policy_id}/bindings/{account_id}', { path: { policy_id: policy, account_id: account } })
    say('The policy is attached. It holds from the next request on.')
    onClose()
    changed()
  }
  return (
    <FormDialog title="Attach a policy" verb="Attach" ready={policy !== ''} onClose={onClose} onSubmit={attach}>
      {policies.length === 0 ? (
        <p>
          There is no other policy. <a href={hrefOf(['access', 'policies', 'new'])}>Create one.</a>
        </p>
      ) : (
        <Choice
          label="Policy"
          value={policy}
          onChange={setPolicy}
          options={policies.map(({ id, name }) => [id, name] as const)}
        />
      )}
    </FormDialog>
  )
}

/** Every policy, by name. */
async function allPolicies(signal: AbortSignal): Promise<readonly Policy[]> {
  const policies: Policy[] = []
  let after: string | undefined
  do {
    const page = await call('GET /policies', { query: { limit: PAGE_ENTRIES, after } }, signal)
    policies.push(...page.policies)
    after = page.next_after ?? undefined
  } while (after !== undefined)
  return policies
}
