import type { HttpResponse } from '../../http/exchange.ts'
import { SAMPLE_SECONDS } from '../counter-history.ts'
import type { ManagementRequest } from '../management-request.ts'
import { openApiDocument } from '../openapi.ts'
import { jsonResponse } from '../responses.ts'
import type { ManagementServices } from '../services.ts'
import { rfc3339, rfc3339OrNull } from '../timestamps.ts'

const PRODUCT = 'object-store'

/** What this version of the server does; the names are those of the specification. */
const CAPABILITIES = {
  versioning: true,
  webhooks: false,
  events: false,
  lifecycle: false,
  object_browser: false,
  erasure_coding: false,
} as const

export async function getInfo(_request: ManagementRequest, services: ManagementServices): Promise<HttpResponse> {
  const isReady = (await services.ready()).every((check) => check.ready)
  const status = isReady ? 'ready' : 'not_ready'
  return jsonResponse(200, { name: PRODUCT, version: services.version, status, capabilities: CAPABILITIES })
}

/** What /metrics says, as JSON. */
export function getSystemMetrics(_request: ManagementRequest, { metrics }: ManagementServices): HttpResponse {
  const readings = metrics().map(({ row, samples }) => ({ name: row.name, type: row.type, help: row.help, samples }))
  return jsonResponse(200, { metrics: readings })
}

/** Readings of the counters, oldest first; a counter that has labels is summed over them. */
export function getMetricsHistory(_request: ManagementRequest, { counterHistory }: ManagementServices): HttpResponse {
  const readings = counterHistory.readings.map(({ timeMilliseconds, counters }) => ({
    time: rfc3339(timeMilliseconds * 1000),
    counters: Object.fromEntries(counters),
  }))
  return jsonResponse(200, { interval_seconds: SAMPLE_SECONDS, readings })
}

/** Who the server takes the sender of this very request for. */
export function getSession({ identity }: ManagementRequest): HttpResponse {
  const { role, credentialId, expiresMicroseconds } = identity
  return jsonResponse(200, {
    principal: `management:${role}`,
    role,
    credential_id: credentialId,
    expires_at: rfc3339OrNull(expiresMicroseconds),
  })
}

export function getOpenApi(_request: ManagementRequest, { version }: ManagementServices): HttpResponse {
  return jsonResponse(200, openApiDocument(version))
}
