import type { HeaderLine, HttpResponse } from '../http/exchange.ts'

/** An answer that is a document. */
export function xmlResponse(status: number, document: string, headers: readonly HeaderLine[] = []): HttpResponse {
  return { status, headers: [['content-type', 'application/xml'], ...headers], body: document }
}
