import { defineOperation } from '../handling/operation.ts'
import type { S3Request } from '../handling/s3-request.ts'
import type { S3Services } from '../handling/services.ts'
import { requireBucket } from '../handling/lookup.ts'
import { areAllowed, type Permission } from '../policies/permissions.ts'
import { endOfLink } from '../identity/signature-claims.ts'
import { invalidArgument, S3Error } from '../errors/s3-errors.ts'
import { NotificationSource } from '../notifications/notification-source.ts'
import { Subscription } from '../notifications/notification-record.ts'
import type { HttpResponse } from '../../http/exchange.ts'

const PING_SECONDS_MAXIMUM = 3600
const LISTEN_ALL = 's3:ListenNotification'
const LISTEN_BUCKET = 's3:ListenBucketNotification'
const LISTEN = {
  method: 'GET',
  subresource: 'events',
  repeats: ['events'],
  extension: 'listen',
  instead: 'On this server, object-store events follow shows them as they come, and webhooks send them.',
} as const

/** ListenNotification of MinIO: events of all buckets. */
export const listenNotification = defineOperation({
  name: 'ListenNotification',
  level: 'service',
  ...LISTEN,
  action: LISTEN_ALL,
  handle: (request, services) => listen(request, services, undefined),
})

/** ListenBucketNotification of MinIO: events of a bucket, from now on, as lines of JSON in S3's form. */
export const listenBucketNotification = defineOperation({
  name: 'ListenBucketNotification',
  level: 'bucket',
  ...LISTEN,
  action: LISTEN_BUCKET,
  handle: (request, services) => listen(request, services, requireBucket(request, services).name),
})

function listen(request: S3Request, services: S3Services, bucket: string | undefined): HttpResponse {
  const { http, target, identity } = request
  if (identity === undefined) throw new S3Error('AccessDenied')
  const { catalog, owner, credentials, notifications, bucketPolicies, clock } = services
  const end = identity.mode === 'presigned' ? endOfLink(target.query) : Number.POSITIVE_INFINITY
  const asked = permissionsOf(bucket)
  const listener = {
    bucket,
    subscription: subscriptionOf(request),
    prefix: target.query.first('prefix') ?? '',
    suffix: target.query.first('suffix') ?? '',
    pingMilliseconds: pingOf(request),
    regionOf: (name: string) => catalog.snapshot().bucket(name)?.region ?? '',
    owner: owner.id,
    credential: identity.credentialId,
    mayHear() {
      const now = credentials.lookup(identity.accessKey)
      if (now?.credentialId !== identity.credentialId || clock() > end) return undefined
      if (!areAllowed(now, asked, bucketPolicies)) return undefined
      return (name: string) => bucket !== undefined || areAllowed(now, permissionsOfEvents(name), bucketPolicies)
    },
  }
  const body = new NotificationSource(listener, notifications)
  http.onAborted(() => body.abandon())
  return {
    status: 200,
    headers: [
      ['content-type', 'text/event-stream'],
      ['cache-control', 'no-store'],
    ],
    body,
  }
}

function permissionsOf(bucket: string | undefined): Permission[] {
  return bucket === undefined
    ? [{ action: LISTEN_ALL, resource: 'bucket:*' }]
    : [{ action: LISTEN_BUCKET, resource: `bucket:${bucket}` }]
}

/** Of a listener to all buckets, to hear of one: neither action may be denied of it. */
function permissionsOfEvents(bucket: string): Permission[] {
  const resource = `bucket:${bucket}`
  return [
    { action: LISTEN_ALL, resource },
    { action: LISTEN_BUCKET, resource, coveredBy: LISTEN_ALL },
  ]
}

/** @throws S3Error InvalidArgument for a name that S3 does not know */
function subscriptionOf({ target }: S3Request): Subscription {
  const names = target.query.entries.flatMap(([name, value]) => (name === 'events' ? [value] : []))
  const subscription = Subscription.of(names)
  if (subscription instanceof Subscription) return subscription
  const message =
    'A specified event is not supported for notifications. Names are those of S3, such as s3:ObjectCreated:*.'
  throw invalidArgument('events', subscription.unknown, message)
}

/** @throws S3Error InvalidArgument */
function pingOf({ target }: S3Request): number | undefined {
  const text = target.query.first('ping')
  if (text === undefined || text === '0' || text === '') return undefined
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= 1 && seconds <= PING_SECONDS_MAXIMUM) return seconds * 1000
  throw invalidArgument('ping', text, `ping is a number of seconds, at most ${PING_SECONDS_MAXIMUM}.`)
}
