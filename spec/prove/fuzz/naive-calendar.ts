/** The calendar by counting, without the platform's dates, which know days that there are not. */

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Days of a month, counted from 1; 0 where there is none. */
function daysOf(year: number, month: number): number {
  return (DAYS_OF_MONTHS[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0)
}

/** Days from 1970 to the beginning of a year, negative before. */
function daysToYear(year: number): number {
  return (year - 1970) * 365 + leapDays(year - 1) - leapDays(1969)
}

function leapDays(until: number): number {
  return Math.floor(until / 4) - Math.floor(until / 100) + Math.floor(until / 400)
}

/** Milliseconds since 1970 of a moment in UTC; undefined where there is none. No leap seconds. */
export function naiveMoment(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  if (day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 59) return undefined
  let days = daysToYear(year) + day - 1
  for (let before = 1; before < month; before += 1) days += daysOf(year, before)
  return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
}

/** Whether a text has digits where a picture has `#`, and elsewhere the same characters: `12:00` fits `##:##`. */
export function fitsPicture(text: string, picture: string): boolean {
  if (text.length !== picture.length) return false
  for (let at = 0; at < picture.length; at += 1) {
    if (picture[at] === '#' ? !isDigit(text[at]) : picture[at] !== text[at]) return false
  }
  return true
}

export function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9' && character.length === 1
}
