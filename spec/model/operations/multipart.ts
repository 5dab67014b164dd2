/** Multipart uploads from their creation to completion or abortion. */
import type { WriteCondition } from '../../../engine/commands/spine-commands.ts'
import type { HeaderPairs } from '../../../engine/events/values.ts'
import * as uploads from '../../support/upload-commands.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import type { Content } from '../content.ts'
import { type ErrorCode, type HeaderRule, type Operation, targetOf } from '../expectation.ts'
import type { ModelBucket, ModelState, ModelUpload } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { byRules, orRefused } from './by-rules.ts'
import {
  type AskedLock,
  bodyOf,
  conditionHeaders,
  lockHeaders,
  lockOf,
  newVersionId,
  storedHeaderLines,
  tagHeaders,
  UNCONDITIONAL,
} from './writes.ts'

const PART_NUMBER_MAXIMUM = 10_000
/** The number of an upload that is not there. */
const MISSING = 7_000_000

export interface UploadName {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
}

export function createUpload(
  bucket: string,
  key: string,
  headers: HeaderPairs,
  lock: AskedLock,
  tags?: readonly string[],
): Operation {
  const tagged = tags === undefined ? {} : { tags }
  return {
    request: {
      method: 'POST',
      target: `${targetOf(bucket, key)}?uploads`,
      headers: [...storedHeaderLines(headers), ...tagHeaders(tags), ...lockHeaders(lock)],
    },
    outcomes: byRules(
      () => ({ ...uploads.createUpload(bucket, key), headers, ...lockOf(lock), ...tagged }),
      ({ before }) => {
        const known = [...before.uploads.values(), ...before.completions.map(({ upload }) => upload)]
        const check = ({ text }: WireAnswer) => {
          const id = firstElement(text, 'UploadId')
          if (id === undefined || id === '' || known.some((other) => other.id === id)) return `upload id ${id}: not new`
          return sameText([firstElement(text, 'Bucket'), firstElement(text, 'Key')], [bucket, key])
        }
        return { status: 200, check }
      },
      (after, answer) => {
        const made = after.uploads.get(after.sequence)
        if (made !== undefined) made.id = firstElement(answer.text, 'UploadId')
      },
    ),
  }
}

export function uploadPart(name: UploadName, number: number, content: Content): Operation {
  const { bucket, key, uploadId } = name
  const { bytes, md5 } = content
  const stored = { size: bytes.length, etag: md5, body: bodyOf(content) }
  const ruled = byRules(
    (world) => ({ ...uploads.writePart(numbered(world, name), number, Buffer.alloc(0)), ...stored }),
    () => ({ status: 200, headers: { etag: `"${md5}"` } }),
  )
  const own: ErrorCode[] = isPartNumber(number) ? [] : ['InvalidArgument']
  return {
    request: { method: 'PUT', target: targetOf(bucket, key, { partNumber: number, uploadId }), body: content },
    outcomes: onBucket(bucket, (world, _bucket, moment) => orRefused(world, own, ruled(world, moment))),
  }
}

export function isPartNumber(number: number): boolean {
  return number >= 1 && number <= PART_NUMBER_MAXIMUM
}

export function abortUpload(name: UploadName): Operation {
  const { bucket, key, uploadId } = name
  return {
    request: { method: 'DELETE', target: targetOf(bucket, key, { uploadId }) },
    outcomes: byRules(
      (world) => uploads.abortUpload(numbered(world, name)),
      () => ({ status: 204 }),
    ),
  }
}

export function completeUpload(
  name: UploadName,
  list: readonly uploads.ListedPart[],
  condition: WriteCondition = UNCONDITIONAL,
): Operation {
  const { bucket, key, uploadId } = name
  const parts = list.map(({ part, etag }) => `<Part><PartNumber>${part}</PartNumber><ETag>"${etag}"</ETag></Part>`)
  const ruled = byRules(
    (world) => uploads.completeUpload(numbered(world, name), list, condition),
    (carried) => {
      const { before, outcome } = carried
      const expected = [bucket, key, `"${outcome.etag}"`]
      const check = ({ text }: WireAnswer) =>
        sameText([firstElement(text, 'Bucket'), firstElement(text, 'Key'), firstElement(text, 'ETag')], expected)
      const isRepeated = uploadOf(before, before.buckets.get(bucket), name) === undefined
      const headers: Record<string, HeaderRule> = isRepeated ? {} : { 'x-amz-version-id': newVersionId(carried) }
      return { status: 200, headers, check }
    },
  )
  return {
    request: {
      method: 'POST',
      target: targetOf(bucket, key, { uploadId }),
      headers: conditionHeaders(condition),
      body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
    },
    outcomes: onBucket(bucket, (world, there, moment) => {
      // The list is read before anything else, but it is not said whether before the upload is looked for.
      const own = formRefusals(list)
      const isOpen = uploadOf(world, there, name) !== undefined
      return own.length > 0 && isOpen ? orRefused(world, own, []) : orRefused(world, own, ruled(world, moment))
    }),
  }
}

function formRefusals(list: readonly uploads.ListedPart[]): ErrorCode[] {
  if (list.length === 0) return ['MalformedXML']
  const isAscending = list.every(({ part }, index) => part > (list[index - 1]?.part ?? 0))
  return isAscending ? [] : ['InvalidPartOrder']
}

/** The upload in progress that a request names. */
export function uploadOf(
  world: ModelState,
  bucket: ModelBucket | undefined,
  { key, uploadId }: UploadName,
): ModelUpload | undefined {
  return world.uploadsOf(bucket?.id ?? 0).find((upload) => upload.id === uploadId && upload.key === key)
}

/** An upload as commands name it, in progress or completed. */
export function numbered(world: ModelState, { bucket, key, uploadId }: UploadName): uploads.UploadName {
  const all = [...world.uploads.values(), ...world.completions.map(({ upload }) => upload)]
  return { bucket, key, upload: all.find(({ id }) => id === uploadId)?.upload ?? MISSING }
}
