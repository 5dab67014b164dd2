import { PASSWORD_BYTES_MAXIMUM } from '../exchange/password-hashing.ts'
import { BodyTooLargeError, type HttpRequest, type HttpResponse } from '../http/exchange.ts'
import { networkOf } from '../http/limits/network-of.ts'
import { SharingError } from './errors.ts'
import { requireShare } from './find-link.ts'
import { PRIVATE_HEADERS, jsonAnswer } from './responses.ts'
import type { ShareServices } from './services.ts'
import { parsePassword } from './parse-password.ts'
import type { SharingRequest, SharingRoute } from './sharing-route.ts'
import { rfc3339 } from '../../engine/clock.ts'
import { isProtected, type ProtectedShare, withTicket } from './share-access.ts'

/** Each byte of a password can take six in JSON (`\u0000`) and three in a form, plus the framing. */
const BODY_BYTES_MAXIMUM = 6 * PASSWORD_BYTES_MAXIMUM + 1024
const MICROSECONDS_PER_MILLISECOND = 1000

/** Exchanges the password of a share for a ticket: as JSON for programs, by a redirect to the page for people. */
export const shareUnlock: SharingRoute<ShareServices> = {
  path: '/s/{token}/unlock',
  access: 'share-unlock',
  methods: ['POST'],
  async handle(request, services): Promise<HttpResponse> {
    const { http, token, wantsPage } = request
    requireProtected(request, services)
    const password = parsePassword(http.header('content-type'), await bodyOf(http))
    const { share, password: record } = requireProtected(request, services)
    const seconds = services.limits.take(share, http.remoteAddress)
    if (seconds > 0) {
      throw new SharingError('SHARE_PASSWORD_THROTTLED', undefined, [['retry-after', String(seconds)]])
    }
    const isRight = await services.hashing.matches(password, record, networkOf(http.remoteAddress))
    // Looked up again: the share may have been revoked during the hashing.
    const lock = requireProtected(request, services)
    if (!isRight) throw new SharingError('SHARE_PASSWORD_WRONG')
    services.limits.unlocked(share, http.remoteAddress)
    const { text, expires } = services.tickets.issue(lock, services.expiryClock())
    if (!wantsPage) {
      return jsonAnswer(200, { ticket: text, expires_at: rfc3339(expires * MICROSECONDS_PER_MILLISECOND) })
    }
    return { status: 303, headers: [['location', withTicket(`../${token}`, text)], ...PRIVATE_HEADERS], body: '' }
  },
}

function requireProtected({ token, found }: SharingRequest, services: ShareServices): ProtectedShare {
  const { link } = requireShare(services, token, found)
  if (isProtected(link)) return link
  throw new SharingError('INVALID_REQUEST', 'This link has no password.')
}

async function bodyOf(http: HttpRequest): Promise<Buffer> {
  try {
    return await http.body.readAll(BODY_BYTES_MAXIMUM)
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw new SharingError('BODY_TOO_LARGE')
    throw error
  }
}
