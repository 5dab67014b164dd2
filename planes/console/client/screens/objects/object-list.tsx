import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { formatBytes } from '../../text/format.ts'
import { visibleText } from '../../text/visible.ts'
import { type Entry, type Listing, shortName } from './entries.ts'

interface ObjectListProps {
  readonly listing: Listing
  readonly entries: readonly Entry[]
  readonly more: boolean
  readonly loadMore: () => void
  /** Key of the selected object. */
  readonly current: string | undefined
  readonly selected: ReadonlySet<string>
  readonly select: (keys: ReadonlySet<string>) => void
  readonly nameOf: (index: number) => string
}

/** The address of a listing with other settings. */
export function listingHref(listing: Listing, other: Readonly<Record<string, string | undefined>> = {}): string {
  const { bucket, prefix, folders, versions, sort } = listing
  const query = { prefix, flat: folders ? undefined : 'yes', versions: versions ? 'yes' : undefined, sort }
  return hrefOf(['buckets', bucket, 'objects'], { ...query, ...other })
}

export function ObjectList(props: ObjectListProps) {
  const { listing, entries, more, loadMore, current, selected, select, nameOf } = props
  const selectable = may(ADMINISTRATORS) && !listing.versions
  const toggle = (key: string) => {
    const keys = new Set(selected)
    if (!keys.delete(key)) keys.add(key)
    select(keys)
  }
  const columns = [
    ...(selectable ? [{ title: <span class="unseen">Select</span>, class: 'tick' }] : []),
    { title: 'Name', class: 'wide' },
    { title: 'Size', class: 'number', order: 'size' },
    { title: 'Changed', class: 'when', order: 'changed' },
  ]
  return (
    <VirtualList
      label="Objects"
      columns={columns}
      count={entries.length}
      more={more}
      onEnd={loadMore}
      sort={listing.sort}
      sortedHref={(sort) => listingHref(listing, { sort })}
      keyOf={nameOf}
      isSelected={(index) => entries[index]?.key === current}
      row={(index) => {
        const entry = entries[index] as Entry
        return (
          <>
            {selectable ? <Tick entry={entry} checked={selected.has(entry.key)} toggle={toggle} /> : null}
            <NameCell entry={entry} listing={listing} />
            <div role="cell" class="number">
              {entry.kind === 'folder' || entry.size === null ? '' : formatBytes(entry.size)}
            </div>
            <div role="cell" class="when">
              {entry.kind === 'folder' ? '' : <Time at={entry.created_at} />}
            </div>
          </>
        )
      }}
    />
  )
}

interface TickProps {
  readonly entry: Entry
  readonly checked: boolean
  readonly toggle: (key: string) => void
}

function Tick({ entry, checked, toggle }: TickProps) {
  if (entry.kind !== 'object') return <div role="cell" class="tick" />
  return (
    <div role="cell" class="tick">
      <input
        type="checkbox"
        aria-label={`Select ${visibleText(entry.key)}`}
        checked={checked}
        onChange={() => toggle(entry.key)}
      />
    </div>
  )
}

function NameCell({ entry, listing }: { readonly entry: Entry; readonly listing: Listing }) {
  const name = <Name of={shortName(entry.key, listing.prefix.slice(0, listing.prefix.lastIndexOf('/') + 1))} />
  if (entry.kind === 'folder') {
    return (
      <div role="cell" class="wide folder">
        <a href={listingHref(listing, { prefix: entry.key })}>{name}</a>
      </div>
    )
  }
  const version = entry.kind === 'version' ? entry.version_id : undefined
  return (
    <div role="cell" class="wide">
      <a href={listingHref(listing, { key: entry.key, version })}>{name}</a>
      {entry.kind === 'version' ? <VersionBadges entry={entry} /> : null}
    </div>
  )
}

function VersionBadges({ entry }: { readonly entry: Extract<Entry, { readonly kind: 'version' }> }) {
  return (
    <span class="badges">
      {entry.delete_marker ? <span class="badge bad">delete marker</span> : null}
      {entry.is_latest ? <span class="badge good">latest</span> : null}
      <code class="faint">{entry.version_id}</code>
    </span>
  )
}
