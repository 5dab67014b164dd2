import { ADMINISTRATOR, SYSTEM_AND_AUDITOR } from '../../api/access-roles.ts'
import { may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { Tabs } from '../../parts/tabs.tsx'

const TABS = [
  { segments: ['access'], text: 'Accounts', roles: SYSTEM_AND_AUDITOR },
  { segments: ['access', 'policies'], text: 'Policies', roles: SYSTEM_AND_AUDITOR },
  { segments: ['access', 'tokens'], text: 'Tokens', roles: ADMINISTRATOR },
] as const

/** The lists of Access that the role may see. */
export function AccessTabs({ current }: { readonly current: (typeof TABS)[number]['text'] }) {
  const tabs = TABS.filter(({ roles }) => may(roles)).map(({ segments, text }) => {
    return { href: hrefOf(segments), text, current: text === current }
  })
  return <Tabs label="Access" tabs={tabs} />
}
