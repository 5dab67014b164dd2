import { formatTime } from '../text/format.ts'

/** A time in the time zone of the browser; UTC is its title. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at)}
    </time>
  )
}
