/**
 * Has files that are dropped where nothing takes them do nothing. A browser would show such a file in place of the page, and
 * what was typed there would be lost.
 * @returns a function that ends this
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
