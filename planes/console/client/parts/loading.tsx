import type { ComponentChildren } from 'preact'
import { ErrorBox } from './error-box.tsx'
import type { Loaded } from './use-loaded.ts'

interface LoadingProps<T> {
  readonly of: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows loaded data, progress or an error. Earlier data, with its dialogs, stays while it is loaded again. */
export function Loading<T>({ of: { value, error, reload }, children }: LoadingProps<T>) {
  return (
    <>
      {error === undefined ? null : <ErrorBox error={error} retry={reload} />}
      {value === undefined ? null : children(value)}
      {value === undefined && error === undefined ? (
        <p class="faint" aria-busy="true">
          Loading…
        </p>
      ) : null}
    </>
  )
}

interface EmptyProps {
  readonly title?: string
  /** What to do about it. */
  readonly children?: ComponentChildren
}

/** Shown in place of an empty list. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      {title === undefined ? null : (
        <p>
          <strong>{title}</strong>
        </p>
      )}
      {children}
    </div>
  )
}
