/** Time for the browser to start saving. */
const KEPT_MILLISECONDS = 60_000

/** Saves bytes as a file of the user. */
export function saveFile(bytes: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MILLISECONDS)
}
