/**
 * Webhooks of a server as a user starts it, to a receiver over TLS.
 * Proves: DO-CAP-19, EVT-DEL-03, EVT-TAR-05.
 */
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { ApiClient, basic } from '../support/api-client.ts'
import { type Receiver, startReceiver, statusOf } from '../support/webhooks/receiver.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { startProcess } from '../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { createBucket, put } from '../support/wire-versions.ts'

const LOOK_MILLISECONDS = 50

interface Made {
  readonly subscription: { readonly id: string }
  readonly signing_secret: string
}

interface Log {
  readonly deliveries: readonly { readonly error: string | null }[]
}

async function arrived({ received }: Receiver, count: number): Promise<void> {
  while (received.length < count) await pause(LOOK_MILLISECONDS)
}

test('deliveries over TLS: to an authority of webhooks.ca_file, and to no other', async (t) => {
  const certificate = selfSignedCertificate()
  const trusted = await startReceiver(statusOf(204), certificate)
  const stranger = await startReceiver(statusOf(204), selfSignedCertificate())
  const authorities = join(t.testdir(), 'authorities.pem')
  writeFileSync(authorities, certificate.certificate)
  const server = await startProcess({
    environment: {
      OBJECT_STORE_WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
      OBJECT_STORE_WEBHOOKS_CA_FILE: authorities,
      OBJECT_STORE_WEBHOOKS_POLL_INTERVAL_SECONDS: '1',
    },
  })
  t.teardown(async () => {
    await server.stop()
    await Promise.all([trusted.close(), stranger.close()])
  })
  const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
  const create = (target_url: string) =>
    api.get<Made>('POST', '/webhooks', { target_url, event_types: ['object.created'] })
  for (const endpoint of [server.apiEndpoint, server.endpoint]) {
    const target_url = endpoint.replace('http:', 'https:')
    const refused = await api.call('POST', '/webhooks', { target_url, event_types: ['object.created'] })
    t.match(refused, { status: 400, message: /^target_url: must not be this server itself/ }, target_url)
  }
  const made = await create(trusted.url)
  const other = await create(stranger.url)
  await createBucket(server, 'sent')
  await put(server, 'sent/first', 'x')
  await put(server, 'sent/second', 'x')
  await arrived(trusted, 2)
  for (const { body, headers } of trusted.received) {
    const expected = createHmac('sha256', made.signing_secret).update(body).digest('hex')
    t.equal(headers['x-object-store-signature'], `sha256=${expected}`)
  }
  t.same(trusted.received.map(({ body }) => (JSON.parse(String(body)) as { object: string }).object).toSorted(), [
    'first',
    'second',
  ])
  let log: Log
  do {
    await pause(LOOK_MILLISECONDS)
    log = await api.get<Log>('GET', `/webhook-deliveries?webhook_id=${other.subscription.id}`)
  } while (log.deliveries.length === 0)
  t.match(log.deliveries[0], { error: /self-signed certificate/ })
  const { events } = await api.get<{ events: readonly { metadata: Readonly<Record<string, unknown>> }[] }>(
    'GET',
    '/audit/events?operation=webhook.deliver&result=success&bucket=sent',
  )
  const told = events.map(({ metadata }) => String(metadata['webhooks'])).join(' ')
  for (const { subscription } of [made, other]) t.match(told, subscription.id, 'the record names the webhook')
  t.match(events[0]?.metadata, { events: /^\d{16}-0000/, bucket: 'sent' }, 'its events and their bucket')
  t.equal(stranger.received.length, 0, 'who is not trusted gets nothing')
})
