import { microsecondsOf, millisecondsOf } from '../../../engine/brands.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { defineRoute, EVERYONE, json, type Route } from '../routing/define-route.ts'
import { TICKET_MILLISECONDS } from '../downloads/download-tickets.ts'
import { TICKET_PATH } from '../downloads/ticket-request.ts'
import { ManagementError } from '../errors.ts'
import { requireVersion, VERSION_ERRORS, VERSION_QUERY } from '../object-lookup.ts'
import { jsonResponse } from '../responses.ts'
import { form, object, text, TIME } from '../schemas/schema.ts'
import { rfc3339 } from '../requests/timestamps.ts'

const issueTicket = defineRoute({
  pattern: 'POST /buckets/{bucket}/object-download/{key}',
  roles: EVERYONE,
  summary: 'A path that downloads one version once, within a minute, without a credential.',
  changes: false,
  query: VERSION_QUERY,
  answer: { 201: json(object({ path: form('/d/[A-Za-z0-9_-]{43}'), version_id: text(), expires_at: TIME })) },
  errors: VERSION_ERRORS,
  /** For browsers: a link cannot carry a credential, and a script would have to hold all bytes in memory. */
  handle(request, services) {
    const { bucket, key, object: version } = requireVersion(request, services)
    const { http, identity } = request
    const expiresMilliseconds = millisecondsOf(services.expiryClock() + TICKET_MILLISECONDS)
    const versionId = versionIdOf(version, services.versionIds)
    const name = services.downloads.issue({
      bucket: bucket.name,
      key,
      versionId,
      authorization: http.header('authorization') ?? '',
      credentialId: identity.credentialId,
      expiresMilliseconds,
    })
    if (name === undefined) throw new ManagementError('SLOW_DOWN')
    const expiresAt = rfc3339(microsecondsOf(expiresMilliseconds * 1000))
    return jsonResponse(201, { path: `${TICKET_PATH}${name}`, version_id: versionId, expires_at: expiresAt })
  },
})

export const DOWNLOAD_ROUTES: readonly Route[] = [issueTicket]
