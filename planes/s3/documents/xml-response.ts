import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'

/** Longer documents are bytes from here on: their length is asked for more than once, and each time costs a look at all. */
const TEXT_LENGTH_MAXIMUM = 4096

/** A successful answer that is a document. */
export function xmlResponse(document: string, headers: readonly HeaderLine[] = []): HttpResponse {
  const body = document.length > TEXT_LENGTH_MAXIMUM ? Buffer.from(document) : document
  return { status: 200, headers: [['content-type', 'application/xml'], ...headers], body }
}
