import type { HeaderLine, HttpResponse } from '../../http/exchange.ts'
import { BodyChecks } from '../bodies/body-checks.ts'
import { postResponse } from '../documents/post-response.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { isFormType } from '../forms/form-parts.ts'
import { requireBucket, requireLockable } from '../handling/lookup.ts'
import { operationOf, PUT_BYTES_MAXIMUM } from '../handling/operation.ts'
import type { ObjectRequest } from '../handling/s3-request.ts'
import { writtenVersionHeader } from '../handling/version-headers.ts'
import { LOCK_HEADERS, requestedLock } from '../request/lock-headers.ts'
import { requestedTags, TAGGING } from '../request/tags.ts'
import { encodeUri } from '../text/uri-encoding.ts'
import { writeObject } from './put-object.ts'

/**
 * S3 developer guide, "POST Object": a form of a browser, which writes its file as PutObject does. The plane has read the fields,
 * checked the signature and judged the policy; `request.http` has the fields as headers.
 */
export const postObject = operationOf({
  name: 'PostObject',
  method: 'POST',
  level: 'bucket',
  extension: 'post-object',
  action: 's3:PutObject',
  isForm: true,
  bodyBytesMaximum: PUT_BYTES_MAXIMUM,
  headers: [...LOCK_HEADERS, TAGGING],
  instead: 'Or have the browser send a PutObject with a presigned URL.',
  async handle(request, services) {
    const { http, target, form } = request
    if (form === undefined) throw notSigned(request)
    const bucket = requireBucket(request, services)
    const checks = new BodyChecks(http, { kind: 'unsigned' })
    const lock = requireLockable(bucket, requestedLock(http, target, services.clock()))
    const tags = requestedTags(http, target)
    const upload = { body: form.file, length: { atMost: form.file.bytesMaximum }, checks }
    const { done, received } = await writeObject(request, services, upload, lock, tags)
    const { etag } = received
    const headers: HeaderLine[] = [['etag', `"${etag}"`], ...writtenVersionHeader(done.version, services)]
    const { declared } = checks
    if (declared !== undefined) headers.push([declared.header, declared.text])
    return answer(request, etag, headers)
  },
})

/** The refusal of a request whose head is signed: a form has its signature in its fields. */
function notSigned({ http }: ObjectRequest): S3Error {
  if (isFormType(http.header('content-type'))) {
    const message = 'A form is signed by its field policy, not in the head of the request.'
    return invalidArgument('Authorization', '', message)
  }
  return enclosureError()
}

/** S3's refusal of a POST to a bucket whose body is not a form. */
function enclosureError(): S3Error {
  const details = [['Condition', 'Bucket POST must be of the enclosure-type multipart/form-data']] as const
  return new S3Error('PreconditionFailed', { details })
}

/** 303 to where the form asks for, else the status that it asks for: 200, 201 with a document, or 204. */
function answer(request: ObjectRequest, etag: string, headers: readonly HeaderLine[]): HttpResponse {
  const { http, target, bucket, key, form } = request
  const fields = form?.fields
  const place = redirection(fields?.get('success_action_redirect') ?? fields?.get('redirect'), bucket, key, etag)
  if (place !== undefined) return { status: 303, headers: [...headers, ['location', place]] }
  const location = `${http.secure ? 'https' : 'http'}://${http.header('host') ?? ''}${target.canonicalPath}`
  const lines: HeaderLine[] = [...headers, ['location', location]]
  switch (fields?.get('success_action_status')) {
    case '200':
      return { status: 200, headers: lines }
    case '201':
      return {
        status: 201,
        headers: [['content-type', 'application/xml'], ...lines],
        body: postResponse({ location, bucket, key, etag }),
      }
    default:
      return { status: 204, headers: lines }
  }
}

/** The URL with bucket, key and ETag added to its query; undefined unless it is an absolute URL of HTTP, as if it were not there. */
function redirection(text: string | undefined, bucket: string, key: string, etag: string): string | undefined {
  // Not URL.parse, which not each Node.js 20 has: the object is stored by now, and nothing may throw.
  if (text === undefined || !/^https?:/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const { hash } = url
  url.hash = ''
  const added = `bucket=${encodeUri(bucket, false)}&key=${encodeUri(key, false)}&etag=%22${etag}%22`
  return `${url.href}${url.search === '' ? '?' : '&'}${added}${hash}`
}
