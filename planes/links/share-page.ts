import type { ShareState } from '../../engine/links/state.ts'
import type { ObjectState } from '../../engine/state-ports.ts'
import type { HttpResponse } from '../http/exchange.ts'
import { storedHeader } from './delivery.ts'
import { requireShare } from './find-link.ts'
import { filePage, passwordPage } from './pages.ts'
import { jsonAnswer, pageAnswer } from './responses.ts'
import type { ShareServices } from './services.ts'
import type { SharingRequest, SharingRoute } from './sharing-route.ts'
import { rfc3339 } from '../../engine/clock.ts'
import { isOpen, nameOf, ticketOf, withTicket } from './share-access.ts'

const UNKNOWN_TYPE = 'application/octet-stream'

/**
 * The target of a share, as JSON or as a page. Without the password of a share, a reader learns only that it has one
 * (spec/decisions/0072).
 */
export const sharePage: SharingRoute<ShareServices> = {
  path: '/s/{token}',
  access: 'share-page',
  methods: ['GET', 'HEAD'],
  handle(request, services): HttpResponse {
    const { http, token, wantsPage } = request
    const { link, target } = requireShare(services, token, request.found)
    if (!isOpen(http, link, services)) {
      return wantsPage ? pageAnswer(200, passwordPage(`${token}/unlock`, undefined)) : jsonAnswer(200, { locked: true })
    }
    return wantsPage
      ? pageAnswer(200, pageOf(request, link, target.object))
      : jsonAnswer(200, described(link, target.object))
  },
}

function described(link: ShareState, object: ObjectState) {
  return {
    locked: false,
    name: nameOf(link),
    size: object.size,
    content_type: typeOf(object),
    etag: object.etag,
    last_modified: rfc3339(object.modifiedMicroseconds),
    expires_at: link.expiresMicroseconds === undefined ? null : rfc3339(link.expiresMicroseconds),
    downloads_left: downloadsLeft(link) ?? null,
  }
}

function pageOf({ http, token }: SharingRequest, link: ShareState, object: ObjectState): string {
  return filePage({
    name: nameOf(link),
    bytes: object.size,
    type: typeOf(object),
    expires: link.expiresMicroseconds === undefined ? undefined : rfc3339(link.expiresMicroseconds),
    downloadsLeft: downloadsLeft(link),
    download: withTicket(`${token}/content`, link.password === undefined ? undefined : ticketOf(http)),
  })
}

function typeOf(object: ObjectState): string {
  return storedHeader(object, 'content-type') ?? UNKNOWN_TYPE
}

function downloadsLeft({ maximumDownloads, downloads }: ShareState): number | undefined {
  return maximumDownloads === undefined ? undefined : Math.max(0, maximumDownloads - downloads)
}
