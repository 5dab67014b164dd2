import type { Answer } from '../../api/call.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Secret } from '../../parts/copy-button.tsx'
import { Time } from '../../parts/time.tsx'

type Issued = Answer<'POST /service-accounts/{id}/credentials'>

/** A new credential with its secret key, shown only once. */
export function IssuedCredential({ issued, onClose }: { readonly issued: Issued; readonly onClose: () => void }) {
  const { access_key, secret_key, expires_at } = issued
  return (
    <Dialog title="The new credential" onClose={onClose}>
      <p>Keep the secret key now: the store does not show it again.</p>
      <Secret label="Access key" value={access_key} />
      <Secret label="Secret key" value={secret_key} />
      {expires_at === null ? null : (
        <p>
          It expires on <Time at={expires_at} />.
        </p>
      )}
      <footer class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  )
}
