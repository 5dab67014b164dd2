import { call } from '../../api/call.ts'
import { ADMINISTRATOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import { Empty } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { counted } from '../../text/format.ts'
import { AccessTabs } from './access-tabs.tsx'
import { PAGE_ENTRIES, type Policy } from './access-types.ts'

const COLUMNS = [
  { title: 'Name', class: 'wide' },
  { title: 'Statements', class: 'some' },
  { title: 'Attached to', class: 'some' },
  { title: 'Created', class: 'when' },
] as const

/** Every policy. */
export function PoliciesScreen() {
  const policies = usePages<Policy, string>(async (after, signal) => {
    const page = await call('GET /policies', { query: { limit: PAGE_ENTRIES, after } }, signal)
    return { items: page.policies, next: page.next_after ?? undefined }
  }, [])
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Access</h1>
        {may(ADMINISTRATOR) ? (
          <button type="button" class="primary" onClick={() => go(hrefOf(['access', 'policies', 'new']))}>
            Create a policy
          </button>
        ) : null}
      </header>
      <AccessTabs current="Policies" />
      <PagedList
        label="Policies"
        columns={COLUMNS}
        pages={policies}
        keyOf={({ id }) => id}
        cells={({ id, name, statements, accounts, created_at }) => [
          <a href={hrefOf(['access', 'policies', id])}>
            <Name of={name} />
          </a>,
          counted(statements.length, 'statement'),
          accounts.length === 0 ? <span class="faint">nobody</span> : counted(accounts.length, 'account'),
          <Time at={created_at} />,
        ]}
        empty={
          <Empty title="There are no policies yet">
            <p>
              A policy allows or denies actions on buckets and keys. Service accounts may do what their policies allow.
            </p>
          </Empty>
        }
      />
    </div>
  )
}
