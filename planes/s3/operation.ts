import type { HttpResponse } from '../http/exchange.ts'
import type { BucketRequest, ObjectRequest, S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import type { Extension, Extensions } from '../objects/s3-extensions.ts'

export type Level = 'service' | 'bucket' | 'object'
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

/** A query parameter (with a certain value, if one is given) or a header that must be there. */
type Mark =
  | { readonly query: string; readonly value?: string }
  | { readonly header: string; readonly query?: undefined }

type Handler<Request> = (request: Request, services: S3Services) => HttpResponse | Promise<HttpResponse>

/** An operation of the S3 API: recognizer, authorizer, metrics, audit records and pages read these values. */
export interface Operation {
  /** The name in the S3 API reference. */
  readonly name: string
  readonly method: Method
  readonly level: Level
  /** The query parameter that selects this operation, such as `acl`; undefined for the plain resource. */
  readonly subresource: string | undefined
  /** A further mark that tells it from others of the same method, level and subresource. */
  readonly mark: Mark | undefined
  /** The permission that policies grant or deny, such as `s3:GetObject`. */
  readonly action: string
  /** The permission when the request names a version, where it is another one. */
  readonly versionAction: string | undefined
  /** Further permissions that it needs on what it names. */
  readonly besides: readonly string[]
  /** Another permission that grants the same, unless the one above is denied. */
  readonly coveredBy: string | undefined
  /**
   * Whether its permissions are those of each key that its body names, which the handler judges: nothing is asked of the
   * bucket then, and a request without any of them is let in.
   */
  readonly judgesKeys: boolean
  /** Whether it changes something, and so is audited twice: attempt and outcome. */
  readonly changes: boolean
  /** The largest body that is read; 0 when there is none. */
  readonly bodyBytesMaximum: number
  /** Parameters that change the meaning of other operations and that this one takes. */
  readonly accepts: readonly ('versionId' | 'partNumber')[]
  /** Headers of the table of unsupported ones that this operation does support, in lower case. */
  readonly headers: readonly string[]
  /** Undefined for an operation that this server does not implement. */
  readonly handle: Handler<ObjectRequest> | undefined
  /** The extension that this operation belongs to: while it is off, the operation is refused as one that is not implemented. */
  readonly extension: Extension | undefined
  /** Of an operation that is refused: what a client can be set to do instead, as a sentence. */
  readonly instead: string | undefined
}

const DOCUMENT_BYTES_MAXIMUM = 1024 ** 2
/** The largest object that one request writes. */
export const PUT_BYTES_MAXIMUM = 5 * 1024 ** 3

type Required = Pick<Operation, 'name' | 'method' | 'level' | 'action' | 'handle'>

/** An operation from what is particular about it. By default what is not a read changes something and has a document. */
export function operationOf(particular: Required & Partial<Operation>): Operation {
  const { method } = particular
  const reads = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return {
    subresource: undefined,
    mark: undefined,
    versionAction: undefined,
    coveredBy: undefined,
    judgesKeys: false,
    besides: [],
    changes: !reads,
    bodyBytesMaximum: reads || method === 'DELETE' ? 0 : DOCUMENT_BYTES_MAXIMUM,
    accepts: [],
    headers: [],
    extension: undefined,
    instead: undefined,
    ...particular,
  }
}

/** What a handler gets: at the level of an object, a request with a bucket and a key. */
interface RequestOf {
  readonly service: S3Request
  readonly bucket: BucketRequest
  readonly object: ObjectRequest
}

type Definition<L extends Level> = Omit<Required, 'level' | 'handle'> &
  Partial<Omit<Operation, keyof Required>> & { readonly level: L; readonly handle: Handler<RequestOf[L]> }

/** An operation that this server implements. */
export function defineOperation<L extends Level>(definition: Definition<L>): Operation {
  return operationOf(definition)
}

/** Whether a server with these extensions carries the operation out. */
export function isServed({ handle, extension }: Operation, extensions: Extensions): boolean {
  return handle !== undefined && (extension === undefined || extensions.has(extension))
}
