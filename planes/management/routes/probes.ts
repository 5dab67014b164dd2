import type { HttpResponse } from '../../http/exchange.ts'
import { METRICS_CONTENT_TYPE, renderMetrics } from '../metrics.ts'
import { jsonResponse, textResponse } from '../responses.ts'
import type { ManagementRequest } from '../management-request.ts'
import type { ManagementServices } from '../services.ts'

/** One part of the server that must work before traffic makes sense. */
export interface ReadinessCheck {
  /** A fixed name, such as `journal`. */
  readonly name: string
  readonly ready: boolean
  /** Why not, in a fixed sentence: everyone can read it, so it names no path, key or address. */
  readonly reason?: string
}

/** Constant on purpose: whoever asks learns that the process lives, and nothing else. */
export function getHealth(): HttpResponse {
  return jsonResponse(200, { status: 'ok' })
}

/** 200 when every check passes, otherwise 503 and the checks that do not. */
export async function getReady(_request: ManagementRequest, { ready }: ManagementServices): Promise<HttpResponse> {
  const failing = (await ready())
    .filter((check) => !check.ready)
    .map(({ name, reason = 'not ready' }) => ({ name, reason }))
  return failing.length === 0
    ? jsonResponse(200, { status: 'ready' })
    : jsonResponse(503, { status: 'not_ready', failing })
}

/** The metrics as text. */
export async function getMetrics(_request: ManagementRequest, { metrics }: ManagementServices): Promise<HttpResponse> {
  return textResponse(200, METRICS_CONTENT_TYPE, await renderMetrics(metrics()))
}
