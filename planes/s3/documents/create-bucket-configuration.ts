import { S3Error } from '../errors/s3-errors.ts'
import { childText, expectOnly, readXml } from '../text/xml-reader.ts'

/** Any region that is valid in the x-amz-bucket-region header. */
const REGION = /^[\x21-\x7e]{1,255}$/

/** Elements of the document for features that this store does not have. */
const UNSUPPORTED: readonly string[] = ['Location', 'Bucket', 'Tags']

/**
 * The region in the body of CreateBucket, which may be empty; undefined without one.
 * @throws S3Error MalformedXML, InvalidLocationConstraint, NotImplemented
 */
export function parseCreateBucketConfiguration(body: Buffer): string | undefined {
  if (body.length === 0) return undefined
  const root = readXml(body, 'CreateBucketConfiguration')
  const unsupported = UNSUPPORTED.find((name) => root.children.has(name))
  if (unsupported !== undefined) {
    throw new S3Error('NotImplemented', { message: `${unsupported} in CreateBucketConfiguration is not supported.` })
  }
  expectOnly(root, ['LocationConstraint'])
  const region = childText(root, 'LocationConstraint') || undefined
  if (region === undefined || REGION.test(region)) return region
  throw new S3Error('InvalidLocationConstraint', { details: [['LocationConstraint', region]] })
}
