import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { say, sayFailure } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import type { Account, AccountPart } from './access-types.ts'
import { AttachedPolicies } from './attached-policies.tsx'
import { CredentialsSection } from './credentials.tsx'

/** One service account: its credentials, and what they may do. */
export function AccountScreen({ values: { account: id = '' } }: ScreenProps) {
  const loaded = useLoaded<Account>((signal) => call('GET /service-accounts/{id}', { path: { id } }, signal), [id])
  return (
    <div class="screen">
      <p>
        <a href={hrefOf(['access'])}>All service accounts</a>
      </p>
      {loaded.value === undefined ? <h1>Service account</h1> : null}
      <Loading of={loaded}>
        {(account) => (
          <>
            <h1>
              <Name of={account.name} />
            </h1>
            <div class="sections">
              <AccountSection account={account} changed={loaded.reload} />
              <CredentialsSection account={account} changed={loaded.reload} />
              <AttachedPolicies account={account} changed={loaded.reload} />
            </div>
          </>
        )}
      </Loading>
    </div>
  )
}

function AccountSection({ account, changed }: AccountPart) {
  const [deleting, setDeleting] = useState(false)
  const { id, name, description, enabled, created_at } = account
  const toggle = async () => {
    try {
      await call('PUT /service-accounts/{id}/status', { path: { id }, body: { enabled: !enabled } })
      say(enabled ? 'The account is disabled: all of its requests are refused.' : 'The account is enabled.')
      changed()
    } catch (error) {
      sayFailure(error)
    }
  }
  return (
    <section class="section">
      <h2>Account</h2>
      <dl class="facts">
        <dt>Status</dt>
        <dd>
          <span class={enabled ? 'badge good' : 'badge bad'}>{enabled ? 'enabled' : 'disabled'}</span>
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
        <dt>Description</dt>
        <dd>{description === '' ? <span class="faint">none</span> : <Name of={description} />}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={created_at} />
        </dd>
        <dt>Requests</dt>
        <dd>
          <a href={hrefOf(['audit'], { principal: `service_account:${id}` })}>In the audit log</a>
        </dd>
      </dl>
      {may(ADMINISTRATOR) ? (
        <p class="actions">
          <button type="button" onClick={() => void toggle()}>
            {enabled ? 'Disable' : 'Enable'}
          </button>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </p>
      ) : null}
      {deleting ? <DeleteAccount id={id} name={name} onClose={() => setDeleting(false)} /> : null}
    </section>
  )
}

interface DeleteAccountProps {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}

function DeleteAccount({ id, name, onClose }: DeleteAccountProps) {
  const remove = async () => {
    await call('DELETE /service-accounts/{id}', { path: { id } })
    say('The account is deleted.')
    go(hrefOf(['access']), true)
  }
  return (
    <ConfirmByName title="Delete the account" verb="Delete" name={name} onClose={onClose} onConfirm={remove}>
      <p>All of its credentials stop working at once, and cannot be brought back. What it wrote stays.</p>
    </ConfirmByName>
  )
}
