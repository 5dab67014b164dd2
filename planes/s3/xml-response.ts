import type { HeaderLine, HttpResponse } from '../http/exchange.ts'

const XML_HEADERS: readonly HeaderLine[] = [['content-type', 'application/xml']]

export function xmlResponse(status: number, document: string): HttpResponse {
  return { status, headers: XML_HEADERS, body: document }
}
