/**
 * Routes of webhooks. What they send is in spec/workers.
 * Proves: RES-HOO-01, RES-HOO-02, RES-HOO-03, RES-HOO-04, RES-HOO-05, RES-HOO-06, STA-HOO-03, API-EVT-04, API-EVT-05,
 * API-EVT-06, API-EVT-07, EVT-TAR-02, EVT-TAR-03, LIM-VAL-09.
 */
import tap, { test } from 'tap'
import { microsecondsOf } from '../../../engine/brands.ts'
import type { WebhookState } from '../../../engine/webhooks/state.ts'
import { openedTarget } from '../../../engine/webhooks/target-query.ts'
import { SecretBoxError } from '../../../engine/keys/secret-box.ts'
import { ApiClient, bearer } from '../../support/api-client.ts'
import { attemptOf, recordDeliveries, reportOf } from '../../support/webhooks/webhook-commands.ts'
import { startManaged } from '../../support/management-server.ts'

interface Subscription {
  readonly id: string
  readonly [name: string]: unknown
}
interface Created {
  readonly subscription: Subscription
  readonly signing_secret: string
}

const tested: WebhookState[] = []
const server = await startManaged({
  webhooks: {
    test: async (webhook) => {
      tested.push(webhook)
      return { event: 'test-1', timeMicroseconds: microsecondsOf(1000), status: 503, error: 'the target answered 503' }
    },
  },
})
tap.teardown(() => server.stop())
const { api } = server

const MINIMAL = { target_url: 'https://receiver.example/hook?token=t', event_types: ['object.created'] }

function create(changed: object = {}): Promise<Created> {
  return api.get<Created>('POST', '/webhooks', { ...MINIMAL, ...changed })
}

test('creation shows the signing secret once, and defaults', async (t) => {
  const { subscription, signing_secret: secret } = await create()
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(Buffer.from(secret.slice(6), 'base64').length, 32)
  t.match(subscription, {
    id: /^wh-[a-z2-7]{20}$/,
    ...MINIMAL,
    bucket_filter: null,
    object_prefix_filter: null,
    enabled: true,
    previous_secret_until: null,
    pending: 0,
    replaying: false,
  })
  const list = await api.call('GET', '/webhooks')
  t.match(list.json, { webhooks: [subscription] })
  t.notOk(list.text.includes(secret.slice(6)), 'never again')
  t.notOk((await server.journalText()).includes(secret), 'and it is not in the journal')
  const stored = server.session.webhooks.webhook(subscription.id)
  t.equal(server.session.webhookSecrets.open(stored?.sealedSecret ?? Buffer.alloc(0), subscription.id), secret)
})

async function targetsShown(authorization: string): Promise<Record<string, unknown>> {
  const client = ApiClient.of(server.apiEndpoint, authorization, () => {})
  const { webhooks } = await client.get<{ webhooks: Subscription[] }>('GET', '/webhooks')
  client.close()
  return Object.fromEntries(webhooks.map(({ id, target_url: target }) => [id, target]))
}

async function issued(role: string): Promise<string> {
  return bearer((await api.get<{ token: string }>('POST', '/management-tokens', { name: role, role })).token)
}

test('the query of an address is sealed, and only who manages webhooks is shown it', async (t) => {
  const address = 'https://receiver.example/hook'
  const [sealed, without, empty] = [
    await create({ target_url: `${address}?key=a-password-of-theirs&a=?` }),
    await create({ target_url: address }),
    await create({ target_url: `${address}?` }),
  ].map(({ subscription }) => subscription.id) as [string, string, string]
  const text = await server.journalText()
  t.ok(text.includes(address), 'the search finds what is there')
  t.notOk(text.includes('a-password-of-theirs'))
  const whole = {
    [sealed]: `${address}?key=a-password-of-theirs&a=?`,
    [without]: address,
    [empty]: `${address}?`,
  }
  t.match(await targetsShown(await issued('storage-administrator')), whole)
  t.match(await targetsShown(await issued('auditor')), {
    [sealed]: `${address}?...`,
    [without]: address,
    [empty]: `${address}?`,
  })
  const state = server.session.webhooks.webhook(sealed) as WebhookState
  t.equal(openedTarget(state, server.session.webhookSecrets), whole[sealed], 'what the sender sends to')
  t.throws(() => openedTarget({ ...state, webhook: without }, server.session.webhookSecrets), SecretBoxError)
  t.throws(() => server.session.webhookSecrets.open(state.sealedQuery ?? Buffer.alloc(0), sealed), SecretBoxError)
})

test('filters, and a bucket that is not there', async (t) => {
  const types = ['object.deleted', 'object.created', 'object.deleted']
  const filters = { bucket_filter: 'not-there-yet', object_prefix_filter: '2026/', enabled: false, event_types: types }
  const { subscription } = await create(filters)
  t.match(subscription, { ...filters, event_types: ['object.created', 'object.deleted'] })
})

test('what is not valid is refused by name', async (t) => {
  const refused: [changed: object, message: RegExp][] = [
    [{ target_url: undefined }, /^target_url: is missing/],
    [{ target_url: 'http://receiver.example/' }, /^target_url: must be https/],
    [{ target_url: 'https://user:word@receiver.example/' }, /^target_url: .*password/],
    [{ target_url: 'https://receiver.example/#a' }, /^target_url: .*fragment/],
    [{ target_url: 'https://10.0.0.1/' }, /^target_url: .*private network/],
    [{ target_url: 'receiver' }, /^target_url: must be an https URL/],
    [{ event_types: [] }, /^event_types: /],
    [{ event_types: ['object.read'] }, /^event_types\[0\]: must be one of bucket\.created/],
    [{ bucket_filter: 'No' }, /^bucket_filter: /],
    [{ object_prefix_filter: '' }, /^object_prefix_filter: /],
    [{ object_prefix_filter: 'ä'.repeat(600) }, /^object_prefix_filter: .*1024 bytes/],
    [{ enabled: 'yes' }, /^enabled: must be true or false/],
    [{ secret: 'mine' }, /^secret: unknown field/],
  ]
  for (const [changed, message] of refused) {
    const answer = await api.call('POST', '/webhooks', { ...MINIMAL, ...changed })
    t.match(answer, { status: 400, code: 'INVALID_REQUEST', message }, String(message))
  }
})

test('a target that the settings refuse now is refused by name; an open server takes it', async (t) => {
  const open = await startManaged({ webhooks: { rules: { allowHttp: true, allowPrivateNetworks: true } } })
  t.teardown(() => open.stop())
  t.equal((await open.api.call('POST', '/webhooks', { ...MINIMAL, target_url: 'http://127.0.0.1:9/' })).status, 201)
  const metadata = await open.api.call('POST', '/webhooks', { ...MINIMAL, target_url: 'http://169.254.169.254/' })
  t.match(metadata, { status: 400, message: /metadata/ })
})

test('status, rotation and deletion', async (t) => {
  const { subscription, signing_secret: first } = await create()
  const path = `/webhooks/${subscription.id}`
  t.match((await api.call('PUT', `${path}/status`, { enabled: false })).json, { id: subscription.id, enabled: false })
  const rotated = await api.get<Created>('POST', `${path}/secret`)
  t.not(rotated.signing_secret, first)
  const until = Date.parse(String(rotated.subscription['previous_secret_until']))
  t.ok(Math.abs(until - Date.now() - 24 * 3_600_000) < 600_000, 'the secret before signs along for a day')
  t.equal((await api.call('DELETE', path)).status, 204)
  for (const [method, rest, body] of [
    ['PUT', '/status', { enabled: true }],
    ['POST', '/secret'],
    ['POST', '/test'],
    ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
    ['DELETE', ''],
  ] as const) {
    t.match(
      await api.call(method, `${path}${rest}`, body),
      { status: 404, code: 'WEBHOOK_NOT_FOUND' },
      `${method} ${rest}`,
    )
  }
})

test('a test is answered with what came of it, and is in the log', async (t) => {
  const { subscription } = await create({ enabled: false })
  const answer = await api.call('POST', `/webhooks/${subscription.id}/test`)
  const delivery = {
    webhook_id: subscription.id,
    event_id: 'test-1',
    kind: 'test',
    attempt: 1,
    timestamp: '1970-01-01T00:00:00.001000Z',
    success: false,
    status: 503,
    error: 'the target answered 503',
    next_attempt_at: null,
  }
  t.match(answer, { status: 200, json: delivery })
  t.equal(tested.at(-1)?.webhook, subscription.id)
  const log = await api.get<object>('GET', `/webhook-deliveries?webhook_id=${subscription.id}`)
  t.same(log, { deliveries: [delivery] })
  const outcome = (await server.journal()).findLast(({ operation }) => operation.endsWith('/test'))
  t.match(outcome, { result: 'success' })
})

test('the delivery log: newest first, of one webhook or of all, bounded', async (t) => {
  const { subscription } = await create()
  const { id } = subscription
  const start = server.session.webhooks.webhook(id)?.startSequence
  if (start === undefined) throw new Error('the webhook is not there')
  const attempts = [attemptOf(7, 1, 'the target answered 500', 9_000_000), attemptOf(7, 2), attemptOf(8, 3)]
  await server.store.client.execute(recordDeliveries(reportOf(id, start, 8, { attempts })))
  const { deliveries } = await api.get<{ deliveries: object[] }>('GET', `/webhook-deliveries?webhook_id=${id}`)
  t.match(deliveries, [
    { event_id: '0000000000000008-0000', kind: 'event', success: true, status: 200, error: null },
    { event_id: '0000000000000007-0000', attempt: 2, success: true },
    { attempt: 1, success: false, error: 'the target answered 500', next_attempt_at: '1970-01-01T00:00:09.000000Z' },
  ])
  const newest = await api.get<{ deliveries: object[] }>('GET', '/webhook-deliveries?limit=1')
  t.same(newest.deliveries, deliveries.slice(0, 1))
  t.equal((await api.call('GET', '/webhook-deliveries?limit=1001')).status, 400)
  t.equal((await api.call('GET', '/webhook-deliveries?webhook_id=wh-none')).code, 'WEBHOOK_NOT_FOUND')
})

test('the delivery log shows a hundred attempts unless it is asked for others', async (t) => {
  const { id } = (await create()).subscription
  const start = server.session.webhooks.webhook(id)?.startSequence
  if (start === undefined) throw new Error('the webhook is not there')
  const attempts = Array.from({ length: 120 }, (_, index) => attemptOf(index + 1, 1))
  await server.store.client.execute(recordDeliveries(reportOf(id, start, 120, { attempts })))
  const shown = async (query: string) => {
    const log = await api.get<{ deliveries: unknown[] }>('GET', `/webhook-deliveries?webhook_id=${id}${query}`)
    return log.deliveries.length
  }
  t.same([await shown(''), await shown('&limit=110'), await shown('&limit=1000')], [100, 110, 120])
})

test('a replay is of the past, and one at a time', async (t) => {
  const { subscription } = await create()
  const path = `/webhooks/${subscription.id}/replay`
  for (const [body, message] of [
    [{}, /^since: is missing/],
    [{ since: 'yesterday' }, /^since: must be a time/],
    [{ since: '2999-01-01T00:00:00Z' }, /^since: must be before/],
    [{ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, /^since: must be before/],
  ] as const) {
    t.match(await api.call('POST', path, body), { status: 400, message }, String(message))
  }
  const answer = await api.call('POST', path, { since: '2020-01-01T00:00:00Z', until: '2999-01-01T00:00:00Z' })
  t.match(answer, { status: 202, json: { id: subscription.id, replaying: true } })
  t.match(await api.call('POST', path, { since: '2020-01-01T00:00:00Z' }), { status: 409, code: 'WEBHOOK_REPLAYING' })
  const replay = server.session.webhooks.progress(subscription.id)?.replay
  t.ok((replay?.untilMicroseconds ?? 0) <= Date.now() * 1000, 'it ends now at the latest')
})

test('what the answers said is what the OpenAPI document says', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
