import { hrefOf } from '../../app/address.ts'
import { Tabs } from '../../parts/tabs.tsx'

const TABS = [
  { segments: ['evidence'], text: 'Chain' },
  { segments: ['evidence', 'retention'], text: 'Retention' },
  { segments: ['evidence', 'bundle'], text: 'Proof bundle' },
  { segments: ['evidence', 'verify'], text: 'Verify a file' },
] as const

/** The head of each screen of Evidence. */
export function EvidenceHead({ current }: { readonly current: (typeof TABS)[number]['text'] }) {
  const tabs = TABS.map(({ segments, text }) => ({ href: hrefOf(segments), text, current: text === current }))
  return (
    <>
      <h1>Evidence</h1>
      <Tabs label="Evidence" tabs={tabs} />
    </>
  )
}
