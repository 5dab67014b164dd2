import { useEffect } from 'preact/hooks'
import { isExpired, session } from '../api/session.ts'
import { keepFocus } from '../parts/keep-focus.ts'
import { StatusRegion } from '../parts/status.tsx'
import { refuseStrayFiles } from '../parts/stray-files.ts'
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
