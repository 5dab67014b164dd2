import { createHmac, hash } from 'node:crypto'
import type { Milliseconds } from '../../engine/brands.ts'

/** Credential that signs an S3 request. */
export interface S3Credential {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
}

interface UnsignedRequest {
  readonly method: string
  /** With its port, as the Host header has it. */
  readonly host: string
  /** Of characters that need no encoding. */
  readonly path: string
  /** Lower-case names. All are signed. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * The headers of a request, with the headers of AWS Signature Version 4 (S3 API reference, "Authenticating Requests").
 */
export function signRequest(
  { method, host, path, headers, body }: UnsignedRequest,
  { accessKey, secretKey, region }: S3Credential,
  now: Milliseconds,
): Readonly<Record<string, string>> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const digest = hash('sha256', body, 'hex')
  const sent: Record<string, string> = { ...headers, host, 'x-amz-content-sha256': digest, 'x-amz-date': time }
  const names = Object.keys(sent).sort()
  const lines = names.map((name) => `${name}:${sent[name]}\n`).join('')
  const canonical = `${method}\n${path}\n\n${lines}\n${names.join(';')}\n${digest}`
  const scope = `${day}/${region}/s3/aws4_request`
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretKey}`)
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical, 'hex')}`).toString(
    'hex',
  )
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...sent, authorization }
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
