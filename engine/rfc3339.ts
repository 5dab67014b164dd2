/** A time in the form of RFC 3339, UTC, with microseconds. `microseconds` since 1970. */
export function rfc3339(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`
}
