/** Requests for the specs of the wire modules: what a plane sees of HTTP, made from literals. */

import type { HeaderLine, HttpRequest } from '../../../planes/http/exchange.ts'
import { S3Error, type S3ErrorCode } from '../../../planes/s3/errors/s3-errors.ts'
import { NO_EXTENSIONS } from '../../../planes/objects/s3-extensions.ts'
import type { StoreFacts } from '../../../planes/s3/unsupported-headers.ts'
import { parseTarget, type Target } from '../../../planes/s3/request/target.ts'

/** A store without extensions. */
export const STRICT: StoreFacts = {
  extensions: NO_EXTENSIONS,
  owner: { id: 'owner', displayName: 'root' },
  encrypts: true,
}

export interface WireRequest {
  readonly request: HttpRequest
  readonly target: Target
}

/** @param rawTarget path and query as they stand in a request line */
export function wireRequest(method: string, rawTarget: string, headers: readonly HeaderLine[] = []): WireRequest {
  const mark = rawTarget.indexOf('?')
  const path = mark === -1 ? rawTarget : rawTarget.slice(0, mark)
  const query = mark === -1 ? '' : rawTarget.slice(mark + 1)
  const request: HttpRequest = {
    method,
    path,
    query,
    headers,
    header: (name) => {
      const values = headers.filter((line) => line[0] === name).map((line) => line[1])
      return values.length === 0 ? undefined : values.join(',')
    },
    remoteAddress: '127.0.0.1',
    secure: false,
    contentLength: undefined,
    body: {
      receivedBytes: 0,
      arrival: () => undefined,
      takeArrived: () => Buffer.alloc(0),
      readAll: () => Promise.resolve(Buffer.alloc(0)),
      pipe: () => Promise.resolve(),
    },
    onAborted: () => {},
    cut: () => {},
  }
  return { request, target: parseTarget(path, query) }
}

/** The S3Error that an action throws; any other outcome is an error of the spec. */
export function refusal(action: () => unknown): S3Error {
  try {
    action()
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** The code of the S3Error that an action throws, or undefined when it throws nothing. */
export function refusalCode(action: () => unknown): S3ErrorCode | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

export function detail(error: S3Error, name: string): string | undefined {
  return error.details.find((entry) => entry[0] === name)?.[1]
}
