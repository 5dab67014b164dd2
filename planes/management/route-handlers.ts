import type { HttpResponse } from '../http/exchange.ts'
import type { ManagementRequest } from './management-request.ts'
import { API } from './route-table.ts'
import { createAccount, deleteAccount, getAccount, listAccounts, putAccountStatus } from './routes/accounts.ts'
import { getChain, getEvents } from './routes/audit.ts'
import { exportRecords, getManifest } from './routes/audit-export.ts'
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
import { issueCredential, issueTemporaryCredential, putCredentialStatus } from './routes/credentials.ts'
import { listObjects, listObjectVersions } from './routes/object-lists.ts'
import { copyObject, deleteObject, deleteVersion, getContent, getObject, putObject, restore } from './routes/objects.ts'
import { attachPolicy, createPolicy, detachPolicy, getPolicy, listPolicies } from './routes/policies.ts'
import { getPreview } from './routes/preview.ts'
import { getHealth, getMetrics, getReady } from './routes/probes.ts'
import { getProof } from './routes/proof.ts'
import { getRetentionReport } from './routes/retention.ts'
import { getStatus, getUsage, inspect, repair } from './routes/storage.ts'
import { getInfo, getMetricsHistory, getOpenApi, getSession, getSystemMetrics } from './routes/system.ts'
import { issueToken, listTokens, revokeToken } from './routes/tokens.ts'
import { verifyBucket, verifyObject } from './routes/verify.ts'
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

  [`GET ${API}/openapi.json`, getOpenApi],
  [`GET ${API}/system/info`, getInfo],
  [`GET ${API}/system/metrics`, getSystemMetrics],
  [`GET ${API}/system/metrics/history`, getMetricsHistory],
  [`GET ${API}/auth/session`, getSession],

  [`GET ${API}/management-tokens`, listTokens],
  [`POST ${API}/management-tokens`, issueToken],
  [`DELETE ${API}/management-tokens/{id}`, revokeToken],

  [`GET ${API}/service-accounts`, listAccounts],
  [`POST ${API}/service-accounts`, createAccount],
  [`GET ${API}/service-accounts/{id}`, getAccount],
  [`DELETE ${API}/service-accounts/{id}`, deleteAccount],
  [`PUT ${API}/service-accounts/{id}/status`, putAccountStatus],
  [`POST ${API}/service-accounts/{id}/credentials`, issueCredential],
  [`POST ${API}/service-accounts/{id}/temporary-credentials`, issueTemporaryCredential],
  [`PUT ${API}/service-accounts/{id}/credentials/{credential_id}/status`, putCredentialStatus],
  [`GET ${API}/policies`, listPolicies],
  [`POST ${API}/policies`, createPolicy],
  [`GET ${API}/policies/{policy_id}`, getPolicy],
  [`PUT ${API}/policies/{policy_id}/bindings/{account_id}`, attachPolicy],
  [`DELETE ${API}/policies/{policy_id}/bindings/{account_id}`, detachPolicy],

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

  [`GET ${API}/buckets/{bucket}/objects`, listObjects],
  [`GET ${API}/buckets/{bucket}/object-versions`, listObjectVersions],
  [`GET ${API}/buckets/{bucket}/object/{key}`, getObject],
  [`PUT ${API}/buckets/{bucket}/object/{key}`, putObject],
  [`DELETE ${API}/buckets/{bucket}/object/{key}`, deleteObject],
  [`GET ${API}/buckets/{bucket}/object-content/{key}`, getContent],
  [`GET ${API}/buckets/{bucket}/object-preview/{key}`, getPreview],
  [`DELETE ${API}/buckets/{bucket}/object-versions/{key}`, deleteVersion],
  [`POST ${API}/buckets/{bucket}/object-copy/{key}`, copyObject],
  [`POST ${API}/restore/{bucket}/{key}`, restore],
  [`GET ${API}/buckets/{bucket}/object-proof/{key}`, getProof],

  [`GET ${API}/audit/events`, getEvents],
  [`GET ${API}/audit/chain`, getChain],
  [`GET ${API}/audit/export`, exportRecords],
  [`GET ${API}/audit/export/manifest`, getManifest],
  [`GET ${API}/reports/retention`, getRetentionReport],

  [`GET ${API}/storage/status`, getStatus],
  [`GET ${API}/storage/usage`, getUsage],
  [`GET ${API}/storage/inspect`, inspect],
  [`POST ${API}/storage/repair`, repair],
  [`POST ${API}/verify/objects/{bucket}/{key}`, verifyObject],
  [`POST ${API}/verify/buckets/{bucket}`, verifyBucket],
])
