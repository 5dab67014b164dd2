/** URLs of the management interface, in the form that browsers send unchanged. */

type Values = Readonly<Record<string, string>>
type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * The path of an operation such as `GET /buckets/{bucket}/object/{key}`, relative to the page. The whole of a value is
 * encoded, its slashes too: a key such as `a/../b` would lose its dots on the way otherwise.
 * @throws Error for `.` and `..`, which no browser sends in a path
 */
export function pathOf(operation: string, values: Values): string {
  const pattern = operation.slice(operation.indexOf(' ') + 1)
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name] ?? ''
    if (value === '.' || value === '..') throw new Error(`A browser cannot name "${value}": use the command line.`)
    return encodeURIComponent(value)
  })
  return `api/v1${path}`
}

/** The query string of the defined values; empty without any. */
export function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  )
  return given.length === 0 ? '' : `?${given.join('&')}`
}
