import { render } from 'preact'
import { VerifyForm } from './verify-form.tsx'

/** The stand-alone page: one file that works from a disk without a network. */
function VerifyPage() {
  return (
    <main class="verify-page">
      <h1>Verify a file</h1>
      <p>
        Checks a file against a proof bundle of Object Store, by the same code as <code>object-store proof verify</code>
        . Everything happens in this page: it sends nothing and asks for nothing, and its content security policy
        forbids it to.
      </p>
      <VerifyForm />
    </main>
  )
}

const place = document.getElementById('app')
if (place !== null) render(<VerifyPage />, place)
