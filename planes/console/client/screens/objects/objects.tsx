import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { isFocusAstray } from '../../parts/keep-focus.ts'
import { Empty } from '../../parts/loading.tsx'
import { useSorted } from '../../parts/sorting.ts'
import { usePages } from '../../parts/use-pages.ts'
import { BucketHead } from '../buckets/bucket-head.tsx'
import { Details } from './details.tsx'
import { DropZone } from './uploads/drop-zone.tsx'
import { ENTRY_ORDERS, type Entry, type Listing, loadPage, nameOfEntry, type Place } from './entries.ts'
import { ObjectList } from './object-list.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Toolbar } from './toolbar.tsx'
import { finishedUploads } from './uploads/upload-queue.ts'

/** The objects of a bucket, and the details of the selected object. */
export function ObjectsScreen({ values: { bucket = '' }, query }: ScreenProps) {
  const listing: Listing = {
    bucket,
    prefix: query['prefix'] ?? '',
    folders: query['flat'] !== 'yes',
    versions: query['versions'] === 'yes',
    sort: query['sort'] ?? '',
  }
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const asked = { ...listing, sort: '' }
  const pages = usePages<Entry, Place>((after, signal) => loadPage(listing, after, signal), [asked])
  const entries = useSorted(pages.items, ENTRY_ORDERS, listing.sort)
  useEffect(() => setSelected(new Set()), [JSON.stringify(asked)])
  useReloadAfterUploads(bucket, pages.reload)
  const { key, version } = { key: query['key'], version: query['version'] }
  useFocusAfterDetails(key, entries)
  const changed = () => {
    setSelected(new Set())
    pages.reload()
  }
  return (
    <DropZone bucket={bucket} prefix={listing.prefix}>
      <div class="screen objects">
        <BucketHead name={bucket} current="objects" />
        <Toolbar listing={listing} reload={pages.reload} />
        {pages.error === undefined ? null : <ErrorBox error={pages.error} retry={pages.loadMore} />}
        <SelectionBar bucket={bucket} keys={selected} clear={() => setSelected(new Set())} changed={changed} />
        <div class={key === undefined ? 'browser' : 'browser with-details'}>
          <div class="browser-list">
            <List
              listing={listing}
              entries={entries}
              pages={pages}
              current={key}
              selected={selected}
              select={setSelected}
            />
          </div>
          {key === undefined ? null : (
            <Details
              key={`${key}\0${version ?? ''}`}
              bucket={bucket}
              objectKey={key}
              version={version}
              close={() => go(hrefOf(['buckets', bucket, 'objects'], { ...query, key: undefined, version: undefined }))}
              changed={changed}
            />
          )}
        </div>
      </div>
    </DropZone>
  )
}

/** Reloads the list when uploads have finished; they continue while other screens are shown. */
function useReloadAfterUploads(bucket: string, reload: () => void): void {
  const finished = finishedUploads.value.get(bucket) ?? 0
  const seen = useRef(finished)
  useEffect(() => {
    if (finished !== seen.current) reload()
    seen.current = finished
  }, [finished])
}

/** When the details of an object close, moves the focus to its row. */
function useFocusAfterDetails(key: string | undefined, entries: readonly Entry[]): void {
  const before = useRef(key)
  // In the same turn as the details are removed, before `keepFocus` looks for a place.
  useLayoutEffect(() => {
    const closed = key === undefined ? before.current : undefined
    before.current = key
    if (closed === undefined || !isFocusAstray()) return
    const row = entries.findIndex((entry) => entry.key === closed)
    document.querySelector<HTMLElement>(`[data-row="${row}"] a`)?.focus()
  }, [key])
}

interface ListProps {
  readonly listing: Listing
  readonly entries: readonly Entry[]
  readonly pages: ReturnType<typeof usePages<Entry, Place>>
  readonly current: string | undefined
  readonly selected: ReadonlySet<string>
  readonly select: (keys: ReadonlySet<string>) => void
}

function List({ listing, entries, pages, current, selected, select }: ListProps) {
  const { begun, error } = pages
  if (!begun) return error === undefined ? <p aria-busy="true">Loading…</p> : null
  if (entries.length === 0) return <NothingThere listing={listing} />
  return (
    <ObjectList
      listing={listing}
      entries={entries}
      more={pages.more}
      loadMore={pages.loadMore}
      current={current}
      selected={selected}
      select={select}
      nameOf={(index) => nameOfEntry(entries[index])}
    />
  )
}

function NothingThere({ listing: { prefix, versions } }: { readonly listing: Listing }) {
  if (prefix !== '') return <Empty title="No key begins so" />
  return (
    <Empty title={versions ? 'There are no versions' : 'There are no objects'}>
      <p>{may(ADMINISTRATORS) ? 'Drop files here, or use any S3 client.' : 'Objects come with the first upload.'}</p>
    </Empty>
  )
}
