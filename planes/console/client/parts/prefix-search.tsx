import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../app/router.ts'

/** Delay between the last key and the new list. */
const PAUSE_MILLISECONDS = 300

interface PrefixSearchProps {
  readonly label: string
  /** The current search text. */
  readonly prefix: string
  /** The address of the list of names with this prefix. */
  readonly hrefOf: (prefix: string) => string
}

/** Searches at the server, not only loaded entries, for names that start with the typed text. */
export function PrefixSearch({ label, prefix, hrefOf }: PrefixSearchProps) {
  const [text, setText] = useState(prefix)
  // Read after the delay, since the address may have changed meanwhile.
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
