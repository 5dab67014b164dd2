import { BUCKET_NAME_LENGTH, isBucketName, KEY_BYTES_MAXIMUM } from '../../../engine/domain/names.ts'
import { sealedTarget } from '../../../engine/webhooks/target-query.ts'
import { targetFault } from '../../../engine/webhooks/target.ts'
import { EVENT_TYPES } from '../../../engine/events/values.ts'
import { ADMINISTRATORS, defineRoute, EVERYONE, json, NOTHING, type Route } from '../routing/define-route.ts'
import { invalid } from '../errors.ts'
import { newId } from '../requests/identifiers.ts'
import { jsonResponse, noContent } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { FLAG, form, listOf, object, oneOf, orNull, readAs, text } from '../schemas/schema.ts'
import { newSigningSecret, requireWebhook, webhookRecord } from './records.ts'

const listWebhooks = defineRoute({
  pattern: 'GET /webhooks',
  roles: EVERYONE,
  summary: 'All webhooks, without their secrets; for auditors without the queries of their addresses.',
  answer: { 200: json(object({ webhooks: listOf(component('Webhook')) })) },
  handle({ identity: { role } }, services) {
    const webhooks = services.webhooks.reader.webhooks()
    const oldestFirst = webhooks.toSorted((left, right) => left.createdMicroseconds - right.createdMicroseconds)
    return jsonResponse(200, { webhooks: oldestFirst.map((webhook) => webhookRecord(webhook, services, role)) })
  },
  command: command('webhook list', 'list the webhooks', {
    show: { list: 'webhooks', columns: ['id', 'target_url', 'event_types', 'enabled', 'pending'] },
  }),
})

/** A bucket name; the bucket need not exist. */
const BUCKET_FILTER = readAs(text(BUCKET_NAME_LENGTH), (value, field) => {
  const name = text().read(value, field)
  if (!isBucketName(name)) throw invalid(field, 'is not a valid bucket name')
  return name
})

const PREFIX = text({ minimum: 1, maximum: KEY_BYTES_MAXIMUM })
const PREFIX_FILTER = readAs(PREFIX, (value, field) => {
  const prefix = PREFIX.read(value, field)
  if (Buffer.byteLength(prefix) > KEY_BYTES_MAXIMUM)
    throw invalid(field, `must have at most ${KEY_BYTES_MAXIMUM} bytes`)
  return prefix
})

const SIGNING_SECRET = form('whsec_[A-Za-z0-9+/]{43}=')

const createWebhook = defineRoute({
  pattern: 'POST /webhooks',
  roles: ADMINISTRATORS,
  summary: 'Creates a webhook; its signing secret is shown once.',
  request: object(
    {
      target_url: text({ minimum: 1, maximum: 2048 }),
      event_types: listOf(oneOf(...EVENT_TYPES), { minimum: 1, maximum: EVENT_TYPES.length }),
    },
    { bucket_filter: orNull(BUCKET_FILTER), object_prefix_filter: orNull(PREFIX_FILTER), enabled: FLAG },
  ),
  answer: { 201: json(object({ subscription: component('Webhook'), signing_secret: SIGNING_SECRET })) },
  errors: ['TOO_MANY_WEBHOOKS'],
  /** The target is checked again, with the addresses of its name, before every delivery. */
  async handle(request, services) {
    const sent = await request.body()
    const { rules, ownFault } = services.webhooks
    const fault = targetFault(sent.target_url, rules) ?? ownFault(sent.target_url)
    if (fault !== undefined) throw invalid('target_url', fault)
    const webhook = newId('wh')
    const { secret, sealedSecret } = newSigningSecret(webhook, services)
    const settings = {
      webhook,
      ...sealedTarget(sent.target_url, webhook, services.webhooks.secrets),
      eventTypes: EVENT_TYPES.filter((type) => sent.event_types.includes(type)),
      bucket: sent.bucket_filter ?? undefined,
      prefix: sent.object_prefix_filter ?? undefined,
      enabled: sent.enabled ?? true,
    }
    const change = { kind: 'create-webhook', ...settings, sealedSecret } as const
    const { timeMicroseconds } = await request.journal.execute(change, ['id', webhook])
    const state = { ...settings, createdMicroseconds: timeMicroseconds, previousSecret: undefined }
    return jsonResponse(201, {
      subscription: webhookRecord(state, services, request.identity.role),
      signing_secret: secret,
    })
  },
  command: command('webhook create', 'create a webhook; its signing secret is shown once', {
    arguments: { 'target-url': 'text' },
    options: {
      events: 'event types with commas between them, by default all',
      bucket: 'events of this bucket alone',
      prefix: 'events of keys that begin so alone',
      disabled: { flag: 'nothing is sent until it is enabled' },
    },
    call: ({ 'target-url': target, events, bucket, prefix, disabled }) => ({
      body: {
        target_url: target,
        event_types: events?.split(',') ?? EVENT_TYPES,
        bucket_filter: bucket,
        object_prefix_filter: prefix,
        enabled: !disabled,
      },
    }),
  }),
})

const putStatus = defineRoute({
  pattern: 'PUT /webhooks/{id}/status',
  roles: ADMINISTRATORS,
  summary: 'Enables or disables a webhook; disabling drops what is pending.',
  request: object({ enabled: FLAG }),
  answer: { 200: json(component('Webhook')) },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle(request, services) {
    const { enabled } = await request.body()
    // Read before the change: another request may delete the webhook before this one is answered.
    const before = requireWebhook(request.parameters.id, services)
    await request.journal.execute({ kind: 'set-webhook-status', webhook: before.webhook, enabled })
    return jsonResponse(200, webhookRecord({ ...before, enabled }, services, request.identity.role))
  },
  command: (['enable', 'disable'] as const).map((verb) =>
    command(`webhook ${verb}`, verb === 'enable' ? 'enable a webhook' : 'disable a webhook and drop what is pending', {
      arguments: { webhook: 'text' },
      call: () => ({ body: { enabled: verb === 'enable' } }),
    }),
  ),
})

const deleteWebhook = defineRoute({
  pattern: 'DELETE /webhooks/{id}',
  roles: ADMINISTRATORS,
  summary: 'Deletes a webhook with its pending deliveries and its log.',
  answer: { 204: NOTHING },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle(request) {
    await request.journal.execute({ kind: 'delete-webhook', webhook: request.parameters.id })
    return noContent()
  },
  command: command('webhook delete', 'delete a webhook with its pending deliveries and its log', {
    arguments: { webhook: 'text' },
    show: { done: 'deleted' },
  }),
})

const rotateSecret = defineRoute({
  pattern: 'POST /webhooks/{id}/secret',
  roles: ADMINISTRATORS,
  summary: 'Issues a new signing secret; the one before signs along for a day.',
  answer: { 200: json(object({ subscription: component('Webhook'), signing_secret: SIGNING_SECRET })) },
  errors: ['WEBHOOK_NOT_FOUND'],
  async handle(request, services) {
    const before = requireWebhook(request.parameters.id, services)
    const { secret, sealedSecret } = newSigningSecret(before.webhook, services)
    await request.journal.execute({ kind: 'rotate-webhook-secret', webhook: before.webhook, sealedSecret })
    const after = services.webhooks.reader.webhook(before.webhook) ?? before
    return jsonResponse(200, {
      subscription: webhookRecord(after, services, request.identity.role),
      signing_secret: secret,
    })
  },
  command: command(
    'webhook rotate-secret',
    'issue a new signing secret, shown once; the one before signs along for a day',
    {
      arguments: { webhook: 'text' },
    },
  ),
})

export const WEBHOOK_ROUTES: readonly Route[] = [listWebhooks, createWebhook, putStatus, deleteWebhook, rotateSecret]
