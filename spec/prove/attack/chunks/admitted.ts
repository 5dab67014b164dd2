/**
 * What becomes of a request whose body is in chunks, without a server: the steps of the S3 plane from its head to a payload
 * that is checked. The modules are those of any build, so that one that is broken on purpose can be asked as well.
 */
import type { HeaderLine, HttpRequest, RequestBody } from '../../../../planes/http/exchange.ts'
import type { PayloadStores } from '../../../../planes/objects/receive-payload.ts'
import { EXTENSIONS, type UnsignedChunks } from '../../../../planes/objects/s3-extensions.ts'
import type { S3Request } from '../../../../planes/s3/handling/s3-request.ts'
import type { S3Services } from '../../../../planes/s3/handling/services.ts'
import { millisecondsOf } from '../../../../engine/brands.ts'
import { requestTarget } from '../../../support/signing.ts'
import type { ChunkTarget } from './spoiling.ts'

/** The modules of one build that have a part in it. */
export interface PlaneBuild {
  readonly authenticate: typeof import('../../../../planes/s3/identity/authenticate.ts')
  readonly target: typeof import('../../../../planes/s3/request/target.ts')
  readonly recognize: typeof import('../../../../planes/s3/recognize-operation.ts')
  readonly headers: typeof import('../../../../planes/s3/unsupported-headers.ts')
  readonly upload: typeof import('../../../../planes/s3/bodies/upload-body.ts')
  readonly payload: typeof import('../../../../planes/objects/receive-payload.ts')
}

/** @param root the directory of a build, with a slash at its end */
export async function planeBuild(root: URL): Promise<PlaneBuild> {
  const load = (path: string) => import(new URL(path, root).href)
  return {
    authenticate: (await load('planes/s3/identity/authenticate.js')) as PlaneBuild['authenticate'],
    target: (await load('planes/s3/request/target.js')) as PlaneBuild['target'],
    recognize: (await load('planes/s3/recognize-operation.js')) as PlaneBuild['recognize'],
    headers: (await load('planes/s3/unsupported-headers.js')) as PlaneBuild['headers'],
    upload: (await load('planes/s3/bodies/upload-body.js')) as PlaneBuild['upload'],
    payload: (await load('planes/objects/receive-payload.js')) as PlaneBuild['payload'],
  }
}

export interface Sent {
  readonly target: ChunkTarget
  readonly headers: readonly HeaderLine[]
  readonly body: Buffer
  /** Bytes of the pieces that the body comes in. */
  readonly pieceBytes: number
  /** Whether it came by TLS. */
  readonly secure?: boolean
  /** The setting `s3.unsigned_chunks_over_http`. */
  readonly unsignedOverHttp?: UnsignedChunks
  /** In place of the path and query of the target. */
  readonly rawTarget?: string
}

export interface Signer {
  readonly accessKey: string
  readonly secretKey: string
}

/** The bytes that would be published, or the code of the refusal; another error by its text, which is always a fault. */
export async function outcomeOf(build: PlaneBuild, signer: Signer, sent: Sent): Promise<Buffer | string> {
  try {
    return await publish(build, signer, sent)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    return String(error)
  }
}

const STORE = { owner: { id: 'owner', displayName: 'root' }, encrypts: false }

async function publish(build: PlaneBuild, { accessKey, secretKey }: Signer, sent: Sent): Promise<Buffer> {
  const http = requestOf(sent)
  const target = build.target.parseTarget(http.path, http.query)
  const credential = { accessKey, secretKey, principal: 'service_account:x', credentialId: 'x', policies: undefined }
  const authenticator = new build.authenticate.Authenticator({
    lookup: (key) => (key === accessKey ? credential : undefined),
    clock: () => millisecondsOf(Date.now()),
  })
  const identity = authenticator.authenticate(http, target)
  if (identity === undefined) return Buffer.from('anonymous')
  const operation = build.recognize.recognize(http.method, target, http)
  const extensions = new Set(EXTENSIONS)
  build.headers.refuseUnsupportedHeaders(http, target, operation, { ...STORE, extensions })
  const { payload } = identity
  const { bodyBytesMaximum } = operation
  const request: Partial<S3Request> = { http, target, identity, payload, bodyBytesMaximum }
  const services = { extensions, unsignedChunksOverHttp: sent.unsignedOverHttp ?? 'true' } as unknown as S3Services
  const { body, length, checks } = build.upload.uploadBody(request as S3Request, services)
  const received = await build.payload.receivePayload(body, length, MEMORY, checks, () => Promise.resolve())
  return (received.body as unknown as { readonly bytes: Buffer }).bytes ?? Buffer.alloc(0)
}

const MEMORY = {
  inlineBytesMaximum: 2 ** 30,
  uploads: { inlineBody: (bytes: Buffer) => ({ kind: 'inline', bytes }) },
} as unknown as PayloadStores

function requestOf({ target, headers, body, pieceBytes, secure = false, rawTarget }: Sent): HttpRequest {
  const raw = rawTarget ?? requestTarget(target.path, target.query)
  const [path = '', query = ''] = raw.split('?')
  return {
    method: 'PUT',
    path,
    query,
    headers,
    header: (name) => {
      const values = headers.filter((line) => line[0] === name).map((line) => line[1])
      return values.length === 0 ? undefined : values.join(',')
    },
    remoteAddress: '127.0.0.1',
    secure,
    // One that comes in one piece states its length; any other comes in chunks of HTTP.
    contentLength: pieceBytes < body.length ? undefined : body.length,
    body: inPieces(body, pieceBytes),
    onAborted: () => {},
    cut: () => {},
  }
}

/** A body that comes piece by piece, each in memory that is used again at once, as a driver's is. */
export function inPieces(body: Buffer, pieceBytes: number): RequestBody {
  const pipe: RequestBody['pipe'] = async (sink) => {
    const memory = Buffer.alloc(pieceBytes)
    for (let at = 0; at < body.length; at += pieceBytes) {
      const piece = memory.subarray(0, body.copy(memory, 0, at, at + pieceBytes))
      const taken = sink(piece)
      memory.fill(0xff)
      if (taken !== undefined) await taken
    }
  }
  return {
    receivedBytes: body.length,
    arrival: () => undefined,
    takeArrived: () => undefined,
    readAll: () => Promise.resolve(Buffer.from(body)),
    pipe,
  }
}
