/**
 * Durations, sizes and rates as people write them: `1h30m`, `10GiB`, `16MiB/s`
 * ([0127](../../spec/decisions/0127-quantities-and-tables.md)). Commands and settings read them here alone.
 */

/**
 * Either the value, or the fault of the text, to be printed after the name of the option or setting. `isUnread`: its
 * form is unknown, so that the forms are worth naming.
 */
type Quantity = { readonly value: number } | { readonly problem: string; readonly isUnread?: true }

const DURATION_EXAMPLES = '90s, 30m, 12h, 1h30m, 7d or 2w'
const SIZE_EXAMPLES = '64KiB, 10GiB or 1.5TB'

const SECONDS = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 } as const
/** Each unit once, the largest first. */
const DURATION =
  /^(?=.)(?:(?<w>\d{1,9})w)?(?:(?<d>\d{1,9})d)?(?:(?<h>\d{1,9})h)?(?:(?<m>\d{1,9})m)?(?:(?<s>\d{1,9})s)?$/
const SIZE = /^(\d{1,15})(?:\.(\d{1,9}))? ?([A-Za-z]{1,3})$/
/** Powers of the letters that sizes begin with. */
const LETTERS = ['k', 'm', 'g', 't', 'p']
const PER_SECOND = /\/s$/
const SHOWN_CHARACTERS = 40

function shown(text: string): string {
  return JSON.stringify(text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}...`)
}

/** Seconds of a duration such as `1h30m`. */
export function readDuration(text: string): Quantity {
  const parts = DURATION.exec(text)?.groups
  if (parts === undefined)
    return { problem: `${shown(text)} is not a duration such as ${DURATION_EXAMPLES}`, isUnread: true }
  const units = Object.keys(SECONDS) as (keyof typeof SECONDS)[]
  return { value: units.reduce((sum, unit) => sum + Number(parts[unit] ?? 0) * SECONDS[unit], 0) }
}

/** Bytes of a size such as `10GiB` (of 1,024) or `10GB` (of 1,000). */
export function readSize(text: string): Quantity {
  return sizeOf(text, text)
}

/** Bytes a second of a rate such as `16MiB/s`, or `16MiB`. */
export function readRate(text: string): Quantity {
  return sizeOf(text.replace(PER_SECOND, ''), text)
}

/** `whole`: the original text, for messages. */
function sizeOf(text: string, whole: string): Quantity {
  const [, digits = '', decimals = '', unit = ''] = SIZE.exec(text) ?? []
  const factor = factorOf(unit.toLowerCase())
  if (factor === undefined) {
    return { problem: `${shown(whole)} is not a size such as ${SIZE_EXAMPLES}`, isUnread: true }
  }
  if (factor === 'either') {
    const [value, letter] = [text.slice(0, -1).trim(), unit.toUpperCase()]
    const both = `${value}${letter}iB (of 1024) and ${value}${letter}B (of 1000)`
    return { problem: `${shown(whole)} can mean ${both}: write one of them` }
  }
  // In whole numbers, since 1.1 times a thousand is not 1100 in binary.
  const product = BigInt(digits + decimals) * BigInt(factor)
  const divisor = 10n ** BigInt(decimals.length)
  const bytes = Number(product / divisor)
  if (product % divisor !== 0n) return { problem: `${shown(whole)} is not a whole number of bytes` }
  return Number.isSafeInteger(bytes) ? { value: bytes } : { problem: `${shown(whole)} is too large` }
}

/** Bytes of a unit in small letters. `k` and the like are used for both powers. */
function factorOf(unit: string): number | 'either' | undefined {
  if (unit === 'b') return 1
  const power = LETTERS.indexOf(unit.charAt(0)) + 1
  if (power === 0) return undefined
  const rest = unit.slice(1)
  if (rest === '') return 'either'
  if (rest === 'b') return 1000 ** power
  return rest === 'i' || rest === 'ib' ? 1024 ** power : undefined
}

/** The units of settings and options that numbers with a unit are read for, by name, and how many of the base they are. */
const READERS: Readonly<Record<string, { readonly read: (text: string) => Quantity; readonly factor: number }>> = {
  seconds: { read: readDuration, factor: 1 },
  minutes: { read: readDuration, factor: 60 },
  hours: { read: readDuration, factor: 3600 },
  days: { read: readDuration, factor: 86_400 },
  bytes: { read: readSize, factor: 1 },
  MiB: { read: readSize, factor: 1024 ** 2 },
  'bytes/s': { read: readRate, factor: 1 },
  'KiB/s': { read: readRate, factor: 1024 },
  'MiB/s': { read: readRate, factor: 1024 ** 2 },
}

/** Bare number of something. No leading zeros, which would be octal to some. */
const WHOLE_NUMBER = /^(0|-?[1-9][0-9]{0,14})$/

/**
 * A whole number of `unit`: a bare number, or for durations, sizes and rates a number with its own unit, such as `1h`
 * for 60 minutes.
 */
export function readWhole(text: string, unit: string | undefined): Quantity {
  if (WHOLE_NUMBER.test(text)) return { value: Number(text) }
  const reader = unit === undefined ? undefined : READERS[unit]
  if (reader === undefined) return { problem: `${shown(text)} is not a whole number` }
  const quantity = reader.read(text)
  if ('problem' in quantity) {
    return { problem: quantity.isUnread ? `${quantity.problem}, nor a whole number of ${unit}` : quantity.problem }
  }
  const value = quantity.value / reader.factor
  return Number.isInteger(value) ? { value } : { problem: `${shown(text)} is not a whole number of ${unit}` }
}
