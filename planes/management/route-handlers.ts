import type { HttpResponse } from '../http/exchange.ts'
import type { ManagementRequest } from './management-request.ts'
import { API } from './route-table.ts'
import {
  createBucket,
  deleteBucket,
  getBucket,
  getDefaultRetention,
  getQuota,
  getVersioning,
  listBuckets,
  putDefaultRetention,
  putQuota,
  putVersioning,
} from './routes/buckets.ts'
import { getHealth, getMetrics, getReady } from './routes/probes.ts'
import type { ManagementServices } from './services.ts'

export type RouteHandler = (
  request: ManagementRequest,
  services: ManagementServices,
) => HttpResponse | Promise<HttpResponse>

/** A handler for every available route, by method and path; a spec compares the list with the route table. */
export const ROUTE_HANDLERS: ReadonlyMap<string, RouteHandler> = new Map<string, RouteHandler>([
  ['GET /health', getHealth],
  ['GET /ready', getReady],
  ['GET /metrics', getMetrics],

  [`GET ${API}/buckets`, listBuckets],
  [`POST ${API}/buckets`, createBucket],
  [`GET ${API}/buckets/{bucket}`, getBucket],
  [`DELETE ${API}/buckets/{bucket}`, deleteBucket],
  [`GET ${API}/buckets/{bucket}/versioning`, getVersioning],
  [`PUT ${API}/buckets/{bucket}/versioning`, putVersioning],
  [`GET ${API}/buckets/{bucket}/quota`, getQuota],
  [`PUT ${API}/buckets/{bucket}/quota`, putQuota],
  [`GET ${API}/buckets/{bucket}/default-retention`, getDefaultRetention],
  [`PUT ${API}/buckets/{bucket}/default-retention`, putDefaultRetention],
])
