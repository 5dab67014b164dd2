import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../app/router.ts'

/** How long after the last key the list follows. */
const PAUSE_MILLISECONDS = 300

interface PrefixSearchProps {
  readonly label: string
  /** What is searched for now. */
  readonly prefix: string
  /** The address of the list of what begins so. */
  readonly hrefOf: (prefix: string) => string
}

/** Searches all there is, not what was loaded: names that begin with what is typed. */
export function PrefixSearch({ label, prefix, hrefOf }: PrefixSearchProps) {
  const [text, setText] = useState(prefix)
  // Of the address as it is when the list follows: it may have changed meanwhile.
  const latest = useRef(hrefOf)
  latest.current = hrefOf
  useEffect(() => setText(prefix), [prefix])
  useEffect(() => {
    if (text === prefix) return undefined
    const timer = setTimeout(() => go(latest.current(text), true), PAUSE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault()
        go(hrefOf(text))
      }}
    >
      <input
        type="search"
        aria-label={label}
        placeholder={`${label}…`}
        value={text}
        spellcheck={false}
        autoComplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}
