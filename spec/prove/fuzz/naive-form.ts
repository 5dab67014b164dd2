/** A body of multipart/form-data as one text of one byte a character, by the words of RFC 2046 and RFC 7578. */

const FORM_BYTES_MAXIMUM = 20 * 1024
const FIELDS_MAXIMUM = 100
const FILE_NAME_BYTES_MAXIMUM = 1024

export interface NaiveForm {
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** One byte a character. */
  readonly file: string
  readonly fileName: string | undefined
}

interface NaivePart {
  readonly name: string
  readonly fileName: string | undefined
  readonly body: string
}

/** Undefined for what must be refused. */
export function naiveForm(text: string, boundary: string): NaiveForm | undefined {
  const delimiter = `\r\n--${boundary}`
  let rest = `\r\n${text}`
  const parts: NaivePart[] = []
  let bytes = 0
  for (;;) {
    if (!rest.startsWith(delimiter)) return undefined
    rest = rest.slice(delimiter.length)
    bytes += delimiter.length + 2
    if (rest.startsWith('--')) break
    const end = rest.indexOf('\r\n\r\n', 2)
    const next = end === -1 ? -1 : rest.indexOf(delimiter, end + 4)
    // A boundary in a head ends a part that has no body.
    if (next === -1 || rest.slice(0, end).includes(delimiter)) return undefined
    const part = naivePart(rest.slice(0, end), rest.slice(end + 4, next))
    if (part === undefined) return undefined
    bytes += end + 2
    if (part.name !== 'file') bytes += part.body.length
    parts.push(part)
    rest = rest.slice(next)
  }
  const at = parts.findIndex(({ name }) => name === 'file')
  const [file, ...later] = parts.slice(at)
  if (at === -1 || file === undefined || later.some(({ name }) => name === 'file')) return undefined
  // The line end that was put before it is not of the body.
  if (bytes - 2 > FORM_BYTES_MAXIMUM) return undefined
  const fields = parts.slice(0, at).map(({ name, body }) => [name, utf8(body)] as const)
  if (fields.length > FIELDS_MAXIMUM || new Set(fields.map(([name]) => name)).size < fields.length) return undefined
  const isSound = fields.every((field): field is readonly [string, string] => field[1] !== undefined)
  return isSound ? { fields, file: file.body, fileName: file.fileName } : undefined
}

/** @param lines the head from behind its boundary */
function naivePart(lines: string, body: string): NaivePart | undefined {
  const head = lines.startsWith('\r\n') ? utf8(lines.slice(2)) : undefined
  if (head === undefined) return undefined
  let disposition: string | undefined
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    const value = blanksOff(line.slice(colon + 1))
    if (!isToken(name) || [...value].some((one) => (one < ' ' && one !== '\t') || one === '\x7f')) return undefined
    if (/[\u0085\u2028\u2029]/.test(value) && LINE_BREAKS.some((one) => value.includes(one))) return undefined
    if (name === 'content-transfer-encoding' && !['7bit', '8bit', 'binary'].includes(value.toLowerCase()))
      return undefined
    if (name !== 'content-disposition') continue
    if (disposition !== undefined) return undefined
    disposition = value
  }
  const named = disposition === undefined ? undefined : naiveDisposition(disposition)
  return named === undefined ? undefined : { ...named, body }
}

/** What a dot of a regular expression does not match. */
const LINE_BREAKS = ['\u2028', '\u2029']

function naiveDisposition(text: string): Omit<NaivePart, 'body'> | undefined {
  if (text.slice(0, 9).toLowerCase() !== 'form-data') return undefined
  const parameters = new Map<string, string>()
  let rest = text.slice(9)
  for (;;) {
    rest = blanksOff(rest)
    if (rest === '' || rest === ';') break
    if (!rest.startsWith(';')) return undefined
    rest = blanksOff(rest.slice(1))
    const equals = rest.indexOf('=')
    const name = rest.slice(0, Math.max(0, equals)).toLowerCase()
    if (name === '' || ![...name].every((one) => 'abcdefghijklmnopqrstuvwxyz'.includes(one))) return undefined
    const read = rest[equals + 1] === '"' ? naiveQuoted(rest.slice(equals + 2)) : naivePlain(rest.slice(equals + 1))
    if (read === undefined || parameters.has(name)) return undefined
    parameters.set(name, read.value)
    rest = read.rest
  }
  const name = parameters.get('name')
  const fileName = parameters.get('filename')?.split('/').at(-1)?.split('\\').at(-1)
  if (!name || Buffer.byteLength(fileName ?? '') > FILE_NAME_BYTES_MAXIMUM) return undefined
  return { name: name.toLowerCase(), fileName }
}

interface NaiveValue {
  readonly value: string
  readonly rest: string
}

function naiveQuoted(text: string): NaiveValue | undefined {
  let value = ''
  for (let at = 0; at < text.length; at += 1) {
    const [one = '', next = ''] = [text[at], text[at + 1]]
    if (one === '"') return { value, rest: text.slice(at + 1) }
    if (one !== '\\') value += one
    else {
      if (next === '') return undefined
      value += next === '"' || next === '\\' ? next : `\\${next}`
      at += 1
    }
  }
  return undefined
}

function naivePlain(text: string): NaiveValue | undefined {
  let end = 0
  while (end < text.length && !/[\s";]/.test(text[end] ?? '')) end += 1
  return end === 0 ? undefined : { value: text.slice(0, end), rest: text.slice(end) }
}

function blanksOff(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && ' \t'.includes(text[start] ?? 'x')) start += 1
  while (end > start && ' \t'.includes(text[end - 1] ?? 'x')) end -= 1
  return text.slice(start, end)
}

function isToken(text: string): boolean {
  return text !== '' && [...text].every((one) => /[!#$%&'*+\-.^_`|~0-9a-z]/.test(one))
}

function utf8(text: string): string | undefined {
  const bytes = Buffer.from(text, 'latin1')
  const read = bytes.toString()
  return Buffer.from(read).equals(bytes) ? read : undefined
}
