import { useCallback, useEffect, useState } from 'preact/hooks'
import { session } from '../api/session.ts'

export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly reload: () => void
}

/**
 * Loads something when its inputs change, when it is asked to, and when another credential came; an answer that is too
 * late is dropped.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ readonly inputs: string; readonly value?: T; readonly error?: unknown }>()
  const [count, setCount] = useState(0)
  const authorization = session.value?.authorization
  const name = JSON.stringify(inputs)
  useEffect(() => {
    const control = new AbortController()
    load(control.signal).then(
      (value) => {
        if (!control.signal.aborted) setState({ inputs: name, value })
      },
      (error: unknown) => {
        if (!control.signal.aborted) setState({ inputs: name, error })
      },
    )
    return () => control.abort()
  }, [name, count, authorization])
  const reload = useCallback(() => setCount((before) => before + 1), [])
  const current = state?.inputs === name ? state : undefined
  return { value: current?.value, error: current?.error, reload }
}
