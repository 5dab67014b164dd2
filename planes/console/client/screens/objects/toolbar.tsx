import { ADMINISTRATORS, may } from '../../api/session.ts'
import { go } from '../../app/router.ts'
import { Check } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import { PrefixSearch } from '../../parts/prefix-search.tsx'
import { DeleteFolder } from './delete-folder.tsx'
import { crumbsOf, type Listing } from './entries.ts'
import { listingHref } from './object-list.tsx'
import { UploadButtons } from './uploads/upload-buttons.tsx'

interface ToolbarProps {
  readonly listing: Listing
  readonly reload: () => void
}

/** The path in the bucket, and the settings of the listing. */
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
      <PrefixSearch
        label="Keys that begin with"
        prefix={prefix}
        hrefOf={(text) => listingHref(listing, { prefix: text })}
      />
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
        {may(ADMINISTRATORS) && prefix !== '' && !versions ? (
          <DeleteFolder bucket={bucket} prefix={prefix} changed={reload} key={prefix} />
        ) : null}
        {may(ADMINISTRATORS) ? <UploadButtons bucket={bucket} prefix={prefix} /> : null}
      </div>
    </div>
  )
}
