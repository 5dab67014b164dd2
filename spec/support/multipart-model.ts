/** What a store with multipart uploads must answer, told in the simplest way there is: maps in memory. */
import { hash } from 'node:crypto'
import type { S3ErrorCode } from '../../planes/s3/errors.ts'
import { etagOfParts, PART_BYTES, type SentPart } from './multipart.ts'

/** An object or version of a key. */
export interface ModelObject {
  readonly bytes: Buffer
  /** Quotes included. */
  readonly etag: string
  /** The upload that made it; a copy was made by none. */
  readonly upload: string | undefined
}

interface ModelUpload {
  readonly key: string
  readonly parts: Map<number, Buffer>
  /** What it was completed with. */
  etag?: string
  state: 'open' | 'completed' | 'aborted'
}

/** One bucket. Where it keeps versions, none is ever deleted. */
export class MultipartModel {
  readonly keepsVersions: boolean
  readonly objects = new Map<string, ModelObject>()
  readonly uploads = new Map<string, ModelUpload>()
  readonly #versions = new Set<string>()

  constructor(keepsVersions: boolean) {
    this.keepsVersions = keepsVersions
  }

  begin(id: string, key: string): void {
    this.uploads.set(id, { key, parts: new Map(), state: 'open' })
  }

  openUploads(): string[] {
    return [...this.uploads].filter(([, upload]) => upload.state === 'open').map(([id]) => id)
  }

  /** @returns the error it must end with */
  writePart(id: string, number: number, body: Buffer): S3ErrorCode | undefined {
    const upload = this.uploads.get(id)
    if (upload?.state !== 'open') return 'NoSuchUpload'
    upload.parts.set(number, body)
    return undefined
  }

  abort(id: string): S3ErrorCode | undefined {
    const upload = this.uploads.get(id)
    if (upload?.state !== 'open') return 'NoSuchUpload'
    upload.state = 'aborted'
    return undefined
  }

  put(key: string, object: ModelObject): void {
    this.objects.set(key, object)
    if (object.upload !== undefined) this.#versions.add(object.upload)
  }

  /** Completes with the ETags that a client believes in. */
  complete(id: string, list: readonly SentPart[]): S3ErrorCode | undefined {
    const upload = this.uploads.get(id)
    if (upload === undefined || upload.state === 'aborted') return 'NoSuchUpload'
    const etag = etagOfParts(list)
    if (upload.state === 'completed') {
      return this.#isMade(id, upload) && upload.etag === etag ? undefined : 'NoSuchUpload'
    }
    const refusal = refusalOf(list, upload.parts)
    if (refusal !== undefined) return refusal
    upload.state = 'completed'
    upload.etag = etag
    const bytes = Buffer.concat(list.map(({ number }) => upload.parts.get(number) ?? Buffer.alloc(0)))
    this.put(upload.key, { bytes, etag, upload: id })
    return undefined
  }

  /** Whether what an upload made is still there. */
  #isMade(id: string, { key }: ModelUpload): boolean {
    return this.keepsVersions ? this.#versions.has(id) : this.objects.get(key)?.upload === id
  }
}

function refusalOf(list: readonly SentPart[], parts: ReadonlyMap<number, Buffer>): S3ErrorCode | undefined {
  if (list.length === 0) return 'MalformedXML'
  const numbers = list.map((part) => part.number)
  if (numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0))) return 'InvalidPartOrder'
  if (list.some(({ number, etag }) => etag !== plainEtag(parts.get(number)))) return 'InvalidPart'
  const small = numbers.slice(0, -1).some((number) => (parts.get(number)?.length ?? 0) < PART_BYTES)
  return small ? 'EntityTooSmall' : undefined
}

/** The ETag of bytes that were sent in one request, quotes included. */
export function plainEtag(body: Buffer | undefined): string {
  return body === undefined ? 'none' : `"${hash('md5', body, 'hex')}"`
}
