/**
 * Every route of the management listener, one row each. A path that is not in this table does not exist. Where GET is
 * taken HEAD is too, and gets the same answer without its body.
 */

/** `none`: open to everyone; `scrape-token`: the bearer token of `metrics.scrape_token`. */
export type RouteAuthentication = 'none' | 'scrape-token'

export type RouteHandlerName = 'health' | 'ready' | 'metrics'

export interface ManagementRoute {
  readonly method: 'GET'
  readonly path: string
  readonly authentication: RouteAuthentication
  readonly handler: RouteHandlerName
  readonly sentence: string
}

export const routeTable: readonly ManagementRoute[] = [
  {
    method: 'GET',
    path: '/health',
    authentication: 'none',
    handler: 'health',
    sentence: 'Answers 200 while the process runs and accepts connections.',
  },
  {
    method: 'GET',
    path: '/ready',
    authentication: 'none',
    handler: 'ready',
    sentence: 'Answers 200 when every checked part is ready, and 503 with the parts that are not.',
  },
  {
    method: 'GET',
    path: '/metrics',
    authentication: 'scrape-token',
    handler: 'metrics',
    sentence: 'The metrics in the text format of Prometheus.',
  },
]
