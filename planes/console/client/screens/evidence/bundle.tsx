import { useState } from 'preact/hooks'
import { callForResponse } from '../../api/call.ts'
import type { ScreenProps } from '../../app/screen-props.ts'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Field } from '../../parts/field.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { say } from '../../parts/status.tsx'
import { EvidenceHead } from './evidence-tabs.tsx'

/** Makes the proof bundle of a version; the address may name it, so that other screens can link here. */
export function BundleScreen({ query }: ScreenProps) {
  const [bucket, setBucket] = useState(query['bucket'] ?? '')
  const [key, setKey] = useState(query['key'] ?? '')
  const [version, setVersion] = useState(query['version'] ?? '')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const isReady = bucket !== '' && key !== '' && !busy
  const make = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const asked = { path: { bucket, key }, query: { version_id: version === '' ? undefined : version } }
      const response = await callForResponse('GET /buckets/{bucket}/object-proof/{key}', asked)
      saveFile(await response.blob(), `${key.split('/').at(-1) || 'object'}.proof.json`)
      say('The bundle is saved. Keep it with the file.')
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  return (
    <div class="screen">
      <EvidenceHead current="Proof bundle" />
      <p>
        A bundle is signed by this store and says which bytes one version has. With it, the file and the public key of
        the store anybody can check the file, without asking anybody.
      </p>
      <form
        class="stack verify"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) void make()
        }}
      >
        <Field label="Bucket" value={bucket} onInput={setBucket} />
        <Field label="Key" value={key} onInput={setKey} />
        <Field label="Version" value={version} onInput={setVersion} hint="Empty: the current one." />
        {error === undefined ? null : <ErrorBox error={error} />}
        <footer class="actions">
          <button type="submit" class="primary" disabled={!isReady}>
            Save the bundle
          </button>
        </footer>
      </form>
    </div>
  )
}
