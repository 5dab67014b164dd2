/** The reader of multipart/form-data: the same whatever the pieces are, and what is not a form is refused. */
import { type Test, test } from 'tap'
import { S3Error } from '../../../../planes/s3/errors/s3-errors.ts'
import { boundaryOf, isFormType, readPartHead } from '../../../../planes/s3/forms/form-parts.ts'
import { FORM_BYTES_MAXIMUM, FormReader } from '../../../../planes/s3/forms/form-reader.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'

const DELIMITER = '\r\n--b-1'

interface Read {
  readonly fields: readonly (readonly [string, string])[]
  readonly file: string
  readonly fileName: string | undefined
}

/** What the reader makes of pieces; the code of its refusal instead. */
function read(pieces: readonly Buffer[]): Read | string {
  const reader = new FormReader('b-1')
  const file: Buffer[] = []
  let isFile = false
  try {
    for (const piece of pieces) {
      // In memory of its own, which is not valid after the call.
      const own = Buffer.from(piece)
      const start = isFile ? 0 : reader.takeFields(own)
      if (start !== undefined) {
        isFile = true
        const bytes = reader.takeFile(own.subarray(start))
        if (bytes !== undefined) file.push(Buffer.from(bytes))
      }
      own.fill(0)
    }
    reader.end()
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
  return { fields: [...reader.fields], file: Buffer.concat(file).toString('latin1'), fileName: reader.fileName }
}

/** The answer to a text, one byte a character: whole, split at every byte, and byte by byte. All must be the same. */
function answerTo(t: Test, text: string): Read | string {
  const bytes = Buffer.from(text, 'latin1')
  const whole = read([bytes])
  for (let at = 1; at < bytes.length; at += 1) {
    const split = read([bytes.subarray(0, at), bytes.subarray(at)])
    if (JSON.stringify(split) !== JSON.stringify(whole))
      t.same(split, whole, `split at ${at} of ${JSON.stringify(text)}`)
  }
  const single = read(Array.from(bytes, (byte) => Buffer.of(byte)))
  if (JSON.stringify(single) !== JSON.stringify(whole)) t.same(single, whole, `byte by byte: ${JSON.stringify(text)}`)
  return whole
}

function part(name: string, value: string, more = ''): string {
  return `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}${DELIMITER}`
}

/** Parts as a body. */
function form(...parts: readonly string[]): string {
  return `--b-1${parts.map((each) => `\r\n${each}`).join('')}--\r\n`
}

test('fields and file are the same whatever the pieces are', (t) => {
  const file = `bytes\r\n--b-\r\n--b\r\r\n-\r\n--B-1--${'\r\n'.repeat(3)}`
  const text = form(
    part('Key', 'a/\xc3\xbc'),
    part('empty', ''),
    part('file', file, '; filename="a.txt"'),
    part('x', 'y'),
  )
  t.same(answerTo(t, text), {
    fields: [
      ['key', 'a/ü'],
      ['empty', ''],
    ],
    file,
    fileName: 'a.txt',
  })
  t.same(answerTo(t, form(part('file', ''))), { fields: [], file: '', fileName: undefined })
  t.same(answerTo(t, `${form(part('file', 'x'))}what comes after the end`), {
    fields: [],
    file: 'x',
    fileName: undefined,
  })
  t.end()
})

test('a file of every byte passes as it is', (t) => {
  const file = sampleBytes(300_000).toString('latin1')
  const bytes = Buffer.from(form(part('key', 'k'), part('file', file)), 'latin1')
  for (const size of [1, 2, 3, 7, 4096, 65_536, 1_000_000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const answer = read(pieces)
    t.ok(typeof answer !== 'string' && answer.file === file, `pieces of ${size}`)
  }
  t.end()
})

test('what is not a form is refused, by the same code whatever the pieces are', (t) => {
  const MALFORMED = 'MalformedPOSTRequest'
  const cases: readonly (readonly [text: string, code: string])[] = [
    ['', MALFORMED],
    ['x', MALFORMED],
    ['--b-2\r\n', MALFORMED],
    ['\r\n--b-1\r\n', MALFORMED],
    ['--b-1x', MALFORMED],
    ['--b-1\n', MALFORMED],
    ['--b-1--\r\n', 'IncorrectNumberOfFilesInPostRequest'],
    [form(part('key', 'k')), 'IncorrectNumberOfFilesInPostRequest'],
    [form(part('file', 'x'), part('FILE', 'y')), 'IncorrectNumberOfFilesInPostRequest'],
    [form(part('a', '1'), part('A', '2'), part('file', 'x')), 'InvalidArgument'],
    [form(part('file', 'x')).slice(0, -5), MALFORMED],
    [form(part('file', 'x')).slice(0, -4).concat('xx'), MALFORMED],
    [form(part('a', '\xff'), part('file', 'x')), MALFORMED],
    [form('\r\nx'), MALFORMED],
    [form(`A: b\r\n\r\n1${DELIMITER}`, part('file', 'x')), MALFORMED],
    [form(part('file', 'x'), `A: b\r\n\r\n1${DELIMITER}`), MALFORMED],
  ]
  for (const [text, code] of cases) t.equal(answerTo(t, text), code, JSON.stringify(text))
  t.end()
})

function readWhole(text: string): Read | string {
  return read([Buffer.from(text, 'latin1')])
}

test('a form has 20 KiB beside its file, and 100 fields', (t) => {
  const fieldsOf = (bytes: number) => form(part('a', 'x'.repeat(bytes)), part('file', 'bytes'))
  // From the end of the value to the file.
  const around = fieldsOf(0).indexOf('bytes')
  const fits = FORM_BYTES_MAXIMUM - around - DELIMITER.length - 2
  t.match(readWhole(fieldsOf(fits)), { file: 'bytes' })
  t.equal(readWhole(fieldsOf(fits + 1)), 'MalformedPOSTRequest', 'no room for the end')
  t.equal(readWhole(fieldsOf(FORM_BYTES_MAXIMUM - around + 1)), 'MaxPostPreDataLengthExceededError')
  t.equal(readWhole(`--b-1\r\n${'x'.repeat(30_000)}`), 'MaxPostPreDataLengthExceededError', 'a head without an end')
  t.equal(readWhole(form(part('file', 'x'), part('a', 'y'.repeat(30_000)))), 'MalformedPOSTRequest', 'after the file')
  t.match(readWhole(form(part('file', 'x'.repeat(100_000)))), { file: 'x'.repeat(100_000) })
  const many = (count: number) =>
    form(...Array.from({ length: count }, (_, at) => part(`f${at}`, '')), part('file', 'x'))
  t.match(readWhole(many(100)), { file: 'x' })
  t.equal(readWhole(many(101)), 'MalformedPOSTRequest')
  t.end()
})

test('the boundary is the one that Content-Type names', (t) => {
  for (const [type, boundary] of [
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;charset=utf-8;BOUNDARY="a b:c"', 'a b:c'],
    ['multipart/form-data ; boundary=----WebKitFormBoundaryAbC ; x=y', '----WebKitFormBoundaryAbC'],
    [`multipart/form-data; boundary=${'b'.repeat(70)}`, 'b'.repeat(70)],
  ] as const) {
    t.ok(isFormType(type), type)
    t.equal(boundaryOf(type), boundary, type)
  }
  for (const type of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a; boundary=b',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'multipart/form-data; boundary=ü',
    'multipart/form-data; boundary="a\\"b"',
    'multipart/form-data; boundary=a"b',
  ])
    t.throws(() => boundaryOf(type), { code: 'MalformedPOSTRequest' }, type)
  for (const type of [undefined, '', 'text/plain', 'multipart/form-data-x; boundary=a', 'multipart/mixed; boundary=a'])
    t.notOk(isFormType(type), String(type))
  t.end()
})

function nameOf(text: string) {
  return readPartHead(`Content-Disposition: ${text}`)
}

test('the head of a part names the field and the file', (t) => {
  t.same(nameOf('form-data; name=Key'), { name: 'key', fileName: undefined })
  t.same(nameOf('form-data; name="a;b=\\"c\\\\"; FileName="d"'), { name: 'a;b="c\\', fileName: 'd' })
  t.same(nameOf('form-data; filename="C:\\dir\\ü.txt"; name="file"'), { name: 'file', fileName: 'ü.txt' })
  t.same(readPartHead('content-type: text/plain\r\nCONTENT-DISPOSITION:form-data;name="a"'), {
    name: 'a',
    fileName: undefined,
  })
  for (const text of [
    '',
    'X: y',
    'Content-Disposition: attachment; name="a"',
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; name=""',
    'Content-Disposition: form-data; name="a',
    'Content-Disposition: form-data; name="a"; name="b"',
    'Content-Disposition: form-data; name="file"; filename*=utf-8\'\'a',
    'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"',
    'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64',
    'Content-Disposition: form-data; name="a"\r\n folded',
    'Content-Disposition: form-data; name="a\u0000"',
    `Content-Disposition: form-data; name="file"; filename="${'f'.repeat(1025)}"`,
  ])
    t.throws(() => readPartHead(text), { code: 'MalformedPOSTRequest' }, text.slice(0, 80))
  t.same(readPartHead('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: 8bit').name, 'a')
  t.end()
})
