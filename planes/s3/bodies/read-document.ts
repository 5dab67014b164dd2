import { readDocument } from './body-checks.ts'
import type { S3Request } from '../handling/s3-request.ts'
import { bigDocuments } from '../documents/big-documents.ts'
import { type DocumentName, type DocumentOf, type ReaderArguments, readBody } from '../documents/document-readers.ts'

/** A longer document is read in a thread: 64 KiB of empty elements would block the event loop for 30 ms. */
const EVENT_LOOP_BYTES_MAXIMUM = 16 * 1024

/**
 * Reads the document in the body of a request and checks the body against the head, as `readDocument` does.
 * @param rest arguments of the reader after the body
 * @param checksum whether the checksum in the head covers the document
 * @throws as readDocument, the reader of the document and BigDocuments.read
 */
export async function documentOf<N extends DocumentName>(
  request: S3Request,
  name: N,
  rest: ReaderArguments<N>,
  checksum: 'of the body' | 'of something else' = 'of the body',
): Promise<DocumentOf<N>> {
  const body = await readDocument(request, checksum)
  if (body.length <= EVENT_LOOP_BYTES_MAXIMUM) return readBody(name, body, rest)
  const { http, identity } = request
  const job = { name, body, rest }
  return (await bigDocuments.read(identity?.principal ?? http.remoteAddress, http, job)) as DocumentOf<N>
}
