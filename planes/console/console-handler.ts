import type { HeaderLine, HttpHandler, HttpRequest, HttpResponse } from '../http/exchange.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../exchange/request-id.ts'
import type { ConsoleAsset } from './console-assets.ts'

/**
 * Another plane on this listener: it gets the requests to `path`, or to every path below a `path` that ends with `/`.
 */
interface ConsoleMount {
  readonly path: string
  readonly handler: HttpHandler
}

/** One answered request for a file, for the log. Mounts log their requests themselves. */
export interface ConsoleExchange {
  readonly method: string
  /** The file; undefined for an unknown path, which could contain anything. */
  readonly asset: string | undefined
  readonly status: number
}

interface ConsoleOptions {
  readonly assets: ReadonlyMap<string, ConsoleAsset>
  readonly mounts: readonly ConsoleMount[]
  readonly observe?: (exchange: ConsoleExchange) => void
}

/**
 * Content security policy: only the console's own files and listener, no inline scripts, no sinks that turn text into
 * script, no framing. Pictures and documents of objects are shown from `blob:` URLs only, which the console creates.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  'media-src blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Headers of every answer. No cookies: they ignore ports, so browsers would send them to the data plane too. */
const COMMON_HEADERS: readonly HeaderLine[] = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['vary', 'accept-encoding'],
]

/** The handler of the console's listener: files from memory, and the mounts. */
export function createConsoleHandler({ assets, mounts, observe }: ConsoleOptions): HttpHandler {
  return (request) => {
    const mount = mounts.find(({ path }) =>
      path.endsWith('/') ? request.path.startsWith(path) : request.path === path,
    )
    if (mount !== undefined) return mount.handler(request)
    const asset = assets.get(request.path)
    const response = answerOf(request, asset, assets.has('/'))
    const { method, path } = request
    observe?.({ method, asset: asset === undefined ? undefined : path, status: response.status })
    return response
  }
}

function answerOf(request: HttpRequest, asset: ConsoleAsset | undefined, isBuilt: boolean): HttpResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return textAnswer(request, 405, 'METHOD_NOT_ALLOWED: only GET and HEAD are answered here.', [
      ['allow', 'GET, HEAD'],
    ])
  }
  if (asset !== undefined) return assetAnswer(request, asset)
  if (isBuilt) return textAnswer(request, 404, 'NOT_FOUND: there is nothing at this path. The console is at /.')
  return textAnswer(request, 404, 'NOT_BUILT: the console was not built. `npm run build` builds it.')
}

function assetAnswer(request: HttpRequest, { contentType, bytes, zipped, immutable }: ConsoleAsset): HttpResponse {
  const isZipped = takesGzip(request.header('accept-encoding') ?? '')
  const headers: HeaderLine[] = [
    ['content-type', contentType],
    ['cache-control', immutable ? 'public, max-age=31536000, immutable' : 'no-store'],
    ...COMMON_HEADERS,
    ...(isZipped ? ([['content-encoding', 'gzip']] as const) : []),
  ]
  return withBody(request, { status: 200, headers }, isZipped ? zipped() : bytes)
}

function textAnswer(
  request: HttpRequest,
  status: number,
  text: string,
  more: readonly HeaderLine[] = [],
): HttpResponse {
  const headers: HeaderLine[] = [
    ['content-type', 'text/plain; charset=utf-8'],
    ['cache-control', 'no-store'],
    ...COMMON_HEADERS,
    ...more,
  ]
  return withBody(request, { status, headers }, Buffer.from(`${text}\n`))
}

function withBody(request: HttpRequest, head: Omit<HttpResponse, 'body'>, body: Buffer): HttpResponse {
  const headers: HeaderLine[] = [...head.headers, [REQUEST_ID_HEADER, requestIdOf(request)]]
  const answer = { ...head, headers }
  return request.method === 'HEAD' ? { ...answer, contentLength: body.length } : { ...answer, body }
}

/** Whether Accept-Encoding allows gzip: named, and not with weight 0 (RFC 9110 section 12.5.3). */
function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0{0,3})?\s*$)[\d.]+\s*)?$/i.test(one))
}
