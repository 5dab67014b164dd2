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
import { say } from '../../parts/status.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { counted } from '../../text/format.ts'
import type { Policy } from './access-types.ts'
import { PolicyEditor } from './policy-editor.tsx'
import { PolicyTest } from './policy-test.tsx'
import { StatementText } from './statement-text.tsx'

/** One policy: its statements in words, and an editor for roles that may change it. */
export function PolicyScreen({ values: { policy: id = '' } }: ScreenProps) {
  const loaded = useLoaded<Policy>(
    (signal) => call('GET /policies/{policy_id}', { path: { policy_id: id } }, signal),
    [id],
  )
  return (
    <div class="screen">
      <Back />
      {loaded.value === undefined ? <h1>Policy</h1> : null}
      <Loading of={loaded}>
        {(policy) =>
          may(ADMINISTRATOR) ? <Editable policy={policy} changed={loaded.reload} /> : <Readable policy={policy} />
        }
      </Loading>
    </div>
  )
}

/** The screen for a new policy. */
export function NewPolicyScreen() {
  return (
    <div class="screen">
      <Back />
      <h1>Create a policy</h1>
      <PolicyEditor
        verb="Create"
        save={async (body) => {
          const { id } = await call('POST /policies', { body })
          say('The policy is created. Attach it to the accounts that it is for.')
          go(hrefOf(['access', 'policies', id]), true)
        }}
      />
    </div>
  )
}

function Back() {
  return (
    <p>
      <a href={hrefOf(['access', 'policies'])}>All policies</a>
    </p>
  )
}

interface EditableProps {
  readonly policy: Policy
  readonly changed: () => void
}

function Editable({ policy, changed }: EditableProps) {
  const [deleting, setDeleting] = useState(false)
  const { id, name, accounts } = policy
  return (
    <>
      <header class="screen-head">
        <h1>
          <Name of={name} />
        </h1>
        <button type="button" class="danger" onClick={() => setDeleting(true)}>
          Delete
        </button>
      </header>
      <p class="faint">{attachedText(accounts)}</p>
      <PolicyEditor
        policy={policy}
        verb="Save"
        save={async (body) => {
          await call('PUT /policies/{policy_id}', { path: { policy_id: id }, body })
          say('The policy is saved. It holds from the next request on.')
          changed()
        }}
      />
      {deleting ? <DeletePolicy policy={policy} onClose={() => setDeleting(false)} /> : null}
    </>
  )
}

function attachedText(accounts: readonly string[]): string {
  return accounts.length === 0 ? 'Attached to nobody.' : `Attached to ${counted(accounts.length, 'service account')}.`
}

function DeletePolicy({ policy: { id, name }, onClose }: { readonly policy: Policy; readonly onClose: () => void }) {
  const remove = async () => {
    await call('DELETE /policies/{policy_id}', { path: { policy_id: id } })
    say('The policy is deleted.')
    go(hrefOf(['access', 'policies']), true)
  }
  return (
    <ConfirmByName title="Delete the policy" verb="Delete" name={name} onClose={onClose} onConfirm={remove}>
      <p>Only a policy that is attached to nobody can be deleted.</p>
    </ConfirmByName>
  )
}

function Readable({ policy: { name, accounts, statements } }: { readonly policy: Policy }) {
  return (
    <>
      <h1>
        <Name of={name} />
      </h1>
      <p class="faint">{attachedText(accounts)}</p>
      <ul class="cards">
        {statements.map((statement, index) => (
          <li key={index}>
            <StatementText statement={statement} />
          </li>
        ))}
      </ul>
      <section class="section wide">
        <h2>Test</h2>
        <PolicyTest statements={statements} names={statements.map((_, index) => `Statement ${index + 1}`)} />
      </section>
    </>
  )
}
