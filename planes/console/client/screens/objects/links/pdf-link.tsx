import { useState } from 'preact/hooks'
import { callForBytes } from '../../../api/call.ts'
import { sayFailure } from '../../../parts/status.tsx'
import type { ObjectVersion } from '../object-types.ts'

/** Maximum size, since the PDF is held in memory while it is shown. */
const BYTES_MAXIMUM = 100 * 1024 ** 2
const MAGIC = '%PDF-'
/** Time for the new tab to read the PDF. */
const KEPT_MILLISECONDS = 60_000

/** Opens a PDF, which has no preview, in a new tab with the browser's viewer. */
export function PdfLink({ object }: { readonly object: ObjectVersion }) {
  const [busy, setBusy] = useState(false)
  const looksLikePdf = /\.pdf$/i.test(object.key) || object.content_type === 'application/pdf'
  if (!looksLikePdf || object.size > BYTES_MAXIMUM) return <p class="faint">No preview is available.</p>
  const open = async () => {
    setBusy(true)
    try {
      await openPdf(object)
    } catch (error) {
      sayFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button type="button" disabled={busy} onClick={() => void open()}>
      {busy ? 'Loading…' : 'Open the PDF in a tab'}
    </button>
  )
}

/**
 * Opens the bytes with a type set here, not the object's, so that a page or a picture with scripts is never run.
 * @throws Error when the bytes do not start like a PDF
 */
async function openPdf({ bucket, key, version_id }: ObjectVersion): Promise<void> {
  const sent = { path: { bucket, key }, query: { version_id } }
  const bytes = await callForBytes('GET /buckets/{bucket}/object-content/{key}', sent)
  if ((await bytes.slice(0, MAGIC.length).text()) !== MAGIC)
    throw new Error('Its bytes do not begin as those of a PDF.')
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }))
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MILLISECONDS)
  open(address, '_blank', 'noopener')
}
