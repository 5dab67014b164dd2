import { useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Choice, TimeField } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import { formatBytes } from '../../text/format.ts'
import type { Filters } from './audit-types.ts'
import { type ExportRange, useExport } from './use-export.ts'

interface ExportDialogProps {
  readonly filters: Filters
  readonly onClose: () => void
}

/** Exports records of the log, and their manifest. The server records the export before the first byte. */
export function ExportDialog({ filters, onClose }: ExportDialogProps) {
  const [from, setFrom] = useState(filters.since ?? '')
  const [to, setTo] = useState(filters.until ?? '')
  const [format, setFormat] = useState<ExportRange['format']>('json')
  const { bytes, error, exported, run, cancel, saveManifest } = useExport()
  const { bucket, key, key_prefix } = filters
  const range = { from: from || undefined, to: to || undefined, format, bucket, key, key_prefix }
  return (
    <Dialog title="Export records" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (bytes === undefined) void run(range)
        }}
      >
        <TimeField label="From" value={from} onInput={setFrom} />
        <TimeField label="Until" value={to} onInput={setTo} />
        <Choice
          label="Format"
          value={format}
          onChange={setFormat}
          options={[
            ['json', 'JSON'],
            ['csv', 'CSV'],
          ]}
        />
        <Extent range={range} />
        <p role="status">
          {bytes === undefined ? null : `${formatBytes(bytes)} so far…`}
          {exported === undefined ? null : `${formatBytes(exported.bytes)} are saved as export ${exported.id}.`}
        </p>
        {error === undefined ? null : <ErrorBox error={error} />}
        <footer class="actions">
          {bytes === undefined ? null : (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
          {exported === undefined ? null : (
            <button type="button" onClick={() => void saveManifest(exported.id)}>
              Save the manifest
            </button>
          )}
          <button type="submit" class="primary" disabled={bytes !== undefined}>
            {bytes === undefined ? 'Export' : 'Exporting…'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** The filters of the list that an export supports. */
function Extent({ range: { bucket, key, key_prefix } }: { readonly range: ExportRange }) {
  if (bucket === undefined) {
    return <p class="faint">Records of every bucket; other filters of the list do not apply.</p>
  }
  return (
    <p class="faint">
      Only of <Name of={[bucket, key ?? `${key_prefix ?? ''}*`].join('/')} />
    </p>
  )
}
