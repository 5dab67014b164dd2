import { asApiError } from '../api/api-error.ts'

/** An error with its request id, and a button to retry. */
export function ErrorBox({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const { code, message, requestId } = asApiError(error)
  return (
    <div class="error-box" role="alert">
      <p>{message}</p>
      <p class="faint">
        <code>{code}</code>
        {requestId === undefined ? null : (
          <>
            {' '}
            request <code>{requestId}</code>
          </>
        )}
      </p>
      {retry === undefined ? null : (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}
