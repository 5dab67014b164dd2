import type { Milliseconds } from '../../engine/brands.ts'
import type { EmbedState } from '../../engine/links/state.ts'
import type { HeaderLine, HttpResponse } from '../http/exchange.ts'
import { contentDisposition, fileNameOf } from './content-disposition.ts'
import { planDelivery, storedHeader, sendObject } from './delivery.ts'
import { EmbedOrigins, PREFLIGHT_HEADERS } from './embed-origins.ts'
import { SharingError } from './errors.ts'
import { requireEmbed } from './find-link.ts'
import { sentType } from './safe-types.ts'
import type { SharingServices } from './services.ts'
import type { SharingRequest, SharingRoute } from './sharing-route.ts'

const MILLISECONDS_PER_SECOND = 1000

/** The bytes of an embed: shown in pages of the allowed origins if no browser can run them, else an attachment. */
const embedContent: SharingRoute<SharingServices> = {
  path: '/e/{token}',
  access: 'embed-content',
  methods: ['GET', 'HEAD', 'OPTIONS'],
  handle(request, services): HttpResponse | Promise<HttpResponse> {
    const { http } = request
    if (http.method === 'OPTIONS') return answerPreflight(request, services)
    return sendObject(http, services, () => {
      const now = services.expiryClock()
      const { link, target } = requireEmbed(services, request.token, request.found)
      const origins = requireAllowed(request, link)
      request.addHeaders([...origins.crossOriginHeaders(http), cacheControl(link, origins, now)])
      const { type, isSafe } = sentType(storedHeader(target.object, 'content-type'))
      const shown: readonly HeaderLine[] = [
        ['content-type', type],
        ['content-disposition', contentDisposition(isSafe ? 'inline' : 'attachment', fileNameOf(link.key, undefined))],
        ['content-security-policy', `${POLICY}; frame-ancestors ${origins.frameAncestors}`],
        ['cross-origin-resource-policy', 'cross-origin'],
      ]
      return { target, plan: planDelivery(http, target.object, now, shown), count: undefined }
    })
  },
}

/** Policy of an embed shown by itself or in a frame: it may show itself, and run no scripts. */
const POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"

/** @throws SharingError EMBED_ORIGIN_DENIED */
function requireAllowed({ http }: SharingRequest, { allowedOrigins }: EmbedState): EmbedOrigins {
  const origins = new EmbedOrigins(allowedOrigins)
  if (!origins.allows(http)) throw new SharingError('EMBED_ORIGIN_DENIED', undefined, [['vary', 'origin']])
  return origins
}

/** Answers a preflight, which browsers send before conditional requests; reveals nothing about the object. */
function answerPreflight(request: SharingRequest, services: SharingServices): HttpResponse {
  const { link } = requireEmbed(services, request.token, request.found)
  const origins = requireAllowed(request, link)
  return { status: 204, headers: [...origins.crossOriginHeaders(request.http), ...PREFLIGHT_HEADERS] }
}

/**
 * Caches may keep an answer for the embed's cache time, but not past its expiry, so a revocation takes effect
 * everywhere within that time. Unless every origin is allowed, only the browser's own cache may keep it.
 */
function cacheControl(
  { cacheSeconds, expiresMicroseconds }: EmbedState,
  origins: EmbedOrigins,
  now: Milliseconds,
): HeaderLine {
  const left =
    expiresMicroseconds === undefined ? cacheSeconds : expiresMicroseconds / 1_000_000 - now / MILLISECONDS_PER_SECOND
  const seconds = Math.max(0, Math.floor(Math.min(cacheSeconds, left)))
  if (seconds === 0) return ['cache-control', 'no-cache']
  return ['cache-control', `${origins.isEverybody ? 'public' : 'private'}, max-age=${seconds}, must-revalidate`]
}

/** Every route of embeds. */
export const EMBED_ROUTES: readonly SharingRoute<SharingServices>[] = [embedContent]
