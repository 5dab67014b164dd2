import { type Answer, call } from '../../api/call.ts'
import type { Orders } from '../../parts/sorting.ts'
import type { Page } from '../../parts/use-pages.ts'
import { compareKeys } from '../../text/compare-keys.ts'

type ListedObject = Answer<'GET /buckets/{bucket}/objects'>['objects'][number]
type ListedVersion = Answer<'GET /buckets/{bucket}/object-versions'>['versions'][number]

/** One row of the list. */
export type Entry =
  | { readonly kind: 'folder'; readonly key: string }
  | ({ readonly kind: 'object' } & ListedObject)
  | ({ readonly kind: 'version' } & ListedVersion)

/** The settings of a listing. */
export interface Listing {
  readonly bucket: string
  /** Prefix of the listed keys. */
  readonly prefix: string
  /** Whether keys are grouped up to the next slash. */
  readonly folders: boolean
  /** Whether every version and delete marker has a row. */
  readonly versions: boolean
  /** As `useSorted` takes it. */
  readonly sort: string
}

/** Sort values of columns; folders have none. */
export const ENTRY_ORDERS: Orders<Entry> = {
  size: (entry) => (entry.kind === 'folder' ? -1 : (entry.size ?? -1)),
  changed: (entry) => (entry.kind === 'folder' ? 0 : Date.parse(entry.created_at)),
}

/** Where the next page starts. */
export interface Place {
  readonly after: string
  readonly afterVersionId: string | undefined
}

const PAGE_ENTRIES = 1000

/** A page of a listing, in the order of the keys. */
export async function loadPage(
  listing: Listing,
  after: Place | undefined,
  signal: AbortSignal,
): Promise<Page<Entry, Place>> {
  const { bucket, prefix, folders } = listing
  const query = { prefix, delimiter: folders ? '/' : undefined, limit: PAGE_ENTRIES, after: after?.after }
  const path = { bucket }
  if (listing.versions) {
    const sent = { path, query: { ...query, after_version_id: after?.afterVersionId } }
    const page = await call('GET /buckets/{bucket}/object-versions', sent, signal)
    const versions = page.versions.map((version): Entry => ({ kind: 'version', ...version }))
    const next =
      page.next_after === null
        ? undefined
        : { after: page.next_after, afterVersionId: page.next_after_version_id ?? undefined }
    return { items: withFolders(versions, page.prefixes), next }
  }
  const page = await call('GET /buckets/{bucket}/objects', { path, query }, signal)
  const objects = page.objects.map((object): Entry => ({ kind: 'object', ...object }))
  const next = page.next_after === null ? undefined : { after: page.next_after, afterVersionId: undefined }
  return { items: withFolders(objects, page.prefixes), next }
}

/** Merges two sorted lists. */
function withFolders(entries: readonly Entry[], prefixes: readonly string[]): Entry[] {
  if (prefixes.length === 0) return [...entries]
  const merged: Entry[] = []
  let at = 0
  for (const prefix of prefixes) {
    while (at < entries.length && compareKeys((entries[at] as Entry).key, prefix) < 0)
      merged.push(entries[at++] as Entry)
    merged.push({ kind: 'folder', key: prefix })
  }
  return [...merged, ...entries.slice(at)]
}

/** Stable key of a row: the same for the same object, version or folder. */
export function nameOfEntry(entry: Entry | undefined): string {
  if (entry === undefined) return ''
  return entry.kind === 'version' ? `${entry.key}\0${entry.version_id}` : entry.key
}

/** Name of a row: the key after the prefix, or the whole key if it equals the prefix. */
export function shortName(key: string, prefix: string): string {
  return key.length > prefix.length && key.startsWith(prefix) ? key.slice(prefix.length) : key
}

/** The folders of a prefix that lead to it, each with its prefix. */
export function crumbsOf(prefix: string): { readonly text: string; readonly prefix: string }[] {
  const parts = prefix.split('/')
  const rest = parts.pop() ?? ''
  const crumbs = parts.map((text, index) => ({ text: `${text}/`, prefix: `${parts.slice(0, index + 1).join('/')}/` }))
  return rest === '' ? crumbs : [...crumbs, { text: `${rest}…`, prefix }]
}

/** The part of a prefix up to its last slash. */
export function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1)
}
