import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'

/** A successful answer that is a document. */
export function xmlResponse(document: string, headers: readonly HeaderLine[] = []): HttpResponse {
  return { status: 200, headers: [['content-type', 'application/xml'], ...headers], body: document }
}
