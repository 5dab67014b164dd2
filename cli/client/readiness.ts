import { ExitError } from '../exit-codes.ts'
import type { ManagementAnswer } from './management-request.ts'

/** The answer of /ready of a server. */
export interface Readiness {
  readonly url: string
  readonly httpStatus: number
  readonly ready: boolean
  readonly failing: readonly { readonly name: string; readonly reason: string }[]
  /** What a ready server does not do at the moment. */
  readonly degraded: readonly { readonly name: string; readonly reason: string }[]
}

/** A list of checks in an answer of /ready; empty if it has no such list. */
function checksOf(body: unknown, list: 'failing' | 'degraded'): Readiness['failing'] {
  const checks = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[list] : undefined
  if (!Array.isArray(checks)) return []
  return checks.map((check: unknown) => {
    const { name, reason } = (check ?? {}) as { name?: unknown; reason?: unknown }
    return { name: String(name), reason: String(reason) }
  })
}

/** @throws ExitError for an answer that is not JSON */
export function readinessOf({ url, status, text }: ManagementAnswer): Readiness {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new ExitError('failed', `${url} answered ${status} without JSON`)
  }
  const ready = status === 200
  return {
    url,
    httpStatus: status,
    ready,
    failing: ready ? [] : checksOf(body, 'failing'),
    degraded: checksOf(body, 'degraded'),
  }
}
