import { useCallback, useEffect, useState } from 'preact/hooks'
import { saysNothing } from '../api/api-error.ts'
import { comebacks } from '../api/connection.ts'

export interface Loaded<T> {
  /** With an error: the earlier value, if the error says nothing about the data. */
  readonly value: T | undefined
  readonly error: unknown
  readonly reload: () => void
}

/**
 * Loads a value when its inputs change and on `reload`; after a failure also when the server is back or a user signed
 * in again. Outdated answers are dropped.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ readonly inputs: string; readonly value?: T; readonly error?: unknown }>()
  const [count, setCount] = useState(0)
  const name = JSON.stringify(inputs)
  useEffect(() => {
    const control = new AbortController()
    load(control.signal).then(
      (value) => {
        if (!control.signal.aborted) setState({ inputs: name, value })
      },
      (error: unknown) => {
        if (control.signal.aborted) return
        setState((before) => {
          const stays = before?.inputs === name && before.value !== undefined && saysNothing(error)
          return { inputs: name, error, ...(stays ? { value: before.value as T } : {}) }
        })
      },
    )
    return () => control.abort()
  }, [name, count])
  const reload = useCallback(() => setCount((before) => before + 1), [])
  const current = state?.inputs === name ? state : undefined
  useEffect(() => {
    if (current?.error !== undefined) reload()
  }, [comebacks.value])
  return { value: current?.value, error: current?.error, reload }
}
