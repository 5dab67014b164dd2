/** Forms of browsers: their framing in pieces of any size, and the policy that is held against their fields. */
import { millisecondsOf } from '../../../../engine/brands.ts'
import { judgeForm } from '../../../../planes/s3/forms/form-policy.ts'
import { FormReader } from '../../../../planes/s3/forms/form-reader.ts'
import type { Random } from '../../../support/random.ts'
import { wordsOf } from '../edge-values.ts'
import { naiveForm } from '../naive-form.ts'
import { s3Answer } from '../s3-refusal.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const BOUNDARY = 'b-1'
const DELIMITER = `\r\n--${BOUNDARY}`
const PIECES_MAXIMUM = 200

function part(name: string, value: string, more = ''): string {
  return `\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}${DELIMITER}`
}

/** The first byte says how long pieces are. */
function inputOf(pieceBytes: number, ...parts: readonly string[]): Buffer {
  return Buffer.from(`${String.fromCharCode(pieceBytes)}--${BOUNDARY}${parts.join('')}--\r\n`, 'latin1')
}

interface Read {
  readonly fields: readonly (readonly [string, string])[]
  readonly file: Buffer
  readonly fileName: string | undefined
}

function read(body: Buffer, pieceBytes: number): Read {
  const reader = new FormReader(BOUNDARY)
  const parts: Buffer[] = []
  let isFile = false
  for (let at = 0; at < body.length; at += pieceBytes) {
    // In memory of its own, as long as the piece: whatever is read beside it is another's.
    const piece = Buffer.from(body.subarray(at, at + pieceBytes))
    const start: number | undefined = isFile ? 0 : reader.takeFields(piece)
    isFile = start !== undefined
    const bytes = start === undefined ? undefined : reader.takeFile(piece.subarray(start))
    if (bytes !== undefined) parts.push(Buffer.from(bytes))
    piece.fill(0)
  }
  reader.end()
  return { fields: [...reader.fields], file: Buffer.concat(parts), fileName: reader.fileName }
}

function judgeFraming(input: Buffer): Verdict {
  const body = input.subarray(1)
  const pieceBytes = Math.max((input[0] ?? 0) + 1, Math.ceil(body.length / PIECES_MAXIMUM))
  const answer = s3Answer(() => read(body, pieceBytes))
  const whole = s3Answer(() => read(body, body.length + 1))
  mustBeSame('value' in answer, 'value' in whole, 'pieces of another size have another answer')
  const expected = naiveForm(body.toString('latin1'), BOUNDARY)
  if (!('value' in answer) || !('value' in whole)) {
    mustHold(expected === undefined, `refused what is right: ${'code' in answer ? answer.code : ''}`)
    return refused('code' in answer ? answer.code : '')
  }
  mustHold(expected !== undefined, 'let in what is not right')
  mustBeSame(answer.value, whole.value, 'a form in other pieces')
  const { fields, fileName } = answer.value
  mustBeSame([fields, fileName], [expected?.fields, expected?.fileName], 'the fields')
  mustHold(answer.value.file.equals(Buffer.from(expected?.file ?? '', 'latin1')), 'another file')
  return accepted(`${fields.length} ${fileName === undefined}`)
}

const NAMES = ['key', 'Key', 'policy', 'file', 'FILE', 'a"b', 'x-amz-meta-a', '']
const VALUES = ['', 'v', '\r\n', '\r\n--b-', '\r', '--', `\r\n--B-1`, '\xc3\xbc', '\xff', 'x'.repeat(9000)]

function formByChance(random: Random): Buffer {
  const count = random.below(4)
  const fields = Array.from({ length: count }, (_, at) =>
    part(random.below(3) === 0 ? random.of(NAMES) : `f${at}`, random.of(VALUES)),
  )
  const fileName = random.of(['', '; filename="a.txt"', '; filename="C:\\d\\e"', '; filename=""', '; filename=x'])
  const later = random.below(4) === 0 ? [part(random.of(NAMES), random.of(VALUES))] : []
  return inputOf(
    random.of([0, 1, 2, 30, 250]),
    ...fields,
    part('file', random.of(VALUES).repeat(random.below(3)), fileName),
    ...later,
  )
}

const NOW = millisecondsOf(Date.UTC(2030, 0, 1))
const FIELDS = new Map([
  ['key', 'user/a'],
  ['content-type', 'image/png,image/gif'],
  ['x-amz-meta-a', '$'],
  ['x-ignore-b', 'c'],
  ['policy', 'p'],
  ['x-amz-signature', 's'],
  ['bucket', 'b'],
])
const COVERED = ['key', 'content-type', 'x-amz-meta-a', 'bucket']
const EXPIRATION = '"expiration":"2030-01-01T00:00:01Z"'

/** The members of a condition that lets a form through; undefined for one that does not hold. */
function naiveName(condition: unknown): string | undefined {
  const isPair = typeof condition === 'object' && condition !== null && !Array.isArray(condition)
  const list = isPair
    ? Object.entries(condition).flatMap(([name, value]) => ['eq', `$${name}`, value as unknown])
    : (condition as unknown[])
  const [operator, subject, value] = list
  if (list.length !== 3 || typeof subject !== 'string' || typeof value !== 'string' || !subject.startsWith('$'))
    return undefined
  const name = subject.slice(1).toLowerCase()
  const present = FIELDS.get(name)
  if (present === undefined || typeof operator !== 'string') return undefined
  if (operator.toLowerCase() === 'eq') return present === value ? name : undefined
  if (operator.toLowerCase() !== 'starts-with') return undefined
  const values = name === 'content-type' ? present.split(',') : [present]
  return values.every((each) => each.startsWith(value)) ? name : undefined
}

function isRange(condition: unknown): boolean {
  return (
    Array.isArray(condition) &&
    typeof condition[0] === 'string' &&
    condition[0].toLowerCase() === 'content-length-range'
  )
}

/** Whatever was let through says so in JSON: it has not expired, each condition holds, and each field has one. */
function judgePolicy(input: Buffer): Verdict {
  const answer = s3Answer(() => judgeForm(input.toString('base64'), FIELDS, NOW))
  if (!('value' in answer)) return refused(answer.code)
  const text = input.toString().replaceAll(/\\(?:\$|v)/g, (each) => (each === '\\v' ? '\\u000b' : '$'))
  // The escapes of S3 are put apart from a backslash that is escaped itself; a text with both is not judged further.
  if (/\\\\[$v]/.test(input.toString())) return accepted('escaped')
  const { expiration, conditions } = JSON.parse(text) as { expiration: string; conditions: unknown[] }
  mustHold(Date.parse(expiration) >= NOW, `expired: ${expiration}`)
  const named = conditions.filter((each) => !isRange(each)).map(naiveName)
  mustHold(!named.includes(undefined), `a condition does not hold: ${text}`)
  mustHold(
    COVERED.every((name) => named.includes(name)),
    `a field has no condition: ${text}`,
  )
  const { least, most } = answer.value
  for (const range of conditions.filter(isRange) as unknown[][]) {
    mustHold(least >= Number(range[1]) && most <= Number(range[2]), `the file may have more: ${text}`)
  }
  return accepted(`${conditions.length}`)
}

const ALL =
  '{"bucket":"b"},["starts-with","$key","user/"],["starts-with","$Content-Type","image/"],["eq","$x-amz-meta-a","\\$"]'

function policyByChance(random: Random): string {
  const more = ['["content-length-range",0,5]', '["content-length-range","1","9"]', '{"key":"user/a"}', '{}', '["eq"]']
  const conditions = [...ALL.split(/,(?=[[{])/), random.of(more)].filter(() => random.below(12) > 0)
  return `{${EXPIRATION},"conditions":[${conditions.join(',')}]}`
}

export const FORM_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'form-data',
    seeds: [
      inputOf(0, part('key', 'k'), part('file', 'bytes', '; filename="a"')),
      inputOf(2, part('file', '')),
      inputOf(40, part('key', ''), part('file', `\r\n--b-\r\n--b-1`), part('submit', 'x')),
    ],
    words: [
      ...wordsOf('; = " \\ : \r\n \r \n -- --b-1 name= filename= filename*= form-data file Content-Disposition:'),
      DELIMITER,
      `${DELIMITER}--`,
      '\r\n\r\n',
      part('a', 'b'),
      part('file', 'c'),
      'Content-Transfer-Encoding: base64\r\n',
      '\xe2\x80\xa8',
    ],
    bytesMaximum: 24 * 1024,
    make: formByChance,
    judge: judgeFraming,
  },
  {
    name: 'form-policy',
    seeds: [
      `{${EXPIRATION},"conditions":[${ALL}]}`,
      `{${EXPIRATION},"conditions":[${ALL},["content-length-range",1,5]]}`,
    ],
    words: wordsOf(
      '"eq" "starts-with" "content-length-range" "$key" "$bucket" "" {} [] , : "key" "user/a" \\$ \\v \\u0024 -1 1e9 "5" null "expiration"',
    ),
    make: policyByChance,
    judge: judgePolicy,
  },
]
