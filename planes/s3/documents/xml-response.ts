import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'

/** Longer documents are bytes from here on: their length is asked for more than once, and each time costs a look at all. */
const TEXT_LENGTH_MAXIMUM = 4096

/** UTF-8 has at most three bytes for a unit of the text. */
const UNIT_BYTES_MAXIMUM = 3

/**
 * Documents are encoded here and copied out: encoding into new memory, the platform would look at all of the text once
 * more, for its length. It has room for a page of 1,000 keys of usual length.
 */
let scratch: Buffer | undefined
const SCRATCH_BYTES = 1024 * 1024

/** A successful answer that is a document. */
export function xmlResponse(document: string, headers: readonly HeaderLine[] = []): HttpResponse {
  const body = document.length > TEXT_LENGTH_MAXIMUM ? encoded(document) : document
  return { status: 200, headers: [['content-type', 'application/xml'], ...headers], body }
}

function encoded(document: string): Buffer {
  if (document.length * UNIT_BYTES_MAXIMUM > SCRATCH_BYTES) return Buffer.from(document)
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  return Buffer.from(scratch.subarray(0, scratch.write(document)))
}
