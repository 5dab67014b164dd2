import type { Milliseconds } from '../../engine/brands.ts'
import { boundedRequest } from './bounded-post.ts'
import { LOCK_BYTES_MAXIMUM, LockError, type LockPlace } from './lock-place.ts'
import { type S3Credential, signRequest } from './sign-request.ts'

interface S3LockOptions extends S3Credential {
  /** Without a path. */
  readonly endpoint: string
  readonly bucket: string
  /** Before the name of the log; empty, or with a slash at its end. */
  readonly prefix: string
  readonly clock: () => Milliseconds
}

const ETAG = /^"[!#-~]{1,128}"$/
/** Of PutObject: the condition does not hold, or another write is running. */
const CHANGED: readonly number[] = [409, 412]

/** A lock in a bucket of another S3: conditional writes with If-Match and If-None-Match. */
export class S3Lock implements LockPlace {
  readonly name: string
  readonly #options: S3LockOptions

  constructor(options: S3LockOptions) {
    this.name = `s3://${`${options.bucket}/${options.prefix}`.replace(/\/$/, '')}`
    this.#options = options
  }

  async read(log: string, signal: AbortSignal): ReturnType<LockPlace['read']> {
    const { status, headers, body } = await this.#send('GET', log, {}, new Uint8Array(0), signal)
    const code = codeOf(body)
    if (status === 404 && code === 'NoSuchKey') return undefined
    if (status !== 200) throw refused(status, code)
    return { text: body.toString(), tag: etagOf(headers['etag']) }
  }

  async write(log: string, text: string, tag: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const condition = tag === undefined ? { 'if-none-match': '*' } : { 'if-match': tag }
    const headers = { ...condition, 'content-type': 'text/plain; charset=utf-8' }
    const answer = await this.#send('PUT', log, headers, Buffer.from(text), signal)
    if (CHANGED.includes(answer.status)) return undefined
    if (answer.status !== 200) throw refused(answer.status, codeOf(answer.body))
    return etagOf(answer.headers['etag'])
  }

  #send(
    method: 'GET' | 'PUT',
    log: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    signal: AbortSignal,
  ): ReturnType<typeof boundedRequest> {
    const { endpoint, bucket, prefix, clock } = this.#options
    const url = new URL(endpoint)
    const path = `/${bucket}/${prefix}${log}`
    const signed = signRequest({ method, host: url.host, path, headers, body }, this.#options, clock())
    return boundedRequest(url, { method, path, headers: signed, body, bytesMaximum: LOCK_BYTES_MAXIMUM, signal })
  }
}

function etagOf(etag: string | undefined): string {
  if (etag !== undefined && ETAG.test(etag)) return etag
  throw new LockError('the store of the lock answered without an ETag')
}

function codeOf(body: Buffer): string | undefined {
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body.toString())?.[1]
}

function refused(status: number, code: string | undefined): LockError {
  return new LockError(`the store of the lock answered with HTTP ${status}${code === undefined ? '' : ` (${code})`}`)
}
