/**
 * Resolves when the page is visible, at once if it is, so that a hidden page requests nothing.
 * @throws the reason of `stopped` when that is aborted
 */
export async function untilVisible(stopped: AbortSignal): Promise<void> {
  if (!document.hidden) return
  const control = new AbortController()
  const { signal } = control
  await new Promise<void>((resolve, reject) => {
    stopped.addEventListener('abort', () => reject(stopped.reason), { signal })
    document.addEventListener('visibilitychange', () => document.hidden || resolve(), { signal })
  }).finally(() => control.abort())
}
