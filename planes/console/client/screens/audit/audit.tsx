import { useEffect, useMemo, useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { hrefOf } from '../../app/address.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Check } from '../../parts/field.tsx'
import { Empty } from '../../parts/loading.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { counted } from '../../text/format.ts'
import { AuditLines } from './audit-lines.tsx'
import { type AuditEvent, type AuditLine, filtersOf, wantsOrphans } from './audit-types.ts'
import { ExportDialog } from './export-dialog.tsx'
import { FilterForm } from './filter-form.tsx'
import { joinRecords } from './join-records.ts'
import { RecordDialog } from './record-dialog.tsx'
import { type Head, useTail } from './use-tail.ts'

const PAGE_ENTRIES = 500

interface Place {
  readonly after_time: string
  readonly after_id: string
}

/** The audit log: every request, newest first. */
export function AuditScreen({ query }: ScreenProps) {
  const filters = filtersOf(query)
  const [head, setHead] = useState<Head>()
  const [isDamaged, setDamaged] = useState(false)
  const [following, setFollowing] = useState(false)
  const [exporting, setExporting] = useState(false)
  const [shown, setShown] = useState<AuditLine>()
  const pages = usePages<AuditEvent, Place>(
    async (after, signal) => {
      const asked = { ...filters, ...after, order: 'desc' as const, limit: PAGE_ENTRIES }
      const page = await call('GET /audit/events', { query: asked }, signal)
      if (after === undefined) setHead({ after_time: page.head_time, after_id: page.head_id })
      if (page.damaged) setDamaged(true)
      const { next_time, next_id } = page
      const next = next_time === null || next_id === null ? undefined : { after_time: next_time, after_id: next_id }
      return { items: page.events, next }
    },
    [filters],
  )
  const fresh = useTail(filters, following ? head : undefined, () => setFollowing(false))
  const { items, begun, more, error, loadMore } = pages
  const onlyOrphans = wantsOrphans(query)
  const lines = useMemo(() => {
    const joined = joinRecords([...fresh, ...items])
    return onlyOrphans ? joined.filter(({ outcome }) => outcome === undefined) : joined
  }, [fresh, items, items.length, onlyOrphans])
  useEffect(() => {
    // Orphans are rare, so the whole log is searched for them, not only the part that fills the list.
    if (onlyOrphans && more && error === undefined) loadMore()
  }, [onlyOrphans, more, items.length, error])
  return (
    <div class="screen audit">
      <header class="screen-head">
        <h1>Audit</h1>
        <div class="actions">
          <button type="button" onClick={pages.reload}>
            Reload
          </button>
          <button type="button" onClick={() => setExporting(true)}>
            Export
          </button>
        </div>
      </header>
      <FilterForm query={query} />
      <Check label="Show new records as they come" checked={following} onChange={setFollowing} />
      {isDamaged ? <DamageNote /> : null}
      {error === undefined ? null : <ErrorBox error={error} retry={loadMore} />}
      {begun ? null : <p aria-busy={error === undefined}>Loading…</p>}
      <p class="faint" role="status">
        {onlyOrphans && begun ? `${counted(items.length, 'record')} searched${more ? ' so far' : ''}` : ''}
      </p>
      {begun && lines.length === 0 && !more ? <NothingFound onlyOrphans={onlyOrphans} /> : null}
      {lines.length === 0 ? null : <AuditLines lines={lines} more={more} onEnd={loadMore} onShow={setShown} />}
      {shown === undefined ? null : <RecordDialog line={shown} onClose={() => setShown(undefined)} />}
      {exporting ? <ExportDialog filters={filters} onClose={() => setExporting(false)} /> : null}
    </div>
  )
}

function NothingFound({ onlyOrphans }: { readonly onlyOrphans: boolean }) {
  return onlyOrphans ? (
    <Empty title="Every attempt has its outcome">
      <p>No change was interrupted.</p>
    </Empty>
  ) : (
    <Empty title="No record matches">
      <p>
        <a href={hrefOf(['audit'])}>Show all records</a>
      </p>
    </Empty>
  )
}

function DamageNote() {
  return (
    <p class="warning">
      A part of the log cannot be read, and records of it are missing here.{' '}
      <a href={hrefOf(['evidence'])}>Verify the chain</a> to see where.
    </p>
  )
}
