import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { isFocusAstray } from '../../parts/keep-focus.ts'
import { Name } from '../../parts/name.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { Facts } from './facts.tsx'
import { Links } from './links/links.tsx'
import { ObjectActions } from './object-actions.tsx'
import type { ObjectVersion } from './object-types.ts'
import { Preview } from './preview.tsx'
import { VersionsOf } from './versions-of.tsx'

interface DetailsProps {
  readonly bucket: string
  readonly objectKey: string
  /** Undefined: the current version. */
  readonly version: string | undefined
  readonly close: () => void
  /** Called when the list is outdated. */
  readonly changed: () => void
}

/** One object or version: facts, preview and actions. */
export function Details({ bucket, objectKey: key, version, close, changed }: DetailsProps) {
  const loaded = useLoaded<ObjectVersion>(
    (signal) =>
      call('GET /buckets/{bucket}/object/{key}', { path: { bucket, key }, query: { version_id: version } }, signal),
    [bucket, key, version],
  )
  const { value, error, reload } = loaded
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    // In a narrow window the details replace the list, and with it the link that led here.
    if (isFocusAstray() || matchMedia('(max-width: 63.99rem)').matches) place.current?.focus()
  }, [])
  const isMarker = error instanceof ApiError && error.code === 'VERSION_IS_MARKER'
  const isGone = error instanceof ApiError && error.code === 'OBJECT_NOT_FOUND'
  const changedHere = () => {
    reload()
    changed()
  }
  return (
    <aside class="details" aria-label="Details" ref={place} tabIndex={-1}>
      <header class="dialog-head">
        <h2>
          <Name of={key} />
        </h2>
        <button type="button" class="quiet" aria-label="Close the details" onClick={close}>
          ✕
        </button>
      </header>
      {value === undefined && error === undefined ? <p aria-busy="true">Loading…</p> : null}
      {isMarker ? <p class="warning">This version is a delete marker: it hides the versions before it.</p> : null}
      {isGone ? <p class="warning">No current object has this name. Earlier versions may exist.</p> : null}
      {error !== undefined && !isMarker && !isGone ? <ErrorBox error={error} retry={reload} /> : null}
      {value === undefined ? null : (
        <>
          <ObjectActions object={value} version={version} close={close} changed={changed} />
          <Preview object={value} />
          <Facts object={value} />
        </>
      )}
      <Links bucket={bucket} objectKey={key} />
      <VersionsOf bucket={bucket} objectKey={key} current={version ?? value?.version_id} changed={changedHere} />
    </aside>
  )
}
