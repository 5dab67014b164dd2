import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.ts'
import { sessionOf } from '../api/call.ts'
import { basic, bearer, begin, end, kept, session } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorBox } from '../parts/error-box.tsx'
import { Check, Choice, Field } from '../parts/field.tsx'

/** The screen shown while no user is signed in. */
export function SignInScreen() {
  const [looking, setLooking] = useState(kept() !== undefined)
  useEffect(() => {
    const authorization = kept()
    if (authorization === undefined) return
    sessionOf(authorization)
      .then((found) => begin(found, true))
      .catch((error: unknown) => {
        // The stored credential is dropped only if the server refuses it.
        if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') end()
      })
      .finally(() => setLooking(false))
  }, [])
  return (
    <main class="sign-in">
      <h1>Object Store</h1>
      {looking ? <p aria-busy="true">Signing in…</p> : <SignInForm />}
    </main>
  )
}

/**
 * Dialog above the screen when a credential has ended. Escape does nothing, since it would lose the screen's content.
 */
export function SignInAgain() {
  return (
    <Dialog title="Sign in again" onClose={undefined}>
      <p>The credential is no longer valid. Sign in again to continue where you were.</p>
      <SignInForm />
      <p>
        <button type="button" onClick={end}>
          Sign out, and give up what is on the screen
        </button>
      </p>
    </Dialog>
  )
}

type Kind = 'token' | 'root'

function SignInForm() {
  const [kind, setKind] = useState<Kind>(session.value?.authorization.startsWith('Basic') === true ? 'root' : 'token')
  const [token, setToken] = useState('')
  const [accessKey, setAccessKey] = useState('')
  const [secretKey, setSecretKey] = useState('')
  const [keep, setKeep] = useState(kept() !== undefined)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const isReady = kind === 'token' ? token.trim() !== '' : accessKey !== '' && secretKey !== ''
  const signIn = async () => {
    setBusy(true)
    setError(undefined)
    try {
      begin(await sessionOf(kind === 'token' ? bearer(token.trim()) : basic(accessKey, secretKey)), keep)
    } catch (failure) {
      setError(refusalOf(failure))
      setBusy(false)
    }
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !busy) void signIn()
      }}
    >
      <Choice
        label="Sign in with"
        value={kind}
        onChange={setKind}
        options={[
          ['token', 'A management token'],
          ['root', 'The root credential'],
        ]}
      />
      {kind === 'token' ? (
        <Field label="Token" secret autoComplete="off" value={token} onInput={setToken} autofocus />
      ) : (
        <>
          <Field label="Access key" autoComplete="username" value={accessKey} onInput={setAccessKey} />
          <Field label="Secret key" secret autoComplete="off" value={secretKey} onInput={setSecretKey} />
        </>
      )}
      <Check
        label="Stay signed in in this tab"
        hint="The credential is kept until the tab is closed. Otherwise it is gone with the next reload."
        checked={keep}
        onChange={setKeep}
      />
      {error === undefined ? null : <ErrorBox error={error} />}
      <footer class="actions">
        <button type="submit" class="primary" disabled={!isReady || busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </footer>
    </form>
  )
}

/** Replaces the server's message for an unknown credential by a hint for typing errors. */
function refusalOf(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.code !== 'UNAUTHENTICATED') return failure
  const message = 'The store does not know this credential, or it has expired.'
  return new ApiError(failure.code, message, failure.status, failure.requestId)
}
