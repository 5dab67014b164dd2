import { isHeaderValue } from '../../../engine/domain/names.ts'
import { LINKS_OF_KEY_MAXIMUM } from '../../../engine/links/rules.ts'
import type { ShareState } from '../../../engine/links/state.ts'
import { PASSWORD_BYTES_MAXIMUM } from '../../exchange/password-hashing.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { bucketIn, requireKey, VERSION_ERRORS } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command, objectPath } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { listOf, object, orNull, readAs, text, whole } from '../schemas/schema.ts'
import {
  LINK_EXPIRY,
  linkExpiry,
  OBJECT_RESOURCE,
  placeOfLink,
  requireShare,
  requireSharing,
  requireTarget,
  SHARE_RESOURCE,
  shareRecord,
  shareUrl,
} from './records.ts'

const FILE_NAME_TEXT = text({ minimum: 1, maximum: 255 })
/** A file name for a download: not a path, and valid in a header. */
const FILE_NAME = readAs(FILE_NAME_TEXT, (value, field) => {
  const name = FILE_NAME_TEXT.read(value, field)
  if (/[/\\]/.test(name) || !isHeaderValue(name)) throw invalid(field, 'must not hold slashes, backslashes or U+FFFD')
  return name
})

/** A shorter one is guessed; links made by earlier versions keep theirs. */
const PASSWORD_CHARACTERS_MINIMUM = 8
const PASSWORD_TEXT = text({ minimum: PASSWORD_CHARACTERS_MINIMUM, maximum: PASSWORD_BYTES_MAXIMUM })
const PASSWORD = readAs(PASSWORD_TEXT, (value, field) => {
  const password = PASSWORD_TEXT.read(value, field)
  if (Buffer.byteLength(password) <= PASSWORD_BYTES_MAXIMUM) return password
  throw invalid(field, `must have at most ${PASSWORD_BYTES_MAXIMUM} bytes`)
})

const listShares = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-shares/{key}',
  roles: EVERYONE,
  summary: 'A page of the shares of an object, oldest first and without their addresses.',
  query: NAMED_QUERY,
  answer: { 200: json(object({ shares: listOf(component('Share')), ...NEXT_AFTER })) },
  /** Shares stay listed after their object is removed, until they are deleted. */
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const { records, next } = namedPage(request, {
      entries: snapshot.sharesOfKey(bucket.id, requireKey(request), LINKS_OF_KEY_MAXIMUM),
      placeOf: ({ createdMicroseconds, share }) => placeOfLink(createdMicroseconds, share),
      recordOf: (share) => shareRecord(share, snapshot, services),
    })
    return jsonResponse(200, { shares: records, next_after: next })
  },
  command: command('share list', 'list the shares of an object', {
    arguments: { target: 'object' },
    options: NAMED_OPTIONS,
    call: ({ target }) => ({ path: objectPath(target) }),
    show: {
      page: 'shares',
      columns: ['id', 'status', 'version_id', 'password_protected', 'downloads', 'maximum_downloads', 'expires_at'],
    },
  }),
})

const createShare = defineRoute({
  pattern: 'POST /buckets/{bucket}/object-shares/{key}',
  roles: ADMINISTRATORS,
  summary: 'Shares an object: anybody with the returned address can download it.',
  records: { operation: 'share.created', resource: OBJECT_RESOURCE },
  request: object(
    {},
    {
      version_id: text({ minimum: 1, maximum: 64 }),
      password: PASSWORD,
      ...LINK_EXPIRY,
      maximum_downloads: orNull(whole({ minimum: 1, maximum: 1_000_000 })),
      file_name: FILE_NAME,
    },
  ),
  answer: { 201: json(component('CreatedShare')) },
  errors: [...VERSION_ERRORS, 'SHARING_DISABLED', 'TOO_MANY_SHARES', 'SHARE_NOT_FOUND'],
  /** Without a version it follows the current object of its key. */
  async handle(request, services) {
    const sent = await request.body()
    requireSharing(services)
    const expiresMicroseconds = linkExpiry(sent, services.expiryClock(), services)
    if (sent.password === undefined && services.sharing.settings().requiresPassword) {
      throw invalid('password', 'must be sent (sharing.require_password)')
    }
    const target = requireTarget(request, sent.version_id, services)
    const password =
      sent.password === undefined
        ? undefined
        : await services.sharing.hashPassword(sent.password, request.identity.credentialId)
    const share = newId('share')
    const { token, digest, sealedToken } = services.sharing.tokens.create('share', share)
    const limits = { expiresMicroseconds, maximumDownloads: sent.maximum_downloads ?? undefined }
    const made = { share, digest, sealedToken, fileName: sent.file_name, password, ...limits }
    await request.journal.execute({ kind: 'create-share', ...target, ...made }, ['id', share])
    const snapshot = services.catalog.snapshot()
    const record = shareRecord(requireShare(share, snapshot), snapshot, services)
    return jsonResponse(201, { ...record, url: shareUrl(token, services) })
  },
})

const getShare = defineRoute({
  pattern: 'GET /shares/{id}',
  roles: EVERYONE,
  summary: 'One share, without its address.',
  answer: { 200: json(component('Share')) },
  errors: ['SHARE_NOT_FOUND'],
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    return jsonResponse(200, shareRecord(requireShare(request.parameters.id, snapshot), snapshot, services))
  },
  command: command('share show', 'show a share', { arguments: { share: 'text' } }),
})

const getShareUrl = defineRoute({
  pattern: 'GET /shares/{id}/url',
  roles: ADMINISTRATORS,
  summary: 'The secret address of a share.',
  answer: { 200: json(component('CapabilityUrl')) },
  errors: ['SHARE_NOT_FOUND'],
  handle(request, services) {
    const { share, sealedToken } = requireShare(request.parameters.id, services.catalog.snapshot())
    return jsonResponse(200, { url: shareUrl(services.sharing.tokens.open(share, sealedToken), services) })
  },
  command: command('share url', 'show the address of a share, which opens it', { arguments: { share: 'text' } }),
})

const revokeShare = defineRoute({
  pattern: 'POST /shares/{id}/revoke',
  roles: ADMINISTRATORS,
  summary: 'Revokes a share permanently: its address stops working with the next request.',
  records: { operation: 'share.revoked', resource: SHARE_RESOURCE },
  answer: { 200: json(component('Share')) },
  errors: ['SHARE_NOT_FOUND'],
  async handle(request, services) {
    // Read before the change: another request may delete the share before this one is answered.
    const before = requireShare(request.parameters.id, services.catalog.snapshot())
    const { timeMicroseconds } = await request.journal.execute({ kind: 'revoke-share', share: before.share })
    const after: ShareState = { ...before, revokedMicroseconds: before.revokedMicroseconds ?? timeMicroseconds }
    return jsonResponse(200, shareRecord(after, services.catalog.snapshot(), services))
  },
  command: command('share revoke', 'revoke a share permanently: its address stops working', {
    arguments: { share: 'text' },
  }),
})

const deleteShare = defineRoute({
  pattern: 'DELETE /shares/{id}',
  roles: ADMINISTRATORS,
  summary: 'Deletes a share without a trace, except in the audit log.',
  records: { operation: 'share.deleted', resource: SHARE_RESOURCE },
  answer: { 204: NOTHING },
  errors: ['SHARE_NOT_FOUND'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-share', share: request.parameters.id })
    return noContent()
  },
  command: command('share delete', 'delete a share', { arguments: { share: 'text' }, show: { done: 'deleted' } }),
})

export const SHARE_ROUTES: readonly Route[] = [listShares, createShare, getShare, getShareUrl, revokeShare, deleteShare]
