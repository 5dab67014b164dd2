import { call } from '../../../api/call.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { useLoaded } from '../../../parts/use-loaded.ts'

const WHO = {
  share: 'Whoever has this address can download the object.',
  embed: 'Pages of the origins that were named can show the object by this address.',
} as const

interface LinkAddressProps {
  readonly kind: keyof typeof WHO
  readonly address: string
  readonly onClose: () => void
}

/** The address of a public link, to be copied. */
export function LinkAddress({ kind, address, onClose }: LinkAddressProps) {
  return (
    <Dialog title="The address" onClose={onClose}>
      <Address kind={kind} address={address} />
    </Dialog>
  )
}

interface ShowAddressProps {
  readonly kind: keyof typeof WHO
  readonly id: string
  readonly onClose: () => void
}

/** Asks for the address of a link that is there already. */
export function ShowAddress({ kind, id, onClose }: ShowAddressProps) {
  const path = { id }
  const loaded = useLoaded(
    (signal) =>
      kind === 'share'
        ? call('GET /shares/{id}/url', { path }, signal)
        : call('GET /embeds/{id}/url', { path }, signal),
    [kind, id],
  )
  return (
    <Dialog title="The address" onClose={onClose}>
      <Loading of={loaded}>{({ url }) => <Address kind={kind} address={url} />}</Loading>
    </Dialog>
  )
}

function Address({ kind, address }: Omit<LinkAddressProps, 'onClose'>) {
  return (
    <div class="secret">
      <p>{WHO[kind]}</p>
      <code>{address}</code>
      <CopyButton text={address} label="Copy the address" />
    </div>
  )
}
