import { useState } from 'preact/hooks'

/** How long the button shows its result. */
const SAID_MILLISECONDS = 2000

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    setSaid((await copied(text)) ? 'Copied' : 'Select and copy it')
    setTimeout(() => setSaid(undefined), SAID_MILLISECONDS)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}

/** Copies the text if it can. Browsers offer the clipboard only in secure contexts: over TLS, or on this machine. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

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
