/** UploadPartCopy: all bytes of a version or a range of them. */
import { hash } from 'node:crypto'
import type { Command } from '../../../engine/commands/commands.ts'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import * as uploads from '../../support/upload-commands.ts'
import { firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type ErrorCode, type Operation, refusals, targetOf } from '../expectation.ts'
import type { ModelState, ModelVersion } from '../state.ts'
import { onBucket, sameText } from './buckets.ts'
import { byRules, orRefused, type VersionName } from './by-rules.ts'
import { type CopyRequest, sourceHeader, sourceLines, sourceOf } from './copies.ts'
import { isPartNumber, numbered, type UploadName } from './multipart.ts'
import { isRefusal, judge } from './reads.ts'

/** First and last byte. */
type Range = readonly [first: number, last: number]

export interface PartCopyRequest extends Pick<CopyRequest, 'sourceConditions'> {
  readonly name: UploadName
  readonly number: number
  readonly source: VersionName
  readonly range: Range | undefined
}

export function copyPart(copy: PartCopyRequest): Operation {
  const { name, number, source, range, sourceConditions } = copy
  const { bucket, key, uploadId } = name
  return {
    request: {
      method: 'PUT',
      target: targetOf(bucket, key, { partNumber: number, uploadId }),
      headers: [...sourceLines(copy), ...rangeLines(range)],
    },
    outcomes: onBucket(bucket, (world, _bucket, moment) => {
      const own: ErrorCode[] = isPartNumber(number) ? [] : ['InvalidArgument']
      const found = sourceOf(world, source)
      if (isRefusal(found)) {
        const ruled = byRules(
          () => writing(world, name, number, Buffer.alloc(0)),
          () => ({ status: 200 }),
        )
        return orRefused(world, [...refusals(world, own), ...found], ruled(world, moment))
      }
      if (judge(found, sourceConditions, moment.clock) !== 'passed') own.push('PreconditionFailed')
      const bytes = bytesOf(found, range)
      if (bytes === undefined) own.push('InvalidArgument')
      const ruled = byRules(
        () => commandOf(world, copy, found, bytes ?? Buffer.alloc(0)),
        ({ time }) => {
          const check = ({ text }: WireAnswer) =>
            sameText(
              [firstElement(text, 'ETag'), firstElement(text, 'LastModified')],
              [`"${hash('md5', bytes ?? '', 'hex')}"`, new Date(time).toISOString()],
            )
          return { status: 200, headers: sourceHeader(world, source), check }
        },
      )
      return orRefused(world, own, ruled(world, moment))
    }),
  }
}

/** A source that was written whole is shared; of any other the bytes are. */
function commandOf(world: ModelState, copy: PartCopyRequest, found: ModelVersion, bytes: Buffer): Command {
  const { name, number, source, range } = copy
  const isWhole = range === undefined || bytes.length === found.size
  if (!isWhole || found.payload?.kind === 'parts') return writing(world, name, number, bytes)
  const from = { bucket: source.bucket, key: source.key, sequence: found.sequence }
  return uploads.copyPart(numbered(world, name), number, from, source.versionId !== undefined)
}

function writing(world: ModelState, name: UploadName, number: number, bytes: Buffer): Command {
  const command = uploads.writePart(numbered(world, name), number, Buffer.alloc(0))
  const body =
    bytes.length === 0 ? ({ kind: 'empty' } as const) : ({ kind: 'inline', bytes, checksum: 0, sealed: false } as const)
  return { ...command, size: bytes.length, etag: hash('md5', bytes, 'hex'), body }
}

/** Undefined for a range that is not inside the source. */
function bytesOf({ payload }: ModelVersion, range: Range | undefined): Buffer | undefined {
  const bytes = payload?.bytes ?? Buffer.alloc(0)
  if (range === undefined) return bytes
  const [first, last] = range
  return first <= last && last < bytes.length ? bytes.subarray(first, last + 1) : undefined
}

function rangeLines(range: Range | undefined): HeaderLine[] {
  return range === undefined ? [] : [['x-amz-copy-source-range', `bytes=${range[0]}-${range[1]}`]]
}
