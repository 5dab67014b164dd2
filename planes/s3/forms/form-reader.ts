/**
 * Reads a body of multipart/form-data, piece by piece as it comes off the socket: fields, then the file, then what is ignored.
 *
 *     --BOUNDARY CR LF  head CR LF CR LF  value      as many as there are; the last before the file
 *     CR LF --BOUNDARY  head of `file`     bytes      passed on as they arrive
 *     CR LF --BOUNDARY  more fields, which are ignored
 *     CR LF --BOUNDARY--
 *
 * Fields, boundaries and heads have 20 KiB together, as at S3. Nothing else is kept: of the file at most the beginning of a boundary.
 */
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { malformedForm, type PartHead, readPartHead } from './form-parts.ts'

/** Of all that is not the file. */
export const FORM_BYTES_MAXIMUM = 20 * 1024
/** Fields before the file. */
const FIELDS_MAXIMUM = 100

const CARRIAGE_RETURN = 0x0d
const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
const FILE = 'file'
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Fields by their names in lower case, in the order received. */
export type FormFields = ReadonlyMap<string, string>

type State = 'start' | 'head' | 'value' | 'file' | 'after' | 'end'

export class FormReader {
  /** CR LF, two hyphens, the boundary. */
  readonly #delimiter: Buffer
  readonly #fields = new Map<string, string>()
  #state: State = 'start'
  /** Bytes of fields, heads and boundaries, read up to `#at`. */
  readonly #kept = Buffer.allocUnsafeSlow(LINE_END.length + FORM_BYTES_MAXIMUM)
  #length = 0
  #at = 0
  /** Up to where the next delimiter was looked for in vain. */
  #searched = 0
  #field = ''
  #hasFile = false
  /** Bytes at the end of the last piece of the file that may begin a delimiter. */
  #held = 0
  #fileName: string | undefined

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    // The first boundary has no line end before it; with one, it is read as the others.
    this.#length = LINE_END.copy(this.#kept)
  }

  get fields(): FormFields {
    return this.#fields
  }

  /** Of the file without directories; undefined where the client gave none. */
  get fileName(): string | undefined {
    return this.#fileName
  }

  /** Bytes of fields, heads and boundaries that have been read. */
  get formBytes(): number {
    return this.#at - LINE_END.length
  }

  /** Bytes that must come after the file. */
  get endBytes(): number {
    return this.#delimiter.length + 2
  }

  /**
   * Takes the next piece, up to the first byte of the file.
   * @returns how many bytes of the piece come before the file; undefined while it has not begun
   * @throws S3Error MalformedPOSTRequest, MaxPostPreDataLengthExceededError, IncorrectNumberOfFilesInPostRequest, InvalidArgument
   */
  takeFields(piece: Buffer): number | undefined {
    const before = this.#length
    this.#length += piece.copy(this.#kept, before)
    this.#read()
    if (this.#state === 'file') {
      const taken = this.#at - before
      this.#length = this.#at
      return taken
    }
    if (this.#state === 'end') throw new S3Error('IncorrectNumberOfFilesInPostRequest')
    if (this.#length - before < piece.length) throw new S3Error('MaxPostPreDataLengthExceededError')
    return undefined
  }

  /**
   * Takes the next piece, after the first byte of the file.
   * @returns the bytes of the file in it, valid as long as the piece is; undefined for none
   * @throws S3Error MalformedPOSTRequest, IncorrectNumberOfFilesInPostRequest
   */
  takeFile(piece: Buffer): Buffer | undefined {
    if (this.#state !== 'file') {
      this.#takeRest(piece)
      return undefined
    }
    const delimiter = this.#delimiter
    const bytes = this.#held === 0 ? piece : Buffer.concat([delimiter.subarray(0, this.#held), piece])
    const end = bytes.indexOf(delimiter)
    if (end === -1) {
      this.#held = this.#beginOfDelimiter(bytes)
      return bytes.length === this.#held ? undefined : bytes.subarray(0, bytes.length - this.#held)
    }
    this.#state = 'after'
    this.#takeRest(bytes.subarray(end))
    return end === 0 ? undefined : bytes.subarray(0, end)
  }

  /**
   * Called at the end of the body.
   * @throws S3Error MalformedPOSTRequest when the last boundary has not come
   */
  end(): void {
    if (this.#state !== 'end') throw malformedForm('It ends before its last boundary.')
  }

  /** Bytes at the end that begin a delimiter. It holds one carriage return, so only the last one can begin it. */
  #beginOfDelimiter(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#delimiter.length + 1)
    const at = bytes.lastIndexOf(CARRIAGE_RETURN)
    if (at < from) return 0
    const length = bytes.length - at
    return bytes.subarray(at).equals(this.#delimiter.subarray(0, length)) ? length : 0
  }

  #takeRest(piece: Buffer): void {
    if (this.#state === 'end') return
    const taken = piece.copy(this.#kept, this.#length)
    this.#length += taken
    this.#read()
    // What comes after the last boundary belongs to nothing, and is dropped (RFC 2046, epilogue).
    if (taken < piece.length && (this.#state as State) !== 'end') {
      throw malformedForm(`What is not the file has more than ${FORM_BYTES_MAXIMUM} bytes.`)
    }
  }

  #read(): void {
    while (this.#step()) {
      // One part after the other.
    }
  }

  /** Reads the next thing. False: it has not arrived, or there is nothing more to read here. */
  #step(): boolean {
    switch (this.#state) {
      case 'start':
      case 'after':
        return this.#takeFirstDelimiter()
      case 'head':
        return this.#takeHead()
      case 'value':
        return this.#takeValue()
      default:
        return false
    }
  }

  /** The delimiter that must come here. */
  #takeFirstDelimiter(): boolean {
    const end = this.#at + this.#delimiter.length
    const present = this.#kept.subarray(this.#at, Math.min(end, this.#length))
    if (!present.equals(this.#delimiter.subarray(0, present.length)))
      throw malformedForm('It does not begin with its boundary.')
    return this.#length >= end + 2 && this.#pass(end)
  }

  /** Reads what follows a delimiter: two hyphens end the form, a line end starts a part. */
  #pass(end: number): boolean {
    const [first, second] = this.#kept.subarray(end, end + 2)
    this.#at = end + 2
    this.#searched = this.#at
    if (first === 0x2d && second === 0x2d) this.#state = 'end'
    else if (first === LINE_END[0] && second === LINE_END[1]) this.#state = 'head'
    else throw malformedForm('A boundary is followed neither by a line end nor by two hyphens.')
    return this.#state === 'head'
  }

  #takeHead(): boolean {
    const end = this.#find(HEAD_END)
    if (end === -1) return false
    if (this.#kept.subarray(this.#at - LINE_END.length, end).includes(this.#delimiter)) {
      throw malformedForm('The head of a part holds a boundary.')
    }
    const head = readPartHead(this.#text(this.#at, end))
    this.#at = end + HEAD_END.length
    this.#searched = this.#at
    if (head.name === FILE) this.#beginFile(head)
    else this.#beginField(head.name)
    return this.#state === 'value'
  }

  #beginFile({ fileName }: PartHead): void {
    if (this.#hasFile) throw new S3Error('IncorrectNumberOfFilesInPostRequest')
    this.#hasFile = true
    this.#fileName = fileName
    this.#state = 'file'
  }

  #beginField(name: string): void {
    this.#state = 'value'
    this.#field = name
    if (this.#hasFile) return
    if (this.#fields.has(name)) throw invalidArgument(name, '', `The form has the field ${name} more than once.`)
    if (this.#fields.size === FIELDS_MAXIMUM) throw malformedForm(`It has more than ${FIELDS_MAXIMUM} fields.`)
  }

  #takeValue(): boolean {
    const end = this.#find(this.#delimiter)
    if (end === -1 || this.#length < end + this.#delimiter.length + 2) return false
    if (!this.#hasFile) this.#fields.set(this.#field, this.#text(this.#at, end))
    return this.#pass(end + this.#delimiter.length)
  }

  /** Where the next `wanted` is in what is kept. Each byte is looked at about once, however small the pieces are. */
  #find(wanted: Buffer): number {
    const end = this.#kept.subarray(0, this.#length).indexOf(wanted, this.#searched)
    if (end === -1) this.#searched = Math.max(this.#at, this.#length - wanted.length + 1)
    return end
  }

  #text(start: number, end: number): string {
    try {
      return decoder.decode(this.#kept.subarray(start, end))
    } catch {
      throw malformedForm('It is not in UTF-8.')
    }
  }
}
