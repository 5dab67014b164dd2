import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/api-error.ts'
import { comebacks } from '../../api/connection.ts'
import { callForBytes } from '../../api/call.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { formatBytes } from '../../text/format.ts'
import { visibleText } from '../../text/visible.ts'
import type { ObjectVersion } from './object-types.ts'
import { PdfLink } from './links/pdf-link.tsx'

/** Larger objects are fetched on request. */
const BYTES_AT_ONCE = 2 * 1024 ** 2
/** Maximum of a text that is shown. */
const CHARACTERS_MAXIMUM = 100_000
/** The server's maximum for previews. */
const BYTES_MAXIMUM = 10 * 1024 ** 2
const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

type Shown =
  | { readonly kind: 'picture'; readonly address: string }
  | { readonly kind: 'text'; readonly text: string; readonly cut: boolean }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly error: unknown }

/**
 * A picture or a text, recognized by the server by its bytes; never shown as a document. A picture is shown from a
 * `blob:` URL with a type set here.
 */
export function Preview({ object }: { readonly object: ObjectVersion }) {
  const { bucket, key, version_id, size } = object
  const [wanted, setWanted] = useState(size <= BYTES_AT_ONCE)
  const [shown, setShown] = useState<Shown>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (shown?.kind === 'failed') setTries((before) => before + 1)
  }, [comebacks.value])
  useEffect(() => {
    if (!wanted || size > BYTES_MAXIMUM || size === 0) return undefined
    const control = new AbortController()
    let made: Shown | undefined
    previewOf(bucket, key, version_id, control.signal)
      .then((preview) => {
        made = preview
        if (control.signal.aborted) release(made)
        else setShown(made)
      })
      .catch((error: unknown) => {
        if (!control.signal.aborted) setShown({ kind: 'failed', error })
      })
    return () => {
      control.abort()
      release(made)
    }
  }, [wanted, bucket, key, version_id, tries])
  if (size === 0) return <p class="faint">The object is empty.</p>
  if (size > BYTES_MAXIMUM) return <PdfLink object={object} />
  if (!wanted) {
    return (
      <button type="button" onClick={() => setWanted(true)}>
        Show a preview of {formatBytes(size)}
      </button>
    )
  }
  if (shown === undefined) return <p aria-busy="true">Loading a preview…</p>
  return <PreviewOf shown={shown} object={object} />
}

function PreviewOf({ shown, object }: { readonly shown: Shown; readonly object: ObjectVersion }) {
  switch (shown.kind) {
    case 'picture':
      return <img class="preview" src={shown.address} alt={`Preview of ${visibleText(object.key)}`} />
    case 'text':
      return (
        <>
          <pre class="preview" tabIndex={0} aria-label="Preview">
            {shown.text}
          </pre>
          {shown.cut ? <p class="faint">Only the beginning is shown.</p> : null}
        </>
      )
    case 'nothing':
      return <PdfLink object={object} />
    case 'failed':
      return <ErrorBox error={shown.error} />
  }
}

function release(shown: Shown | undefined): void {
  if (shown?.kind === 'picture') URL.revokeObjectURL(shown.address)
}

async function previewOf(bucket: string, key: string, version: string, signal: AbortSignal): Promise<Shown> {
  let bytes: Blob
  try {
    const sent = { path: { bucket, key }, query: { version_id: version } }
    bytes = await callForBytes('GET /buckets/{bucket}/object-preview/{key}', sent, signal)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_PREVIEWABLE') return { kind: 'nothing' }
    throw error
  }
  // Only listed types are shown as pictures, whatever type the server sends, so that nothing is shown as a document.
  if (PICTURES.includes(bytes.type)) return { kind: 'picture', address: URL.createObjectURL(bytes) }
  const text = await bytes.text()
  return { kind: 'text', text: text.slice(0, CHARACTERS_MAXIMUM), cut: text.length > CHARACTERS_MAXIMUM }
}
