import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { Empty } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { counted } from '../../text/format.ts'
import { AccessTabs } from './access-tabs.tsx'
import { type Account, PAGE_ENTRIES } from './access-types.ts'
import { CreateAccount } from './create-account.tsx'

const COLUMNS = [
  { title: 'Name', class: 'wide' },
  { title: 'Credentials', class: 'some' },
  { title: 'Policies', class: 'number' },
  { title: 'Created', class: 'when' },
] as const

/** Every service account. */
export function AccountsScreen() {
  const [creating, setCreating] = useState(false)
  const accounts = usePages<Account, string>(async (after, signal) => {
    const page = await call('GET /service-accounts', { query: { limit: PAGE_ENTRIES, after } }, signal)
    return { items: page.service_accounts, next: page.next_after ?? undefined }
  }, [])
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Access</h1>
        {may(ADMINISTRATOR) ? (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create a service account
          </button>
        ) : null}
      </header>
      <AccessTabs current="Accounts" />
      <PagedList
        label="Service accounts"
        columns={COLUMNS}
        pages={accounts}
        keyOf={({ id }) => id}
        cells={cellsOf}
        empty={
          <Empty title="There are no service accounts yet">
            <p>
              A service account signs requests of a program with its own credentials. Only the root credential works so
              far.
            </p>
          </Empty>
        }
      />
      {creating ? <CreateAccount changed={accounts.reload} onClose={() => setCreating(false)} /> : null}
    </div>
  )
}

function cellsOf({ id, name, enabled, credentials, policies, created_at }: Account) {
  const usable = credentials.filter(({ status }) => status === 'enabled').length
  return [
    <>
      <a href={hrefOf(['access', 'accounts', id])}>
        <Name of={name} />
      </a>
      {enabled ? null : <span class="badge bad">disabled</span>}
    </>,
    usable === credentials.length
      ? counted(usable, 'credential')
      : `${usable} of ${counted(credentials.length, 'credential')}`,
    policies.length === 0 ? <span class="badge warning">none</span> : policies.length,
    <Time at={created_at} />,
  ]
}
