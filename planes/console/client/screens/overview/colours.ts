/** Calls `onChange` when the page changes between light and dark. Returns a function that stops this. */
export function followColours(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(onChange)
  system.addEventListener('change', onChange)
  chosen.observe(document.documentElement, { attributeFilter: ['style'] })
  return () => {
    system.removeEventListener('change', onChange)
    chosen.disconnect()
  }
}
