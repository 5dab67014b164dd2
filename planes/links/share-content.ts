import type { ShareState } from '../../engine/links/state.ts'
import type { HeaderLine, HttpResponse } from '../http/exchange.ts'
import { contentDisposition } from './content-disposition.ts'
import { planDelivery, storedHeader, sendObject } from './delivery.ts'
import { publicErrorOf, SharingError } from './errors.ts'
import { requireShare } from './find-link.ts'
import { PRIVATE_HEADERS } from './responses.ts'
import { sentType } from './safe-types.ts'
import type { ShareServices } from './services.ts'
import type { SharingRequest, SharingRoute } from './sharing-route.ts'
import { isOpen, nameOf } from './share-access.ts'

/** Stored bytes on the listener of the console are sent as an attachment that no page can show or run (S20). */
const SHOWN: readonly HeaderLine[] = [
  ['content-security-policy', "sandbox; default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ...PRIVATE_HEADERS,
]

/** Challenge required in a 401 (RFC 9110 section 15.5.2). No browser has a dialog for this scheme. */
const CHALLENGE: HeaderLine = ['www-authenticate', 'Ticket realm="share"']

/** The bytes of a share, always as an attachment. */
export const shareContent: SharingRoute<ShareServices> = {
  path: '/s/{token}/content',
  access: 'share-content',
  methods: ['GET', 'HEAD'],
  handle(request, services): HttpResponse | Promise<HttpResponse> {
    const { http, token } = request
    return sendObject(http, services, () => {
      const { link, target } = requireShare(services, token, request.found)
      if (!isOpen(http, link, services)) throw new SharingError('SHARE_PASSWORD_REQUIRED', undefined, [CHALLENGE])
      const { type } = sentType(storedHeader(target.object, 'content-type'))
      const shown: readonly HeaderLine[] = [
        ['content-type', type],
        ['content-disposition', contentDisposition('attachment', nameOf(link))],
        ...SHOWN,
      ]
      return {
        target,
        plan: planDelivery(http, target.object, services.expiryClock(), shown),
        count: counter(request, link),
      }
    })
  },
}

/** Counts one download of a limited share durably, before its first byte, so that the limit is never exceeded. */
function counter(request: SharingRequest, { share, maximumDownloads }: ShareState) {
  if (maximumDownloads === undefined) return undefined
  return async () => {
    try {
      await request.engine.execute({ kind: 'count-download', share, audit: request.countAudit('share.downloaded') })
    } catch (error) {
      // The share may have ended between the lookup and the count.
      throw publicErrorOf(error)
    }
  }
}
