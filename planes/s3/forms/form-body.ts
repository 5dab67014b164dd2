import { BusyError } from '../../../engine/shares/shares.ts'
import { BodyTooLargeError, type HttpRequest, type RequestBody } from '../../http/exchange.ts'
import { S3Error } from '../errors/s3-errors.ts'
import { boundaryOf, malformedForm } from './form-parts.ts'
import { FORM_BYTES_MAXIMUM, type FormFields, FormReader } from './form-reader.ts'

type Sink = (chunk: Buffer) => void | Promise<void>

/** Bytes that the file may have, both included. */
export interface FileBounds {
  readonly least: number
  readonly most: number
}

/** Takes the file. */
interface Taker {
  readonly sink: Sink
  readonly takeNow: ((chunk: Buffer) => void) | undefined
}

/**
 * The file of a form as a body. The body of the request is read from the beginning: first the fields, for which `fields` waits; from
 * the first byte of the file on the socket is paused until the file is read as every body is.
 */
export class FormBody implements RequestBody {
  readonly #body: RequestBody
  readonly #reader: FormReader
  readonly #contentLength: number
  /** Settles with the body of the request. */
  #reading: Promise<void> | undefined
  #bounds: FileBounds = { least: 0, most: Infinity }
  #bytesMaximum = 0
  #size = 0
  #taker: Taker | undefined
  /** Has the held beginning of the file taken. */
  #begin: (() => void) | undefined

  /** @throws S3Error MalformedPOSTRequest (no boundary), MissingContentLength */
  constructor(http: HttpRequest) {
    this.#reader = new FormReader(boundaryOf(http.header('content-type') ?? ''))
    if (http.contentLength === undefined) throw new S3Error('MissingContentLength')
    this.#contentLength = http.contentLength
    this.#body = http.body
  }

  get fileName(): string | undefined {
    return this.#reader.fileName
  }

  /** Bytes that the file has at most, once the fields are read: a form whose file has more ends before its last boundary. */
  get bytesMaximum(): number {
    return this.#bytesMaximum
  }

  get receivedBytes(): number {
    return this.#body.receivedBytes
  }

  /**
   * Reads the fields before the file. Called once.
   * @throws S3Error as FormReader.takeFields; MalformedPOSTRequest for a body that ends before; ClientGoneError
   */
  fields(): Promise<FormFields> {
    return new Promise((resolve, reject) => {
      let isRead = false
      this.#reading = this.#body.pipe(
        (piece) => {
          if (isRead) return this.#taker === undefined ? undefined : this.#hand(piece, this.#taker.sink)
          const start = this.#reader.takeFields(piece)
          if (start === undefined) return undefined
          isRead = true
          const { formBytes, endBytes } = this.#reader
          this.#bytesMaximum = Math.max(0, this.#contentLength - formBytes - endBytes)
          resolve(this.#reader.fields)
          return this.#hold(piece.subarray(start))
        },
        (piece) => {
          const taker = this.#taker
          if (taker?.takeNow === undefined) throw new BusyError()
          void this.#hand(piece, taker.takeNow)
        },
      )
      this.#reading.then(() => reject(malformedForm('It ends before its last boundary.')), reject)
    })
  }

  /**
   * Bounds the file. Called before it is read.
   * @throws S3Error EntityTooLarge when the body is too long for any file within the bounds
   */
  limit(bounds: FileBounds): void {
    this.#bounds = bounds
    if (this.#contentLength - FORM_BYTES_MAXIMUM > bounds.most) throw tooLarge(this.bytesMaximum, bounds.most)
  }

  arrival(): undefined {
    return undefined
  }

  takeArrived(): undefined {
    return undefined
  }

  async readAll(bytesMaximum: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    await this.pipe((chunk) => {
      if (this.#size > bytesMaximum) throw new BodyTooLargeError(`The file has more than ${bytesMaximum} bytes`)
      pieces.push(Buffer.from(chunk))
    })
    const whole = Buffer.allocUnsafeSlow(this.#size)
    let filled = 0
    for (const piece of pieces) filled += piece.copy(whole, filled)
    return whole
  }

  /** @throws S3Error EntityTooLarge, EntityTooSmall, MalformedPOSTRequest, and as RequestBody.pipe */
  async pipe(sink: Sink, takeNow?: (chunk: Buffer) => void): Promise<void> {
    if (this.#reading === undefined || this.#taker !== undefined)
      throw new Error('The file of the form is not to be had')
    this.#taker = { sink, takeNow }
    this.#begin?.()
    await this.#reading
    this.#reader.end()
    const { least } = this.#bounds
    if (this.#size >= least) return
    const details = [
      ['ProposedSize', String(this.#size)],
      ['MinSizeAllowed', String(least)],
    ] as const
    const message = 'Your proposed upload is smaller than the minimum allowed size'
    throw new S3Error('EntityTooSmall', { message, details })
  }

  /** Keeps the beginning of the file until there is who takes it. The driver's memory is not valid so long. */
  #hold(rest: Buffer): Promise<void> {
    const kept = Buffer.from(rest)
    return new Promise((resolve, reject) => {
      this.#begin = () => {
        this.#begin = undefined
        if (this.#taker === undefined) return
        try {
          const pending = this.#hand(kept, this.#taker.sink)
          if (pending === undefined) resolve()
          else pending.then(resolve, reject)
        } catch (error) {
          reject(error as Error)
        }
      }
    })
  }

  #hand(piece: Buffer, sink: Sink): void | Promise<void> {
    const bytes = this.#reader.takeFile(piece)
    if (bytes === undefined) return undefined
    this.#size += bytes.length
    if (this.#size > this.#bytesMaximum) this.#reader.end()
    if (this.#size > this.#bounds.most) throw tooLarge(this.#size, this.#bounds.most)
    return sink(bytes)
  }
}

function tooLarge(size: number, most: number): S3Error {
  const details = [
    ['ProposedSize', String(size)],
    ['MaxSizeAllowed', String(most)],
  ] as const
  return new S3Error('EntityTooLarge', { message: 'Your proposed upload exceeds the maximum allowed size', details })
}
