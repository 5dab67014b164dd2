/** Multipart uploads from their creation to completion or abortion. */
import { hash } from 'node:crypto'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import type { Content } from '../content.ts'
import { type ErrorCode, type Operation, type Outcome, refusals, targetOf } from '../expectation.ts'
import { type AskedLock, askedLockRefusals, lockAtBirth, lockHeaders } from '../lock-rules.ts'
import {
  type Bucket,
  type Moment,
  type StoredHeaders,
  type Upload,
  versionsOf,
  withBucket,
  withCompletion,
  type World,
} from '../model-state.ts'
import { writeVersion } from '../version-rules.ts'
import { onBucket, sameText } from './buckets.ts'
import {
  conditionHeaders,
  conditionRefusals,
  newVersionId,
  storedHeaderLines,
  versionIdOf,
  type WriteCondition,
} from './writes.ts'

/** Bytes that every part but the last must have. */
export const PART_BYTES_MINIMUM = 5 * 1024 ** 2
const PART_NUMBER_MAXIMUM = 10_000

export interface UploadName {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
}

export function createUpload(name: string, key: string, headers: StoredHeaders, lock: AskedLock): Operation {
  return {
    request: {
      method: 'POST',
      target: `${targetOf(name, key)}?uploads`,
      headers: [...storedHeaderLines(headers), ...lockHeaders(lock)],
    },
    outcomes: onBucket(name, (world, bucket, moment) => {
      const reasons = askedLockRefusals(bucket, lock, moment)
      if (reasons.length > 0) return refusals(world, reasons)
      const { mode, until, hold } = lock
      const retention = mode === undefined || until === undefined ? undefined : { mode, until }
      const upload = { key, headers, retention, hold, created: moment.now, parts: new Map(), serial: world.serial }
      const check = ({ text }: WireAnswer) => {
        const id = firstElement(text, 'UploadId')
        const isKnown = bucket.uploads.some((other) => other.id === id) || bucket.completions.has(id ?? '')
        if (id === undefined || id === '' || isKnown) return `the upload id ${id} is not new`
        return sameText([firstElement(text, 'Bucket'), firstElement(text, 'Key')], [name, key])
      }
      const next = (answer: WireAnswer | undefined) => {
        const id = answer === undefined ? undefined : firstElement(answer.text, 'UploadId')
        const uploads = [...bucket.uploads, { ...upload, id }]
        return withBucket({ ...world, serial: world.serial + 1 }, name, { ...bucket, uploads })
      }
      return [{ pattern: { status: 200, check }, next }]
    }),
  }
}

export function uploadPart(upload: UploadName, number: number, content: Content): Operation {
  const { bucket: name, key, uploadId } = upload
  return {
    request: { method: 'PUT', target: targetOf(name, key, { partNumber: number, uploadId }), body: content },
    outcomes: onBucket(name, (world, bucket, { now }) => {
      const found = uploadOf(bucket, upload)
      const reasons: ErrorCode[] = found === undefined ? ['NoSuchUpload'] : []
      if (number < 1 || number > PART_NUMBER_MAXIMUM) reasons.push('InvalidArgument')
      if (found === undefined || reasons.length > 0) return refusals(world, reasons)
      const { bytes, md5 } = content
      const parts = new Map(found.parts).set(number, { bytes, md5, modified: now })
      const next = () => withBucket(world, name, replaceUpload(bucket, found, { ...found, parts }))
      return [{ pattern: { status: 200, headers: { etag: `"${md5}"` } }, next }]
    }),
  }
}

export function abortUpload(upload: UploadName): Operation {
  const { bucket: name, key, uploadId } = upload
  return {
    request: { method: 'DELETE', target: targetOf(name, key, { uploadId }) },
    outcomes: onBucket(name, (world, bucket) => {
      const found = uploadOf(bucket, upload)
      if (found === undefined) return refusals(world, ['NoSuchUpload'])
      return [
        { pattern: { status: 204 }, next: () => withBucket(world, name, replaceUpload(bucket, found, undefined)) },
      ]
    }),
  }
}

/** A part as the list of a completion names it. */
export interface ListedPart {
  readonly number: number
  /** Without quotes. */
  readonly etag: string
}

export function completeUpload(
  upload: UploadName,
  list: readonly ListedPart[],
  condition: WriteCondition = 'none',
): Operation {
  const { bucket: name, key, uploadId } = upload
  const parts = list.map(({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`)
  return {
    request: {
      method: 'POST',
      target: targetOf(name, key, { uploadId }),
      headers: conditionHeaders(condition),
      body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
    },
    outcomes: onBucket(name, (world, bucket, moment) => {
      const found = uploadOf(bucket, upload)
      if (found === undefined) return completedBefore(world, bucket, upload, list)
      const reasons = listRefusals(found, list)
      if (reasons.length === 0) reasons.push(...conditionRefusals(bucket, key, condition))
      if (reasons.length > 0) return refusals(world, reasons)
      return [completed(world, bucket, found, upload, list, moment)]
    }),
  }
}

/** A client whose answer was lost asks again, and is told the same while the object is there. */
function completedBefore(
  world: World,
  bucket: Bucket,
  { bucket: name, key, uploadId }: UploadName,
  list: readonly ListedPart[],
): readonly Outcome[] {
  const done = bucket.completions.get(uploadId)
  const version = versionsOf(bucket, key).find(({ serial }) => serial === done?.serial)
  if (done === undefined || done.key !== key || version === undefined || done.list !== textOf(list)) {
    // What is wrong with the list itself may be told first.
    return refusals(world, ['NoSuchUpload', ...formRefusals(list)])
  }
  return [{ pattern: { status: 200, check: completionCheck(name, key, done.etag) }, next: () => world }]
}

function completed(
  world: World,
  bucket: Bucket,
  found: Upload,
  { bucket: name, key, uploadId }: UploadName,
  list: readonly ListedPart[],
  { now }: Moment,
): Outcome {
  const parts = list.flatMap(({ number }) => found.parts.get(number) ?? [])
  const md5s = Buffer.concat(parts.map(({ md5 }) => Buffer.from(md5, 'hex')))
  const etag = `${hash('md5', md5s, 'hex')}-${parts.length}`
  const bytes = joined(parts.map((part) => part.bytes))
  const { headers, retention, hold } = found
  const born = lockAtBirth(bucket, { ...retention, hold }, now)
  const version = { isMarker: false, bytes, etag, headers, modified: now, ...born }
  const completion = { key, list: textOf(list), etag, serial: world.serial }
  const left = withCompletion(replaceUpload(bucket, found, undefined), uploadId, completion)
  return {
    pattern: {
      status: 200,
      headers: { 'x-amz-version-id': newVersionId(world, bucket) },
      check: completionCheck(name, key, etag),
    },
    next: (answer) => writeVersion(withBucket(world, name, left), name, key, version, versionIdOf(answer)),
  }
}

/** Large parts are few and the same: what was joined once is kept, as long as anybody holds on to its first part. */
const joins = new WeakMap<Buffer, Map<string, Buffer>>()

function joined(buffers: readonly Buffer[]): Buffer {
  const [first] = buffers
  if (first === undefined || buffers.length === 1) return first ?? Buffer.alloc(0)
  const known = joins.get(first) ?? new Map<string, Buffer>()
  joins.set(first, known)
  const name = hash('sha1', Buffer.concat(buffers.slice(1)), 'hex')
  const bytes = known.get(name) ?? Buffer.concat(buffers)
  known.set(name, bytes)
  return bytes
}

function completionCheck(name: string, key: string, etag: string): (answer: WireAnswer) => string | undefined {
  return ({ text }) =>
    sameText(
      [firstElement(text, 'Bucket'), firstElement(text, 'Key'), firstElement(text, 'ETag')],
      [name, key, `"${etag}"`],
    )
}

/** In the order of s3-wire: the list itself, then each part of it, then their sizes. */
function listRefusals(upload: Upload, list: readonly ListedPart[]): ErrorCode[] {
  const form = formRefusals(list)
  if (form.length > 0) return form
  if (list.some(({ number, etag }) => upload.parts.get(number)?.md5 !== etag)) return ['InvalidPart']
  const isSmall = ({ number }: ListedPart) => (upload.parts.get(number)?.bytes.length ?? 0) < PART_BYTES_MINIMUM
  return list.slice(0, -1).some(isSmall) ? ['EntityTooSmall'] : []
}

function formRefusals(list: readonly ListedPart[]): ErrorCode[] {
  if (list.length === 0) return ['MalformedXML']
  const isAscending = list.every(({ number }, index) => number > (list[index - 1]?.number ?? 0))
  return isAscending ? [] : ['InvalidPartOrder']
}

function textOf(list: readonly ListedPart[]): string {
  return list.map(({ number, etag }) => `${number}:${etag}`).join()
}

export function uploadOf(bucket: Bucket, { key, uploadId }: UploadName): Upload | undefined {
  return bucket.uploads.find((other) => other.id === uploadId && other.key === key)
}

function replaceUpload(bucket: Bucket, found: Upload, replacement: Upload | undefined): Bucket {
  return { ...bucket, uploads: bucket.uploads.flatMap((other) => (other === found ? (replacement ?? []) : other)) }
}
