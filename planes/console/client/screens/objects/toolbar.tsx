import { useEffect, useState } from 'preact/hooks'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { go } from '../../app/router.ts'
import { Check } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import { crumbsOf, type Listing } from './entries.ts'
import { listingHref } from './object-list.tsx'
import { UploadButtons } from './upload-buttons.tsx'

interface ToolbarProps {
  readonly listing: Listing
  readonly reload: () => void
}

/** Where one is in the bucket, and what is listed of it. */
export function Toolbar({ listing, reload }: ToolbarProps) {
  const { bucket, prefix, folders, versions } = listing
  return (
    <div class="toolbar">
      <nav class="crumbs" aria-label="Folders">
        <a href={listingHref(listing, { prefix: undefined })}>
          <Name of={bucket} />
        </a>
        {crumbsOf(prefix).map((crumb) => (
          <span key={crumb.prefix}>
            <span aria-hidden="true"> / </span>
            <a href={listingHref(listing, { prefix: crumb.prefix })}>
              <Name of={crumb.text} />
            </a>
          </span>
        ))}
      </nav>
      <PrefixSearch listing={listing} />
      <div class="choices">
        <Check
          label="Folders"
          checked={folders}
          onChange={(checked) => go(listingHref(listing, { flat: checked ? undefined : 'yes' }))}
        />
        <Check
          label="Versions"
          checked={versions}
          onChange={(checked) => go(listingHref(listing, { versions: checked ? 'yes' : undefined }))}
        />
      </div>
      <div class="actions">
        <button type="button" onClick={reload}>
          Reload
        </button>
        {may(ADMINISTRATORS) ? <UploadButtons bucket={bucket} prefix={prefix} /> : null}
      </div>
    </div>
  )
}

/** How long after the last key the list follows. */
const PAUSE_MILLISECONDS = 300

/** Searches the whole bucket, not what was loaded: keys that begin with what is typed. */
function PrefixSearch({ listing }: { readonly listing: Listing }) {
  const [text, setText] = useState(listing.prefix)
  useEffect(() => setText(listing.prefix), [listing.prefix])
  useEffect(() => {
    if (text === listing.prefix) return undefined
    const timer = setTimeout(() => go(listingHref(listing, { prefix: text }), true), PAUSE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(listingHref(listing, { prefix: text }))
      }}
    >
      <input
        type="search"
        aria-label="Keys that begin with"
        placeholder="Keys that begin with…"
        value={text}
        spellcheck={false}
        autoComplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}
