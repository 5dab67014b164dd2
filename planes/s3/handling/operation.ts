import type { HttpResponse } from '../../http/exchange.ts'
import type { BucketRequest, ObjectRequest, S3Request } from './s3-request.ts'
import type { S3Services } from './services.ts'
import type { Extension, Extensions } from '../../objects/s3-extensions.ts'

export type Level = 'service' | 'bucket' | 'object'
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'

/** A header, or a query parameter with an optional value, that a request must have. */
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
  /** Distinguishes it from other operations with the same method, level and subresource. */
  readonly mark: Mark | undefined
  /** The permission that policies grant or deny, such as `s3:GetObject`. */
  readonly action: string
  /** The permission when the request names a version; undefined where it is the same. */
  readonly versionAction: string | undefined
  /** Further permissions that it needs on the same resource. */
  readonly besides: readonly string[]
  /** Another permission that grants the same, unless the one above is denied. */
  readonly coveredBy: string | undefined
  /**
   * Whether the handler authorizes each key in the body. No bucket-level check is made then: a request that may change
   * none of its keys is admitted, and gets an error for each key.
   */
  readonly judgesKeys: boolean
  /** Whether the handler authorizes each bucket that it shows, and refuses a sender that it would show none. */
  readonly judgesBuckets: boolean
  /** Whether it changes state, and so is recorded twice: attempt and outcome. */
  readonly changes: boolean
  /** Maximum size of the body in bytes; 0 for an operation without a body. */
  readonly bodyBytesMaximum: number
  /** Modifying parameters that it accepts; other operations refuse them. */
  readonly accepts: readonly ('versionId' | 'partNumber')[]
  /** Parameters that it may be sent more than once, since their order says nothing; no other parameter may. */
  readonly repeats: readonly string[]
  /** Headers of the table of unsupported headers that this operation supports, in lower case. */
  readonly headers: readonly string[]
  /** Whether its request is a form, whose fields name sender and key. */
  readonly isForm: boolean
  /** Undefined for an operation that this server does not implement. */
  readonly handle: Handler<ObjectRequest> | undefined
  /** The extension that this operation belongs to. While it is off, the operation is answered as not implemented. */
  readonly extension: Extension | undefined
  /** Further extensions, each of which has it too. */
  readonly alsoIn: readonly Extension[]
  /** For an operation that is not served: a sentence that says what to do instead, at the server or the client. */
  readonly instead: string | undefined
}

const DOCUMENT_BYTES_MAXIMUM = 1024 ** 2
/** The largest object that one request writes. */
export const PUT_BYTES_MAXIMUM = 5 * 1024 ** 3

type Required = Pick<Operation, 'name' | 'method' | 'level' | 'action' | 'handle'>

/** Fills in defaults: an operation other than a read changes state and has a document as its body. */
export function operationOf(particular: Required & Partial<Operation>): Operation {
  const { method } = particular
  const reads = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return {
    subresource: undefined,
    mark: undefined,
    versionAction: undefined,
    coveredBy: undefined,
    judgesKeys: false,
    judgesBuckets: false,
    besides: [],
    changes: !reads,
    bodyBytesMaximum: reads || method === 'DELETE' ? 0 : DOCUMENT_BYTES_MAXIMUM,
    accepts: [],
    repeats: [],
    headers: [],
    isForm: false,
    extension: undefined,
    alsoIn: [],
    instead: undefined,
    ...particular,
  }
}

/** The request that a handler gets, by level: with bucket and key at the level of an object. */
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

/** Whether a server with these extensions implements the operation. */
export function isServed({ handle, extension, alsoIn }: Operation, extensions: Extensions): boolean {
  if (handle === undefined) return false
  return extension === undefined || extensions.has(extension) || alsoIn.some((other) => extensions.has(other))
}
