import type { HttpResponse } from '../../http/exchange.ts'
import { jsonResponse } from '../responses.ts'

/** One part of the server that must work before traffic makes sense. */
export interface ReadinessCheck {
  /** A fixed name, such as `journal`. */
  readonly name: string
  readonly ready: boolean
  /** Why not, in a fixed sentence: everyone can read it, so it names no path, key or address. */
  readonly reason?: string
}

/** 200 when every check passes, otherwise 503 and the checks that do not. */
export async function getReady(ready: () => Promise<readonly ReadinessCheck[]>): Promise<HttpResponse> {
  const failing = (await ready())
    .filter((check) => !check.ready)
    .map(({ name, reason = 'not ready' }) => ({ name, reason }))
  return failing.length === 0
    ? jsonResponse(200, { status: 'ready' })
    : jsonResponse(503, { status: 'not_ready', failing })
}
