/** Formats values for display. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `1.5 MiB`; three significant digits at most. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${Number(value.toFixed(digits))} ${UNITS[unit]}`
}

/** With separators of thousands. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 object`, `2 objects`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** `2026-11-23 04:05:06`, in the time zone of the browser; the title of an element has it in UTC. */
export function formatTime(rfc3339: string): string {
  const time = new Date(rfc3339)
  if (Number.isNaN(time.getTime())) return rfc3339
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** `12.5 MiB` or `12.5MiB`, `10 gb`, `1000`: bytes, in powers of 1024; undefined when it is not a size. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgtp])i?)?b?\s*$/i.exec(text)
  if (match === null) return undefined
  const power = match[2] === undefined ? 0 : 'kmgtp'.indexOf(match[2].toLowerCase()) + 1
  const bytes = Math.round(Number(match[1]) * 1024 ** power)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
