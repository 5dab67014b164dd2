/** DeleteObjects over the wire: its document, its digest, and what the answer says of each key. */
import { hash } from 'node:crypto'
import type { HeaderLine } from '../../planes/http/exchange.ts'
import { escapeXml } from '../../planes/s3/text/xml-writer.ts'
import type { TestServer } from './test-clients.ts'
import { firstElement, type RawRequest, type WireAnswer } from './wire-client.ts'

/** A key as a request names it; members are written as they are, when they are given. */
export interface WireDeletion {
  readonly Key?: string
  readonly VersionId?: string
  readonly ETag?: string
  readonly LastModifiedTime?: string
  readonly Size?: string
}

export interface BatchOptions {
  readonly quiet?: boolean
  readonly headers?: readonly HeaderLine[]
  readonly sign?: RawRequest['sign']
}

/** What the answer says of one key; `deleted` with the id of the marker, where there is one. */
export type WireDeleted =
  | { readonly key: string; readonly versionId?: string; readonly deleted: true; readonly markerId?: string }
  | { readonly key: string; readonly versionId?: string; readonly code: string; readonly message: string }

export function deletionDocument(deletions: readonly WireDeletion[], quiet?: boolean): string {
  const objects = deletions.map((deletion) => {
    const members = Object.entries(deletion).map(([name, text]) => `<${name}>${escapeXml(text)}</${name}>`)
    return `<Object>${members.join('')}</Object>`
  })
  return `<Delete>${quiet === undefined ? '' : `<Quiet>${quiet}</Quiet>`}${objects.join('')}</Delete>`
}

/** Header lines that say what the body must be. */
export function digestOf(body: string | Buffer): HeaderLine {
  return ['content-md5', hash('md5', Buffer.from(body), 'base64')]
}

/** Sends a document as it is, with the digest that S3 demands. */
export function sendDeletions(
  server: Pick<TestServer, 'raw'>,
  bucket: string,
  body: string | Buffer,
  { headers = [], sign }: BatchOptions = {},
): Promise<WireAnswer> {
  const signing = sign === undefined ? {} : { sign }
  return server.raw('POST', `/${bucket}?delete`, { body, headers: [digestOf(body), ...headers], ...signing })
}

/** Deletes keys and reads the answer. @throws when it is not one of DeleteObjects */
export async function removeAll(
  server: Pick<TestServer, 'raw'>,
  bucket: string,
  deletions: readonly WireDeletion[],
  options: BatchOptions = {},
): Promise<WireDeleted[]> {
  const answer = await sendDeletions(server, bucket, deletionDocument(deletions, options.quiet), options)
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return deletedIn(answer.text)
}

/** What a DeleteResult says, in the order of the document. */
export function deletedIn(xml: string): WireDeleted[] {
  const found = [...xml.matchAll(/<(Deleted|Error)>([^]*?)<\/\1>/g)]
  return found.map(([, kind, inner = '']) => {
    const versionId = firstElement(inner, 'VersionId')
    const name = { key: firstElement(inner, 'Key') ?? '', ...(versionId !== undefined && { versionId }) }
    if (kind === 'Error') {
      return { ...name, code: firstElement(inner, 'Code') ?? '', message: firstElement(inner, 'Message') ?? '' }
    }
    const markerId = firstElement(inner, 'DeleteMarkerVersionId')
    if ((markerId !== undefined) !== (firstElement(inner, 'DeleteMarker') === 'true')) {
      throw new Error(`a marker that contradicts itself: ${inner}`)
    }
    return { ...name, deleted: true, ...(markerId !== undefined && { markerId }) }
  })
}
