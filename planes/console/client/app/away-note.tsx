import { useEffect, useRef } from 'preact/hooks'
import { isAway } from '../api/connection.ts'
import { say } from '../parts/status.tsx'

/** Says that the server cannot be reached. The element is always present, so that screen readers announce changes. */
export function AwayNote() {
  const was = useRef(false)
  useEffect(() => {
    if (was.current && !isAway.value) say('The server is back.')
    was.current = isAway.value
  }, [isAway.value])
  return (
    <div class="away-note" role="status">
      {isAway.value ? (
        <p class="warning">
          The server cannot be reached. The screen stays as it is and continues when the server is back.
        </p>
      ) : null}
    </div>
  )
}
