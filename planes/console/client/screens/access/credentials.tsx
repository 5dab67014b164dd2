import { useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { ADMINISTRATOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { Choice } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty } from '../../parts/loading.tsx'
import { say, sayFailure } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import type { AccountPart, Credential } from './access-types.ts'
import { IssuedCredential } from './issued-credential.tsx'
import { LIFETIMES, type Lifetime } from './lifetimes.ts'

type Issued = Answer<'POST /service-accounts/{id}/credentials'>

export function CredentialsSection({ account, changed }: AccountPart) {
  const [asking, setAsking] = useState(false)
  const [issued, setIssued] = useState<Issued>()
  const { id, credentials } = account
  const show = (credential: Issued) => {
    setAsking(false)
    setIssued(credential)
    changed()
  }
  return (
    <section class="section">
      <h2>Credentials</h2>
      {credentials.length === 0 ? <Empty title="There are no credentials" /> : null}
      <ul class="cards">
        {credentials.map((credential) => (
          <CredentialCard account={id} credential={credential} changed={changed} key={credential.credential_id} />
        ))}
      </ul>
      {may(ADMINISTRATOR) ? (
        <button type="button" onClick={() => setAsking(true)}>
          Issue a credential
        </button>
      ) : null}
      {asking ? <IssueDialog account={id} show={show} onClose={() => setAsking(false)} /> : null}
      {issued === undefined ? null : <IssuedCredential issued={issued} onClose={() => setIssued(undefined)} />}
    </section>
  )
}

interface CredentialCardProps {
  readonly account: string
  readonly credential: Credential
  readonly changed: () => void
}

function CredentialCard({ account, credential, changed }: CredentialCardProps) {
  const { credential_id, access_key, enabled, status, temporary, created_at, expires_at, last_used_at } = credential
  const toggle = async () => {
    try {
      const path = { id: account, credential_id }
      await call('PUT /service-accounts/{id}/credentials/{credential_id}/status', { path, body: { enabled: !enabled } })
      say(`The credential ${access_key} is ${enabled ? 'disabled' : 'enabled'}.`)
      changed()
    } catch (error) {
      sayFailure(error)
    }
  }
  return (
    <li>
      <p>
        <code>{access_key}</code> <span class={status === 'enabled' ? 'badge good' : 'badge bad'}>{status}</span>{' '}
        {temporary ? <span class="badge">temporary</span> : null}
      </p>
      <p class="faint">
        Created <Time at={created_at} />
        {expires_at === null ? null : (
          <>
            , {status === 'expired' ? 'expired' : 'expires'} <Time at={expires_at} />
          </>
        )}
        , {last_used_at === null ? 'never used' : 'last used '}
        {last_used_at === null ? null : <Time at={last_used_at} />}
      </p>
      {may(ADMINISTRATOR) && status !== 'expired' ? (
        <p class="actions">
          <button
            type="button"
            aria-label={`${enabled ? 'Disable' : 'Enable'} the credential ${access_key}`}
            onClick={() => void toggle()}
          >
            {enabled ? 'Disable' : 'Enable'}
          </button>
        </p>
      ) : null}
    </li>
  )
}

interface IssueDialogProps {
  readonly account: string
  readonly show: (issued: Issued) => void
  readonly onClose: () => void
}

function IssueDialog({ account, show, onClose }: IssueDialogProps) {
  const [lifetime, setLifetime] = useState<Lifetime>('')
  const issue = async () => {
    const path = { id: account }
    show(
      lifetime === ''
        ? await call('POST /service-accounts/{id}/credentials', { path, body: {} })
        : await call('POST /service-accounts/{id}/temporary-credentials', {
            path,
            body: { expires_in_seconds: Number(lifetime) },
          }),
    )
  }
  return (
    <FormDialog title="Issue a credential" verb="Issue" onClose={onClose} onSubmit={issue}>
      <p>The credentials that are there keep working, so that programs can be moved to the new one.</p>
      <Choice label="It is valid" value={lifetime} onChange={setLifetime} options={LIFETIMES} />
    </FormDialog>
  )
}
