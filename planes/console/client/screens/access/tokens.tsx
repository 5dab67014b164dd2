import { useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import type { Role } from '../../api/session.ts'
import { ConfirmByName } from '../../parts/confirm-by-name.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Choice, Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Secret } from '../../parts/copy-button.tsx'
import { say } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { AccessTabs } from './access-tabs.tsx'
import { PAGE_ENTRIES, type Token } from './access-types.ts'
import { LIFETIMES, type Lifetime } from './lifetimes.ts'

const COLUMNS = [
  { title: 'Name', class: 'wide' },
  { title: 'Role', class: 'some' },
  { title: 'Last used', class: 'when' },
  { title: 'Expires', class: 'when' },
  { title: <span class="unseen">Revoke</span>, class: 'number' },
] as const

/** Permissions of each role as a sentence. */
const ROLE_TEXTS: readonly (readonly [role: Role, name: string, may: string])[] = [
  ['system-administrator', 'System administrator', 'does everything: buckets, objects, accounts, policies and tokens.'],
  [
    'storage-administrator',
    'Storage administrator',
    'changes buckets, objects and webhooks; sees no accounts or policies.',
  ],
  ['auditor', 'Auditor', 'reads everything, including the audit log and proofs, and changes nothing.'],
]

/** The management tokens, and the permissions of their roles. */
export function TokensScreen() {
  const [issuing, setIssuing] = useState(false)
  const [revoking, setRevoking] = useState<Token>()
  const tokens = usePages<Token, string>(async (after, signal) => {
    const page = await call('GET /management-tokens', { query: { limit: PAGE_ENTRIES, after } }, signal)
    return { items: page.management_tokens, next: page.next_after ?? undefined }
  }, [])
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Access</h1>
        <button type="button" class="primary" onClick={() => setIssuing(true)}>
          Issue a token
        </button>
      </header>
      <AccessTabs current="Tokens" />
      <ul class="names">
        {ROLE_TEXTS.map(([role, name, can]) => (
          <li key={role}>
            <strong>{name}</strong> {can}
          </li>
        ))}
      </ul>
      <PagedList
        label="Management tokens"
        columns={COLUMNS}
        pages={tokens}
        keyOf={({ id }) => id}
        cells={(token) => [
          <>
            <Name of={token.name} />
            {token.status === 'expired' ? <span class="badge bad">expired</span> : null}
          </>,
          token.role,
          token.last_used_at === null ? <span class="faint">never</span> : <Time at={token.last_used_at} />,
          token.expires_at === null ? <span class="faint">never</span> : <Time at={token.expires_at} />,
          <button
            type="button"
            class="danger"
            aria-label={`Revoke the token ${token.name}`}
            onClick={() => setRevoking(token)}
          >
            Revoke
          </button>,
        ]}
        empty={
          <Empty title="There are no tokens yet">
            <p>
              A token opens this console and the management interface for a person or a program, with one of these
              roles.
            </p>
          </Empty>
        }
      />
      {issuing ? <IssueToken changed={tokens.reload} onClose={() => setIssuing(false)} /> : null}
      {revoking === undefined ? null : (
        <RevokeToken token={revoking} changed={tokens.reload} onClose={() => setRevoking(undefined)} />
      )}
    </div>
  )
}

interface IssueTokenProps {
  readonly changed: () => void
  readonly onClose: () => void
}

function IssueToken({ changed, onClose }: IssueTokenProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('auditor')
  const [lifetime, setLifetime] = useState<Lifetime>('')
  const [issued, setIssued] = useState<Answer<'POST /management-tokens'>>()
  if (issued !== undefined) {
    return (
      <Dialog title="The new token" onClose={onClose}>
        <p>Keep it now: the store has its digest alone and cannot show it again.</p>
        <Secret label="Token" value={issued.token} />
        <footer class="actions">
          <button type="button" class="primary" onClick={onClose}>
            I have kept it
          </button>
        </footer>
      </Dialog>
    )
  }
  const issue = async () => {
    const body = { name, role, ...(lifetime === '' ? {} : { expires_in_seconds: Number(lifetime) }) }
    setIssued(await call('POST /management-tokens', { body }))
    changed()
  }
  return (
    <FormDialog title="Issue a token" verb="Issue" ready={name !== ''} onClose={onClose} onSubmit={issue}>
      <Field label="Name" value={name} onInput={setName} hint="Who or what it is for." autofocus />
      <Choice
        label="Role"
        value={role}
        onChange={setRole}
        options={ROLE_TEXTS.map(([value, text]) => [value, text] as const)}
      />
      <Choice label="It is valid" value={lifetime} onChange={setLifetime} options={LIFETIMES} />
    </FormDialog>
  )
}

interface RevokeTokenProps extends IssueTokenProps {
  readonly token: Token
}

function RevokeToken({ token: { id, name }, changed, onClose }: RevokeTokenProps) {
  const revoke = async () => {
    await call('DELETE /management-tokens/{id}', { path: { id } })
    say('The token is revoked.')
    onClose()
    changed()
  }
  return (
    <ConfirmByName title="Revoke the token" verb="Revoke" name={name} onClose={onClose} onConfirm={revoke}>
      <p>Whoever has it is refused from the next request on.</p>
    </ConfirmByName>
  )
}
