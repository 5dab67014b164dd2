/** How long the browser may take to begin to save. */
const KEPT_MILLISECONDS = 60_000

/** Saves bytes as a file of the person. */
export function saveFile(bytes: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MILLISECONDS)
}
