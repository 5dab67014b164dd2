import type { EmbedState } from '../../../engine/links/state.ts'
import { LINKS_OF_KEY_MAXIMUM } from '../../../engine/links/rules.ts'
import { isOrigin } from '../../http/headers/origin.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { NAMED_OPTIONS, NAMED_QUERY, namedPage, NEXT_AFTER } from '../requests/named-pages.ts'
import { bucketIn, requireKey, VERSION_ERRORS } from '../object-lookup.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command, objectPath } from '../routing/route-command.ts'
import { EXPIRES_AT } from '../schemas/common.ts'
import { component } from '../schemas/components.ts'
import { listOf, object, text, whole } from '../schemas/schema.ts'
import {
  EMBED_RESOURCE,
  embedRecord,
  embedUrl,
  LINK_EXPIRY,
  linkExpiry,
  OBJECT_RESOURCE,
  placeOfLink,
  requireEmbed,
  requireSharing,
  requireTarget,
} from './records.ts'

const ORIGINS_MAXIMUM = 32
/** Maximum time that caches may serve an embed after its revocation. */
const CACHE_SECONDS = whole({ minimum: 0, maximum: 3600 })
const CACHE_SECONDS_STANDARD = 60

const ORIGINS = listOf(text({ minimum: 1, maximum: 256 }), { minimum: 1, maximum: ORIGINS_MAXIMUM })

/**
 * Origins as browsers send them (RFC 6454 section 6.2), each once, or `*` alone for all.
 * @throws ManagementError INVALID_REQUEST
 */
function originsOf(sent: readonly string[]): readonly string[] {
  const origins = [...new Set(sent)]
  if (origins.length === 1 && origins[0] === '*') return origins
  const wrong = sent.findIndex((origin) => !isOrigin(origin))
  if (wrong === -1) return origins
  const reason = 'must be an origin such as https://www.example.com, or the list be * alone'
  throw invalid(`allowed_origins[${wrong}]`, reason)
}

const listEmbeds = defineRoute({
  pattern: 'GET /buckets/{bucket}/object-embeds/{key}',
  roles: EVERYONE,
  summary: 'A page of the embeds of an object, oldest first and without their addresses.',
  query: NAMED_QUERY,
  answer: { 200: json(object({ embeds: listOf(component('Embed')), ...NEXT_AFTER })) },
  /** Embeds stay listed after their object is removed, until they are deleted. */
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.parameters.bucket)
    const { records, next } = namedPage(request, {
      entries: snapshot.embedsOfKey(bucket.id, requireKey(request), LINKS_OF_KEY_MAXIMUM),
      placeOf: ({ createdMicroseconds, embed }) => placeOfLink(createdMicroseconds, embed),
      recordOf: (embed) => embedRecord(embed, snapshot, services),
    })
    return jsonResponse(200, { embeds: records, next_after: next })
  },
  command: command('embed list', 'list the embeds of an object', {
    arguments: { target: 'object' },
    options: NAMED_OPTIONS,
    call: ({ target }) => ({ path: objectPath(target) }),
    show: { page: 'embeds', columns: ['id', 'status', 'version_id', 'allowed_origins', 'cache_seconds', 'expires_at'] },
  }),
})

const createEmbed = defineRoute({
  pattern: 'POST /buckets/{bucket}/object-embeds/{key}',
  roles: ADMINISTRATORS,
  summary: 'Embeds an object: pages of these origins can show it with the returned address.',
  records: { operation: 'embed.created', resource: OBJECT_RESOURCE },
  request: object(
    { allowed_origins: ORIGINS },
    {
      version_id: text({ minimum: 1, maximum: 64 }),
      ...LINK_EXPIRY,
      cache_seconds: CACHE_SECONDS,
    },
  ),
  answer: { 201: json(component('CreatedEmbed')) },
  errors: [...VERSION_ERRORS, 'SHARING_DISABLED', 'TOO_MANY_EMBEDS', 'EMBED_NOT_FOUND'],
  /** Without a version it follows the current object of its key. */
  async handle(request, services) {
    const sent = await request.body()
    requireSharing(services)
    const allowedOrigins = originsOf(sent.allowed_origins)
    const expiresMicroseconds = linkExpiry(sent, services.expiryClock(), services)
    const target = requireTarget(request, sent.version_id, services)
    const embed = newId('embed')
    const { token, digest, sealedToken } = services.sharing.tokens.create('embed', embed)
    const settings = {
      allowedOrigins,
      cacheSeconds: sent.cache_seconds ?? CACHE_SECONDS_STANDARD,
    }
    const made = { embed, digest, sealedToken, expiresMicroseconds, ...settings }
    await request.journal.execute({ kind: 'create-embed', ...target, ...made }, ['id', embed])
    const snapshot = services.catalog.snapshot()
    const record = embedRecord(requireEmbed(embed, snapshot), snapshot, services)
    return jsonResponse(201, { ...record, url: embedUrl(token, services) })
  },
  command: command('embed create', 'embed an object: shows the address that pages of other origins show it by', {
    arguments: { target: 'object' },
    options: {
      origins: 'origins of pages that may show it, with commas between them; all by default',
      expires: { seconds: 'seconds until it expires, or a duration such as 12h or 30d' },
      'expires-at': { time: EXPIRES_AT },
      'version-id': 'this version, instead of whatever is current',
      'cache-seconds': { seconds: 'how long caches may keep it, 60 by default' },
    },
    call: ({ target, origins = '*', expires, 'expires-at': at, 'version-id': version, 'cache-seconds': cache }) => ({
      path: objectPath(target),
      body: {
        allowed_origins: origins.split(','),
        expires_in_seconds: expires,
        expires_at: at,
        version_id: version,
        cache_seconds: cache,
      },
    }),
  }),
})

const getEmbed = defineRoute({
  pattern: 'GET /embeds/{id}',
  roles: EVERYONE,
  summary: 'One embed, without its address.',
  answer: { 200: json(component('Embed')) },
  errors: ['EMBED_NOT_FOUND'],
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    return jsonResponse(200, embedRecord(requireEmbed(request.parameters.id, snapshot), snapshot, services))
  },
  command: command('embed show', 'show an embed', { arguments: { embed: 'text' } }),
})

const updateEmbed = defineRoute({
  pattern: 'PATCH /embeds/{id}',
  roles: ADMINISTRATORS,
  summary: 'Changes an embed; absent members stay unchanged. An expiry of null means never.',
  records: { operation: 'embed.updated', resource: EMBED_RESOURCE },
  request: object({}, { allowed_origins: ORIGINS, ...LINK_EXPIRY, cache_seconds: CACHE_SECONDS }),
  answer: { 200: json(component('Embed')) },
  errors: ['EMBED_NOT_FOUND', 'EMBED_REVOKED'],
  async handle(request, services) {
    const sent = await request.body()
    const { allowed_origins, cache_seconds } = sent
    const allowedOrigins = allowed_origins && originsOf(allowed_origins)
    const expiry =
      sent.expires_in_seconds === undefined && sent.expires_at === undefined
        ? undefined
        : { expiresMicroseconds: linkExpiry(sent, services.expiryClock(), services) }
    // Read before the change: another request may delete the embed before this one is answered.
    const before = requireEmbed(request.parameters.id, services.catalog.snapshot())
    const { embed } = before
    await request.journal.execute({ kind: 'update-embed', embed, allowedOrigins, expiry, cacheSeconds: cache_seconds })
    const snapshot = services.catalog.snapshot()
    return jsonResponse(200, embedRecord(snapshot.embed(embed) ?? before, snapshot, services))
  },
  command: command('embed update', 'change an embed; options not given stay unchanged', {
    arguments: { embed: 'text' },
    options: {
      origins: 'origins of pages that may show it, with commas between them',
      expires: { seconds: 'seconds until it expires, or a duration such as 12h or 30d' },
      'expires-at': { time: EXPIRES_AT },
      'never-expires': { flag: 'it does not expire' },
      'cache-seconds': { seconds: 'how long caches may keep it' },
    },
    call: ({ origins, expires, 'expires-at': at, 'never-expires': never, 'cache-seconds': cache }) => ({
      body: {
        allowed_origins: origins?.split(','),
        expires_in_seconds: never ? null : expires,
        expires_at: at,
        cache_seconds: cache,
      },
    }),
  }),
})

const getEmbedUrl = defineRoute({
  pattern: 'GET /embeds/{id}/url',
  roles: ADMINISTRATORS,
  summary: 'The secret address of an embed.',
  answer: { 200: json(component('CapabilityUrl')) },
  errors: ['EMBED_NOT_FOUND'],
  handle(request, services) {
    const { embed, sealedToken } = requireEmbed(request.parameters.id, services.catalog.snapshot())
    return jsonResponse(200, { url: embedUrl(services.sharing.tokens.open(embed, sealedToken), services) })
  },
  command: command('embed url', 'show the address of an embed, which opens it', { arguments: { embed: 'text' } }),
})

const revokeEmbed = defineRoute({
  pattern: 'POST /embeds/{id}/revoke',
  roles: ADMINISTRATORS,
  summary: 'Revokes an embed permanently: its address stops working with the next request.',
  records: { operation: 'embed.revoked', resource: EMBED_RESOURCE },
  answer: { 200: json(component('Embed')) },
  errors: ['EMBED_NOT_FOUND'],
  async handle(request, services) {
    // Read before the change: another request may delete the embed before this one is answered.
    const before = requireEmbed(request.parameters.id, services.catalog.snapshot())
    const { timeMicroseconds } = await request.journal.execute({ kind: 'revoke-embed', embed: before.embed })
    const after: EmbedState = { ...before, revokedMicroseconds: before.revokedMicroseconds ?? timeMicroseconds }
    return jsonResponse(200, embedRecord(after, services.catalog.snapshot(), services))
  },
  command: command('embed revoke', 'revoke an embed permanently: its address stops working', {
    arguments: { embed: 'text' },
  }),
})

const deleteEmbed = defineRoute({
  pattern: 'DELETE /embeds/{id}',
  roles: ADMINISTRATORS,
  summary: 'Deletes an embed without a trace, except in the audit log.',
  records: { operation: 'embed.deleted', resource: EMBED_RESOURCE },
  answer: { 204: NOTHING },
  errors: ['EMBED_NOT_FOUND'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-embed', embed: request.parameters.id })
    return noContent()
  },
  command: command('embed delete', 'delete an embed', { arguments: { embed: 'text' }, show: { done: 'deleted' } }),
})

export const EMBED_ROUTES: readonly Route[] = [
  listEmbeds,
  createEmbed,
  getEmbed,
  updateEmbed,
  getEmbedUrl,
  revokeEmbed,
  deleteEmbed,
]
