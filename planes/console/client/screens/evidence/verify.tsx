import { VerifyForm } from '../../verify/verify-form.tsx'
import { EvidenceHead } from './evidence-tabs.tsx'

/** Checks a file against a proof bundle in the browser. */
export function VerifyScreen() {
  return (
    <div class="screen">
      <EvidenceHead current="Verify a file" />
      <p>
        The file does not leave the browser. For somebody without this console, <code>object-store proof page</code>{' '}
        writes the same form as one file.
      </p>
      <VerifyForm />
    </div>
  )
}
