/** The optional body of CreateBucket. */

import { S3Error } from './errors.ts'
import { childText, expectOnly, readXml } from './xml-reader.ts'

export interface CreateBucketConfiguration {
  /** The region asked for; undefined when the request names none. */
  readonly locationConstraint: string | undefined
}

/** Any region is accepted that can stand in the x-amz-bucket-region header. */
const REGION = /^[\x21-\x7e]{1,255}$/

/** Elements of the document that ask for what this store does not have. */
const UNSUPPORTED: readonly string[] = ['Location', 'Bucket', 'Tags']

/** @throws S3Error MalformedXML, MaxMessageLengthExceeded, InvalidLocationConstraint, NotImplemented */
export function parseCreateBucketConfiguration(body: Buffer, bytesMaximum: number): CreateBucketConfiguration {
  if (body.length === 0) return { locationConstraint: undefined }
  const root = readXml(body, { root: 'CreateBucketConfiguration', bytesMaximum })
  const unsupported = UNSUPPORTED.find((name) => root.children.has(name))
  if (unsupported !== undefined) {
    throw new S3Error('NotImplemented', { message: `${unsupported} in CreateBucketConfiguration is not supported.` })
  }
  expectOnly(root, ['LocationConstraint'])
  const region = childText(root, 'LocationConstraint') || undefined
  if (region !== undefined && !REGION.test(region)) {
    throw new S3Error('InvalidLocationConstraint', { details: [['LocationConstraint', region]] })
  }
  return { locationConstraint: region }
}
