import { useState } from 'preact/hooks'
import { type Answer, call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { hrefOf } from '../../app/address.ts'
import { route } from '../../app/router.ts'
import { Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { formatBytes } from '../../text/format.ts'
import { DeleteVersion } from './object-actions.tsx'
import { RestoreButton } from './restore-button.tsx'

type ListedVersion = Answer<'GET /buckets/{bucket}/object-versions'>['versions'][number]

/** Maximum number of versions shown, newest first. */
const VERSIONS_MAXIMUM = 200

interface VersionsOfProps {
  readonly bucket: string
  readonly objectKey: string
  /** The selected version. */
  readonly current: string | undefined
  readonly changed: () => void
}

/** Every version and delete marker of one key. */
export function VersionsOf({ bucket, objectKey: key, current, changed }: VersionsOfProps) {
  const loaded = useLoaded(
    async (signal) => {
      const query = { prefix: key, limit: VERSIONS_MAXIMUM }
      const page = await call('GET /buckets/{bucket}/object-versions', { path: { bucket }, query }, signal)
      // Longer keys with this key as their prefix come after it.
      return page.versions.filter((version) => version.key === key)
    },
    [bucket, key, current],
  )
  const [deleting, setDeleting] = useState<ListedVersion>()
  const changedHere = () => {
    loaded.reload()
    changed()
  }
  return (
    <section>
      <h3>Versions</h3>
      <Loading of={loaded}>
        {(versions) => (
          <ul class="versions">
            {versions.map((version) => (
              <VersionRow
                key={version.version_id}
                version={version}
                bucket={bucket}
                isShown={version.version_id === current}
                changed={changedHere}
                remove={() => setDeleting(version)}
              />
            ))}
          </ul>
        )}
      </Loading>
      {deleting === undefined ? null : (
        <DeleteVersion
          object={{ ...deleting, bucket }}
          onClose={() => setDeleting(undefined)}
          deleted={() => {
            setDeleting(undefined)
            changedHere()
          }}
        />
      )}
    </section>
  )
}

interface VersionRowProps {
  readonly version: ListedVersion
  readonly bucket: string
  readonly isShown: boolean
  readonly changed: () => void
  readonly remove: () => void
}

function VersionRow({ version, bucket, isShown, changed, remove }: VersionRowProps) {
  const { key, version_id, is_latest, delete_marker, size, created_at } = version
  const { segments, query } = route.value
  return (
    <li class={isShown ? 'selected' : ''}>
      <p>
        <a href={hrefOf(segments, { ...query, key, version: version_id })} aria-current={isShown ? 'true' : undefined}>
          <Time at={created_at} />
        </a>{' '}
        {delete_marker ? <span class="badge bad">delete marker</span> : formatBytes(size ?? 0)}{' '}
        {is_latest ? <span class="badge good">latest</span> : null}
      </p>
      <p class="faint">
        <code>{version_id}</code>
      </p>
      {may(ADMINISTRATORS) ? (
        <p class="actions">
          {is_latest || delete_marker ? null : <RestoreButton object={{ bucket, key, version_id }} changed={changed} />}
          <button type="button" class="danger" aria-label={`Delete the version ${version_id}`} onClick={remove}>
            Delete
          </button>
        </p>
      ) : null}
    </li>
  )
}
