import { element, XML_DECLARATION } from '../text/xml-writer.ts'

interface PostResponse {
  /** The URL of the object. */
  readonly location: string
  readonly bucket: string
  readonly key: string
  /** Without quotes. */
  readonly etag: string
}

/** S3 developer guide, "POST Object", response elements. S3 gives this document no namespace. */
export function postResponse({ location, bucket, key, etag }: PostResponse): string {
  const place = element('Location', location) + element('Bucket', bucket) + element('Key', key)
  return `${XML_DECLARATION}<PostResponse>${place}${element('ETag', `"${etag}"`)}</PostResponse>`
}
