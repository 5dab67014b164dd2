/** What every answer of the S3 plane must keep to, whatever was asked. */
import type { Test } from 'tap'
import { S3_ERRORS, type S3ErrorCode } from '../../planes/s3/errors/s3-errors.ts'
import { firstElement, type WireAnswer } from './wire-client.ts'

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
const REQUEST_ID = /^[0-9A-F]{18}$/
/** RFC 1123. */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** An error answer: code and status as the table says, and a document that clients can read. */
export function isError(t: Test, answer: WireAnswer, code: S3ErrorCode, name: string): void {
  t.equal(answer.code, code, name)
  t.equal(answer.status, S3_ERRORS[code].status, `${name}: status`)
  const { text, headers } = answer
  const id = String(headers['x-amz-request-id'])
  const wellFormed =
    text.startsWith(`${XML_DECLARATION}\n<Error><Code>`) &&
    text.endsWith('</HostId></Error>') &&
    !text.includes('xmlns') &&
    firstElement(text, 'Message') !== '' &&
    firstElement(text, 'RequestId') === id &&
    REQUEST_ID.test(id) &&
    DATE.test(String(headers.date)) &&
    headers['content-type'] === 'application/xml' &&
    answer.complete
  if (!wellFormed) t.fail(`${name}: the error document is wrong: ${JSON.stringify(headers)} ${text}`)
}

/** An answer without an error. */
export function isDone(t: Test, answer: WireAnswer, status: number, name: string): void {
  t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
  t.match(answer.headers['x-amz-request-id'], REQUEST_ID, `${name}: request id`)
  t.match(answer.headers.date, DATE, `${name}: date`)
  t.ok(answer.complete, `${name}: complete`)
}

/** The name of the error that a call of the SDK ends with, or 'no error'. */
export async function errorName(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'no error'
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}
