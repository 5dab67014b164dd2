import type { HttpHandler, HttpRequest, HttpResponse } from '../http/exchange.ts'
import { bearsToken } from './bearer-token.ts'
import { requestIdOf } from './request-id.ts'
import { errorResponse, withoutBody, withRequestId } from './responses.ts'
import { type ManagementRoute, type RouteAuthentication, type RouteHandlerName, routeTable } from './route-table.ts'
import { getHealth } from './routes/get-health.ts'
import { getMetrics } from './routes/get-metrics.ts'
import { getReady, type ReadinessCheck } from './routes/get-ready.ts'

export type { ReadinessCheck } from './routes/get-ready.ts'

/** One answered request, for the log: the route by its pattern, never the path that was sent. */
export interface ManagementExchange {
  readonly requestId: string
  readonly method: string
  /** Undefined when no route has the path. */
  readonly route: string | undefined
  readonly status: number
  /** What a handler threw. */
  readonly error?: unknown
}

export interface ManagementOptions {
  readonly ready: () => Promise<readonly ReadinessCheck[]>
  /** The metrics in the text exposition format. */
  readonly metrics: () => Promise<string>
  /** Without one the metrics stay closed. */
  readonly scrapeToken: string | undefined
  /** Told of every answered request. */
  readonly observe?: (exchange: ManagementExchange) => void
}

/** A check that the caller may use a route: undefined when it may, otherwise the refusal. */
type Authenticate = (request: HttpRequest, options: ManagementOptions, requestId: string) => HttpResponse | undefined

const authentications: Readonly<Record<RouteAuthentication, Authenticate>> = {
  none: () => undefined,
  'scrape-token'(request, { scrapeToken }, requestId) {
    if (scrapeToken === undefined) return errorResponse('METRICS_CLOSED', requestId)
    if (bearsToken(request.header('authorization'), scrapeToken)) return undefined
    return errorResponse('UNAUTHENTICATED', requestId, [['www-authenticate', 'Bearer realm="metrics"']])
  },
}

const handlers: Readonly<
  Record<RouteHandlerName, (options: ManagementOptions) => HttpResponse | Promise<HttpResponse>>
> = {
  health: () => getHealth(),
  ready: (options) => getReady(options.ready),
  metrics: (options) => getMetrics(options.metrics),
}

function takes(route: ManagementRoute, method: string): boolean {
  return route.method === method || (route.method === 'GET' && method === 'HEAD')
}

function methodsOf(routes: readonly ManagementRoute[]): string {
  return routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])).join(', ')
}

interface Answer {
  readonly response: HttpResponse
  readonly route?: string
  readonly error?: unknown
}

async function answer(request: HttpRequest, options: ManagementOptions, requestId: string): Promise<Answer> {
  const atPath = routeTable.filter((route) => route.path === request.path)
  if (atPath.length === 0) return { response: errorResponse('NOT_FOUND', requestId) }
  const route = atPath.find((candidate) => takes(candidate, request.method))
  const pattern = atPath[0]?.path ?? request.path
  if (route === undefined) {
    const allow = ['allow', methodsOf(atPath)] as const
    return { route: pattern, response: errorResponse('METHOD_NOT_ALLOWED', requestId, [allow]) }
  }
  const refusal = authentications[route.authentication](request, options, requestId)
  if (refusal !== undefined) return { route: pattern, response: refusal }
  try {
    return { route: pattern, response: await handlers[route.handler](options) }
  } catch (error) {
    return { route: pattern, response: errorResponse('INTERNAL_ERROR', requestId), error }
  }
}

/**
 * The handler of the management listener: /health, /ready and /metrics. Every response carries x-request-id; errors
 * have the envelope of the specification.
 */
export function createManagementHandler(options: ManagementOptions): HttpHandler {
  return async (request) => {
    const requestId = requestIdOf(request)
    const { response, route, error } = await answer(request, options, requestId)
    options.observe?.({
      requestId,
      method: request.method,
      route,
      status: response.status,
      ...(error === undefined ? {} : { error }),
    })
    const complete = withRequestId(response, requestId)
    return request.method === 'HEAD' ? withoutBody(complete) : complete
  }
}
