/**
 * Ignores files dropped outside drop zones. A browser would open such a file in place of the page, and typed input
 * would be lost.
 * @returns a function that stops this
 */
export function refuseStrayFiles(): () => void {
  const control = new AbortController()
  addEventListener('dragover', refuse, { signal: control.signal })
  addEventListener('drop', refuse, { signal: control.signal })
  return () => control.abort()
}

function refuse(event: DragEvent): void {
  if (event.defaultPrevented || event.dataTransfer === null || !event.dataTransfer.types.includes('Files')) return
  event.preventDefault()
  event.dataTransfer.dropEffect = 'none'
}
