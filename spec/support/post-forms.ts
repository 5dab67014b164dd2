/** Forms of browsers as S3's pages have them, signed and encoded without a line of the server's code. */
import { createHmac } from 'node:crypto'
import { ACCESS_KEY, SECRET_KEY } from './test-clients.ts'

export const BOUNDARY = '----WebKitFormBoundaryAbC123'

export type Field = readonly [name: string, value: string]
export type Condition = Readonly<Record<string, unknown>> | readonly unknown[]

/** What makes a form. */
export interface FormOptions {
  readonly bucket: string
  /** Fields before those of the signature; each gets a condition that names its value. */
  readonly fields?: readonly Field[]
  /** Fields before the file that no condition names. */
  readonly uncovered?: readonly Field[]
  /** Beside those of the fields. */
  readonly conditions?: readonly Condition[]
  /** Instead of all. */
  readonly policy?: unknown
  /** Milliseconds since 1970. */
  readonly expires?: number
  readonly accessKey?: string
  readonly secretKey?: string
  readonly now?: number
}

/** The fields of a signed form, without its file (S3 developer guide, "Authenticating requests in browser-based uploads"). */
export function signedFields(options: FormOptions): Field[] {
  const { bucket, fields = [], uncovered = [], conditions = [], now = Date.now(), expires = now + 60_000 } = options
  const { accessKey = ACCESS_KEY, secretKey = SECRET_KEY } = options
  const date = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = date.slice(0, 8)
  const own: Field[] = [
    ['x-amz-algorithm', 'AWS4-HMAC-SHA256'],
    ['x-amz-credential', `${accessKey}/${day}/us-east-1/s3/aws4_request`],
    ['x-amz-date', date],
  ]
  const named = [...fields, ...own].map(([name, value]) => ({ [name]: value }))
  const document = options.policy ?? {
    expiration: new Date(expires).toISOString(),
    conditions: [{ bucket }, ...named, ...conditions],
  }
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const policy = Buffer.from(text).toString('base64')
  return [...fields, ...uncovered, ...own, ['policy', policy], ['x-amz-signature', signatureOf(policy, secretKey, day)]]
}

export function signatureOf(policy: string, secretKey: string, day: string): string {
  const key = [day, 'us-east-1', 's3', 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${secretKey}`,
  )
  return createHmac('sha256', key).update(policy).digest('hex')
}

/** A part as a browser writes it. */
export function partOf(name: string, value: Buffer | string, fileName?: string): Buffer {
  const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: text/x-ignored`
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')])
}

export const FORM_END = Buffer.from(`--${BOUNDARY}--\r\n`)

export interface FileOptions {
  readonly fileName?: string | undefined
  /** Fields after the file. */
  readonly after?: readonly Field[]
}

/** The body of a form. */
export function encodedForm(fields: readonly Field[], file: Buffer | string, options: FileOptions = {}): Buffer {
  const { fileName = 'a.txt', after = [] } = options
  const parts = fields.map(([name, value]) => partOf(name, value))
  return Buffer.concat([
    ...parts,
    partOf('file', file, fileName),
    ...after.map(([name, value]) => partOf(name, value)),
    FORM_END,
  ])
}

/** The lines of the head of a form beside its Host and length. */
export const FORM_HEAD: readonly Field[] = [['content-type', `multipart/form-data; boundary=${BOUNDARY}`]]
