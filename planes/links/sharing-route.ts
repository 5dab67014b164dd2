import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { AuditContext } from '../../engine/events/audit.ts'
import type { HeaderLine, HttpRequest, HttpResponse } from '../http/exchange.ts'
import type { LinkAccess } from '../metrics/metric-table.ts'
import type { RecordedLink } from './find-link.ts'

/** One request by a link, as a route receives it. */
export interface SharingRequest {
  readonly http: HttpRequest
  /** As sent, not validated. */
  readonly token: string
  /** Whether the answer is a page for a person to read. */
  readonly wantsPage: boolean
  readonly engine: EngineClient
  /** Reports the link that was found, for the record of a refusal. */
  readonly found: (link: RecordedLink) => void
  /** Adds headers to the answer, a refusal included. */
  readonly addHeaders: (headers: readonly HeaderLine[]) => void
  /** Content of the record of a count, made in the name of the store and without the reader. */
  countAudit(operation: string): AuditContext
}

export interface SharingRoute<Services> {
  /** The path, with `{token}` for the token; the only form in which it is logged. */
  readonly path: string
  readonly access: LinkAccess
  readonly methods: readonly string[]
  handle(request: SharingRequest, services: Services): HttpResponse | Promise<HttpResponse>
}

/** A route found, with its token as it was sent. */
export interface FoundSharingRoute<Services> {
  readonly route: SharingRoute<Services>
  readonly token: string
}

/** Finds the route of a path; the token is not decoded, since tokens hold no escapes. */
export function routeFinder<Services>(
  routes: readonly SharingRoute<Services>[],
): (path: string) => FoundSharingRoute<Services> | undefined {
  const patterns = routes.map((route) => {
    const [before = '', after = ''] = route.path.split('{token}')
    return { route, before, after }
  })
  return (path) => {
    for (const { route, before, after } of patterns) {
      if (path.length <= before.length + after.length) continue
      if (!path.startsWith(before) || !path.endsWith(after)) continue
      const token = path.slice(before.length, path.length - after.length)
      if (!token.includes('/')) return { route, token }
    }
    return undefined
  }
}
