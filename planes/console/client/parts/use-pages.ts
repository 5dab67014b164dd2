import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { comebacks } from '../api/connection.ts'

/** One page, and where the next starts; undefined after the last. */
export interface Page<T, Place> {
  readonly items: readonly T[]
  readonly next: Place | undefined
}

interface Pages<T> {
  readonly items: readonly T[]
  /** Whether there is more to load. */
  readonly more: boolean
  /** Whether the first page has been loaded. */
  readonly begun: boolean
  readonly error: unknown
  readonly loadMore: () => void
  readonly reload: () => void
}

interface Progress<T, Place> {
  readonly items: T[]
  readonly control: AbortController
  next: Place | undefined
  begun: boolean
  busy: boolean
  error: unknown
}

/**
 * Loads a list page by page, from the start when its inputs change. Pages are appended to one array. After a failure it
 * continues at the same page when the server is back or a user signed in again.
 */
export function usePages<T, Place>(
  load: (after: Place | undefined, signal: AbortSignal) => Promise<Page<T, Place>>,
  inputs: readonly unknown[],
): Pages<T> {
  const progress = useRef<Progress<T, Place> | undefined>(undefined)
  const [, setTurn] = useState(0)
  const [count, setCount] = useState(0)
  const show = () => setTurn((turn) => turn + 1)
  const advance = async (of: Progress<T, Place>): Promise<void> => {
    if (of.busy || (of.begun && of.next === undefined)) return
    of.busy = true
    of.error = undefined
    try {
      const { items, next } = await load(of.next, of.control.signal)
      if (of.control.signal.aborted) return
      of.items.push(...items)
      of.next = next
      of.begun = true
    } catch (error) {
      if (of.control.signal.aborted) return
      of.error = error
    } finally {
      of.busy = false
    }
    show()
  }
  useEffect(() => {
    const begun = {
      items: [],
      control: new AbortController(),
      next: undefined,
      begun: false,
      busy: false,
      error: undefined,
    }
    progress.current = begun
    show()
    void advance(begun)
    return () => begun.control.abort()
  }, [JSON.stringify(inputs), count])
  useEffect(() => {
    if (progress.current?.error !== undefined) void advance(progress.current)
  }, [comebacks.value])
  const { items = [], next, begun = false, error } = progress.current ?? {}
  const loadMore = () => {
    if (progress.current !== undefined) void advance(progress.current)
  }
  const reload = useCallback(() => setCount((before) => before + 1), [])
  return { items, more: begun && next !== undefined, begun, error, loadMore, reload }
}
