/**
 * Reads the framing of multipart/form-data (RFC 7578, RFC 2046 section 5.1): the boundary in the head of a request, and the head of
 * a part.
 */
import { S3Error } from '../errors/s3-errors.ts'

/** Of a name of a file; the longest key has as many. */
const FILE_NAME_BYTES_MAXIMUM = 1024

/** RFC 2046: at most 70 of these characters, the last of them not a space. A space needs quotes. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/
const FORM_TYPE = /^multipart\/form-data[ \t]*(?:;|$)/i
const BOUNDARY_PARAMETER = /;[ \t]*boundary=(?:"([^"\\]*)"|([^\s";]*))[ \t]*(?=;|$)/gi

export function malformedForm(why: string): S3Error {
  const message = `The body of your POST request is not well-formed multipart/form-data. ${why}`
  return new S3Error('MalformedPOSTRequest', { message })
}

/** Whether a Content-Type says that the body is a form with files. */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType)
}

/**
 * The boundary that a Content-Type names.
 * @throws S3Error MalformedPOSTRequest
 */
export function boundaryOf(contentType: string): string {
  const [found, ...others] = contentType.matchAll(BOUNDARY_PARAMETER)
  const boundary = found?.[1] ?? found?.[2] ?? ''
  if (others.length === 0 && BOUNDARY.test(boundary)) return boundary
  throw malformedForm('Its Content-Type must name one boundary of 1 to 70 characters.')
}

/** What the head of a part says. */
export interface PartHead {
  /** In lower case: names of fields do not depend on it (S3 API reference, POST example). */
  readonly name: string
  /** Without directories; undefined without the parameter. */
  readonly fileName: string | undefined
}

/** A header name (RFC 9110 token), a colon, the value. */
const LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/
const DISPOSITION = /^form-data((?:[ \t]*;[ \t]*[a-z]+\*?=(?:"(?:[^"\\]|\\.)*"|[^\s";]+))*)[ \t]*;?$/i
const PARAMETER = /;[ \t]*([a-z]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/gi
/** Codings that change no byte. */
const AS_IT_IS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/

/**
 * Reads the lines of the head of a part. Other headers, such as a Content-Type, are ignored, as S3 does: the type of the object is a
 * field.
 * @param text without the empty line at its end
 * @throws S3Error MalformedPOSTRequest
 */
export function readPartHead(text: string): PartHead {
  let disposition: string | undefined
  for (const line of text.split('\r\n')) {
    const [, name = '', value = ''] = LINE.exec(line) ?? []
    if (name === '' || CONTROL.test(value)) throw malformedForm('The head of a part has a line that is not a header.')
    switch (name.toLowerCase()) {
      case 'content-disposition':
        if (disposition !== undefined) throw malformedForm('A part has two Content-Disposition headers.')
        disposition = value
        break
      case 'content-transfer-encoding':
        if (!AS_IT_IS.has(value.toLowerCase())) throw malformedForm('A part has a Content-Transfer-Encoding.')
        break
    }
  }
  return readDisposition(disposition)
}

function readDisposition(text: string | undefined): PartHead {
  const parameters = text === undefined ? undefined : DISPOSITION.exec(text)?.[1]
  if (parameters === undefined) throw malformedForm('A part has no Content-Disposition of form-data.')
  const found = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of parameters.matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    // RFC 7578 section 4.2: not to be used. To ignore it would be to lose the name of the file.
    if (key.endsWith('*')) throw malformedForm(`A part has the parameter ${key}; the name of a file is sent as UTF-8.`)
    if (found.has(key)) throw malformedForm(`A part has the parameter ${key} twice.`)
    found.set(key, quoted === undefined ? plain : unquoted(quoted))
  }
  const name = found.get('name')
  if (name === undefined || name === '') throw malformedForm('A part has no name.')
  const path = found.get('filename')
  const fileName = path?.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  if (fileName !== undefined && Buffer.byteLength(fileName) > FILE_NAME_BYTES_MAXIMUM)
    throw malformedForm(`The name of a file has more than ${FILE_NAME_BYTES_MAXIMUM} bytes.`)
  return { name: name.toLowerCase(), fileName }
}

/** Browsers do not escape a backslash, so it stays as it is before any other character. */
function unquoted(text: string): string {
  return text.replaceAll(/\\(["\\])/g, '$1')
}
