/**
 * RFC 3339, as far as a bundle may use it: capital T and Z, no more than six digits of a second (more are not signed),
 * no leap second, and no `-00:00`. So no two texts that differ in one character are the same time.
 */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))$/
const SECONDS_TEXT_LENGTH = 19

/** Microseconds since 1970, negative before; undefined when the text is not a valid time. */
export function proofMicroseconds(text: string): bigint | undefined {
  const [, seconds, fraction = '', sign, hours = '00', minutes = '00'] = TIME.exec(text) ?? []
  if (seconds === undefined) return undefined
  const milliseconds = Date.parse(`${seconds}Z`)
  // Date.parse accepts hour 24, and days that a month does not have, as a time of the next day.
  if (Number.isNaN(milliseconds)) return undefined
  if (new Date(milliseconds).toISOString().slice(0, SECONDS_TEXT_LENGTH) !== seconds) return undefined
  const offset = offsetMinutes(sign, Number(hours), Number(minutes))
  if (offset === undefined) return undefined
  return BigInt(milliseconds - offset * 60_000) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

/** Minutes that the local time is ahead of UTC. */
function offsetMinutes(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (sign === undefined) return 0
  const ahead = hours * 60 + minutes
  if (hours > 23 || minutes > 59 || (sign === '-' && ahead === 0)) return undefined
  return sign === '-' ? -ahead : ahead
}
