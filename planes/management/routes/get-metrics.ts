import type { HttpResponse } from '../../http/exchange.ts'
import { METRICS_CONTENT_TYPE } from '../metrics.ts'
import { textResponse } from '../responses.ts'

/** The metrics as text. */
export async function getMetrics(metrics: () => Promise<string>): Promise<HttpResponse> {
  return textResponse(200, METRICS_CONTENT_TYPE, await metrics())
}
