import { useEffect } from 'preact/hooks'
import { isExpired, session } from '../api/session.ts'
import { keepFocus } from '../parts/keep-focus.ts'
import { StatusRegion } from '../parts/status.tsx'
import { AwayNote } from './away-note.tsx'
import { followAddress } from './router.ts'
import { Shell } from './shell.tsx'
import { SignInAgain, SignInScreen } from './sign-in.tsx'

/** The whole console. When a credential ends, the screen stays and a dialog above it asks for another. */
export function App() {
  useEffect(followAddress, [])
  useEffect(keepFocus, [])
  useEffect(refuseStrayFiles, [])
  return (
    <>
      <AwayNote />
      {session.value === undefined ? <SignInScreen /> : <Shell />}
      {session.value !== undefined && isExpired.value ? <SignInAgain /> : null}
      <StatusRegion />
    </>
  )
}

/**
 * Ignores files dropped outside drop zones. A browser would open such a file in place of the page, and typed input
 * would be lost.
 * @returns a function that stops this
 */
function refuseStrayFiles(): () => void {
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
