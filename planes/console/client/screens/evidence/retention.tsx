import { useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { Field } from '../../parts/field.tsx'
import { Empty } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { EvidenceHead } from './evidence-tabs.tsx'

type Held = Answer<'GET /reports/retention'>['versions'][number]

const PAGE_ENTRIES = 1000

const COLUMNS = [
  { title: 'Object', class: 'wide' },
  { title: 'Lock', class: 'some' },
  { title: 'Until', class: 'when' },
  { title: 'Status', class: 'number' },
] as const

/** The versions held by Object Lock, and their dates. */
export function RetentionScreen({ query }: ScreenProps) {
  const bucket = query['bucket']
  const [typed, setTyped] = useState(bucket ?? '')
  const versions = usePages<Held, string>(
    async (after, signal) => {
      const page = await call('GET /reports/retention', { query: { bucket, limit: PAGE_ENTRIES, after } }, signal)
      return { items: page.versions, next: page.next_after ?? undefined }
    },
    [bucket],
  )
  return (
    <div class="screen">
      <EvidenceHead current="Retention" />
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault()
          go(hrefOf(['evidence', 'retention'], { bucket: typed }))
        }}
      >
        <Field label="Bucket" value={typed} onInput={setTyped} hint="Empty: all buckets." />
        <button type="submit">Show</button>
      </form>
      <PagedList
        label="Versions with a lock"
        columns={COLUMNS}
        pages={versions}
        keyOf={({ bucket: name, key, version_id }) => `${name}/${key} ${version_id}`}
        cells={cellsOf}
        empty={
          <Empty title="No version has a lock">
            <p>A version is held when it was written with a retention or a legal hold, in a bucket with Object Lock.</p>
          </Empty>
        }
      />
    </div>
  )
}

function cellsOf({ bucket, key, version_id, retention_mode, retain_until, legal_hold, status }: Held) {
  return [
    <a href={hrefOf(['evidence', 'bundle'], { bucket, key, version: version_id })}>
      <Name of={`${bucket}/${key}`} />
    </a>,
    [retention_mode?.toLowerCase(), legal_hold ? 'legal hold' : undefined]
      .filter((text) => text !== undefined)
      .join(', '),
    retain_until === null ? <span class="faint">without end</span> : <Time at={retain_until} />,
    <span class={status === 'held' ? 'badge good' : 'badge'}>{status}</span>,
  ]
}
