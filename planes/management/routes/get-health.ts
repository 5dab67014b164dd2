import type { HttpResponse } from '../../http/exchange.ts'
import { jsonResponse } from '../responses.ts'

/** Constant on purpose: whoever asks learns that the process lives, and nothing else. */
export function getHealth(): HttpResponse {
  return jsonResponse(200, { status: 'ok' })
}
