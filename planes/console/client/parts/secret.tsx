import { CopyButton } from './copy-button.tsx'

/** A secret that is shown only once. */
export function Secret({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="secret">
      <span class="faint">{label}</span>
      <code>{value}</code>
      <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} />
    </div>
  )
}
