import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Empty } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { PrefixSearch } from '../../parts/prefix-search.tsx'
import { type Orders, useSorted } from '../../parts/sorting.ts'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { formatBytes, formatCount } from '../../text/format.ts'
import type { Bucket } from './bucket-types.ts'
import { CreateBucket } from './create-bucket.tsx'

const PAGE_ENTRIES = 500

const COLUMNS = [
  { title: 'Name', class: 'wide' },
  { title: 'Objects', class: 'number', order: 'objects' },
  { title: 'Size', class: 'number', order: 'size' },
  { title: 'Protection', class: 'some' },
  { title: 'Created', class: 'when', order: 'created' },
] as const

const ORDERS: Orders<Bucket> = {
  objects: ({ usage }) => usage.objects,
  size: sizeOf,
  created: ({ created_at }) => Date.parse(created_at),
}

function sizeOf({ usage }: Bucket): number {
  return usage.bytes + usage.noncurrent_bytes
}

/** Every bucket, or the buckets with a prefix. */
export function BucketsScreen({ query: { prefix = '', sort = '' } }: ScreenProps) {
  const [creating, setCreating] = useState(false)
  const buckets = usePages<Bucket, string>(
    async (after, signal) => {
      const page = await call('GET /buckets', { query: { limit: PAGE_ENTRIES, after, prefix } }, signal)
      return { items: page.buckets, next: page.next_after ?? undefined }
    },
    [prefix],
  )
  const items = useSorted(buckets.items, ORDERS, sort)
  const createButton = may(ADMINISTRATORS) ? (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create a bucket
    </button>
  ) : null
  const { begun, error } = buckets
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Buckets</h1>
        <PrefixSearch
          label="Buckets that begin with"
          prefix={prefix}
          hrefOf={(text) => hrefOf(['buckets'], { prefix: text, sort })}
        />
        {createButton}
      </header>
      {error === undefined ? null : <ErrorBox error={error} retry={buckets.loadMore} />}
      {!begun && error === undefined ? <p aria-busy="true">Loading…</p> : null}
      {begun && items.length === 0 ? (
        <Empty title={prefix === '' ? 'There are no buckets yet' : 'No bucket starts with this'}>
          {prefix === '' ? <p>A bucket holds objects. Create one here, or with any S3 client.</p> : null}
        </Empty>
      ) : null}
      {items.length > 0 ? (
        <VirtualList
          label="Buckets"
          columns={COLUMNS}
          count={items.length}
          more={buckets.more}
          onEnd={buckets.loadMore}
          sort={sort}
          sortedHref={(other) => hrefOf(['buckets'], { prefix, sort: other })}
          keyOf={(index) => items[index]?.name ?? ''}
          row={(index) => <BucketRow bucket={items[index] as Bucket} />}
        />
      ) : null}
      {creating ? <CreateBucket onClose={() => setCreating(false)} /> : null}
    </div>
  )
}

function BucketRow({ bucket }: { readonly bucket: Bucket }) {
  const { name, usage, created_at } = bucket
  return (
    <>
      <div role="cell" class="wide">
        <a href={hrefOf(['buckets', name, 'objects'])}>
          <Name of={name} />
        </a>
      </div>
      <div role="cell" class="number">
        {formatCount(usage.objects)}
      </div>
      <div role="cell" class="number">
        {formatBytes(sizeOf(bucket))}
      </div>
      <div role="cell" class="some">
        <Protection bucket={bucket} />
      </div>
      <div role="cell" class="when">
        <Time at={created_at} />
      </div>
    </>
  )
}

function Protection({ bucket: { versioning, object_lock } }: { readonly bucket: Bucket }) {
  return (
    <>
      {object_lock ? <span class="badge">Object Lock</span> : null}
      {versioning === 'enabled' ? <span class="badge">versions</span> : null}
      {versioning === 'suspended' ? <span class="badge">versions suspended</span> : null}
    </>
  )
}
