/** The 501 of an operation, and what its record keeps of any 501. */
import { boundedText } from '../../engine/events/bounded-text.ts'
import { turnOn } from '../objects/s3-extensions.ts'
import { sentence } from './errors/client-hints.ts'
import { S3Error } from './errors/s3-errors.ts'
import type { Operation } from './handling/operation.ts'
import type { Unsupported } from './telemetry.ts'

/** Of the refused header of a 501 in log and record. A header that matches a refused prefix can be long. */
const REFUSED_BYTES_MAXIMUM = 64
/** Of the reason of a 501, which is the message of the answer. */
const REASON_BYTES_MAXIMUM = 512

export function notSupported({ name, instead, extension, subresource, mark }: Operation): S3Error {
  const ways = [extension && sentence(turnOn(extension)), instead].filter((way) => way !== undefined)
  const message = [`${name} is not supported by this server.`, ...ways].join(' ')
  const parameter = subresource ?? mark?.query
  const header = mark?.query === undefined ? mark?.header : undefined
  return new S3Error('NotImplemented', { message, refused: header ?? (parameter && `?${parameter}`) })
}

export function unsupportedOf({ refused, message }: S3Error): Unsupported {
  return {
    refused: refused === undefined ? undefined : boundedText(refused, REFUSED_BYTES_MAXIMUM),
    reason: boundedText(message, REASON_BYTES_MAXIMUM),
  }
}
