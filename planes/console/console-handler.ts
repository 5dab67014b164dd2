import type { HeaderLine, HttpHandler, HttpRequest, HttpResponse } from '../http/exchange.ts'
import { REQUEST_ID_HEADER, requestIdOf } from '../exchange/request-id.ts'
import type { ConsoleAsset } from './console-assets.ts'

/** Another plane on this listener: it gets the requests to one path, or to every path below one that ends with `/`. */
interface ConsoleMount {
  readonly path: string
  readonly handler: HttpHandler
}

/** One answered request for a file, for the log. What a mount answers it logs itself. */
export interface ConsoleExchange {
  readonly method: string
  /** The file; undefined when there is none, since the path can be anything then. */
  readonly asset: string | undefined
  readonly status: number
}

interface ConsoleOptions {
  readonly assets: ReadonlyMap<string, ConsoleAsset>
  readonly mounts: readonly ConsoleMount[]
  readonly observe?: (exchange: ConsoleExchange) => void
}

/**
 * Nothing but the console's own files and its own listener, no script in a page, no sink that takes text as script, in no
 * frame. Pictures and documents of objects are shown from `blob:` alone, which the console makes.
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

/** Of every answer. There are no cookies: they ignore ports, and the data plane would be sent them too. */
const COMMON_HEADERS: readonly HeaderLine[] = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['vary', 'accept-encoding'],
]

/** The handler of the console's listener: its files from memory, and what is mounted. */
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
  return withBody(request, { status: 200, headers }, isZipped ? zipped : bytes)
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

/** RFC 9110 section 12.5.3, as far as one coding needs it: named, and not with weight 0. */
function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0{0,3})?\s*$)[\d.]+\s*)?$/i.test(one))
}
