/**
 * One attempt of a delivery, against real receivers: target restrictions, TLS, answers of every kind.
 * Proves: RES-HOO-07, STA-HOO-04, EVT-DEL-01, EVT-DEL-04, EVT-DEL-05, EVT-TAR-01, EVT-TAR-02, EVT-TAR-04, EVT-TAR-05,
 * EVT-TAR-06.
 */
import { getEventListeners } from 'node:events'
import { types } from 'node:util'
import { microsecondsOf, millisecondsOf } from '../../engine/brands.ts'
import { type Test, test } from 'tap'
import { SecretBox } from '../../engine/keys/secret-box.ts'
import { sealedTarget } from '../../engine/webhooks/target-query.ts'
import { WebhookSender } from '../../workers/webhooks/sender.ts'
import { systemResolver } from '../../workers/webhooks/resolver.ts'
import { type Answering, type Receiver, startReceiver, statusOf } from '../support/webhooks/receiver.ts'
import { EARLIER_SECRET, SECRETS, storageEvent, webhookTo } from '../support/webhooks/sample-events.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'

type Options = ConstructorParameters<typeof WebhookSender>[0]

function senderWith(changed: Partial<Options> = {}): WebhookSender {
  return new WebhookSender({
    rules: { allowHttp: true, allowPrivateNetworks: true },
    timeoutMilliseconds: 5000,
    certificates: undefined,
    secrets: SECRETS,
    deploymentId: 'd'.repeat(32),
    version: '0.0.0-spec',
    clock: () => millisecondsOf(1_767_323_050_000),
    resolve: async () => ['127.0.0.1'],
    ownListeners: () => [],
    ...changed,
  })
}

async function receiver(t: Test, answer?: Answering): Promise<Receiver> {
  const started = await startReceiver(answer)
  t.teardown(() => started.close())
  return started
}

function neverResolves(): Promise<never> {
  return new Promise(() => undefined)
}

test('a delivery arrives as it was signed', async (t) => {
  const methods: (string | undefined)[] = []
  const target = await receiver(t, (response, { method }) => {
    methods.push(method)
    response.writeHead(204).end()
  })
  const sent = await senderWith().send(webhookTo(target.url), storageEvent(42))
  t.same(methods, ['POST'])
  t.same(sent, { timeMicroseconds: 1_767_323_050_000_000, status: 204, error: undefined, askedMilliseconds: 0 })
  const [got] = target.received
  t.match(got, {
    path: '/hook',
    headers: { 'x-object-store-event-id': '0000000000000042-0000', 'user-agent': 'object-store/0.0.0-spec' },
  })
  t.notOk(got?.headers['x-object-store-test'])
  t.equal(JSON.parse(String(got?.body)).object, '2026/42.jpg')
  await senderWith().send(webhookTo(target.url), storageEvent(0), { testId: 'test-1' })
  t.match(target.received[1], {
    headers: { 'x-object-store-test': 'true', 'x-object-store-event-id': 'test-1', 'ce-id': 'test-1' },
  })
  t.match(JSON.parse(String(target.received[1]?.body)), { id: 'test-1' })
})

test('a sealed query is sent with the address, also after the master key was changed', async (t) => {
  const target = await receiver(t)
  const sealed = webhookTo(target.url, sealedTarget(`${target.url}?key=%20word&b`, 'wh-sample', SECRETS))
  t.notMatch(sealed.target, '?')
  await senderWith().send(sealed, storageEvent(1))
  const changed = new SecretBox(Buffer.alloc(32, 10), [Buffer.alloc(32, 9)])
  await senderWith({ secrets: changed }).send(sealed, storageEvent(2))
  await senderWith().send(webhookTo(`${target.url}?never=sealed`), storageEvent(3))
  t.same(
    target.received.map(({ path }) => path),
    ['/hook?key=%20word&b', '/hook?key=%20word&b', '/hook?never=sealed'],
  )
  const stranger = senderWith({ secrets: new SecretBox(Buffer.alloc(32, 11)) })
  t.match(await stranger.send(sealed, storageEvent(4)), {
    status: undefined,
    error: /^target_url: its query cannot be/,
  })
  t.equal(target.received.length, 3, 'nothing is sent without its query')
})

test('what a receiver answers', async (t) => {
  const target = await receiver(t)
  const answers: [answer: Answering, expected: object][] = [
    [statusOf(200), { status: 200, error: undefined }],
    [statusOf(299), { status: 299, error: undefined }],
    [statusOf(301, { location: `${target.url}/elsewhere` }), { status: 301, error: 'the target answered 301' }],
    [statusOf(410), { status: 410, error: 'the target answered 410' }],
    [statusOf(503, { 'retry-after': '120' }), { status: 503, askedMilliseconds: 120_000 }],
    [statusOf(503, { 'retry-after': 'soon' }), { status: 503, askedMilliseconds: 0 }],
    [(response) => response.destroy(), { status: undefined, error: /socket hang up/ }],
    [(response) => void response.socket?.end('no HTTP at all\r\n\r\n'), { status: undefined, error: /Parse Error/ }],
    [statusOf(200, { 'x-large': 'x'.repeat(20_000) }), { status: undefined, error: /Header overflow/ }],
    [(response) => void response.writeHead(200).end(Buffer.alloc(8 << 20)), { status: 200, error: undefined }],
    [(response) => void response.writeHead(500).end(Buffer.alloc(8 << 20)), { status: 500 }],
    [
      (response) =>
        void response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      { status: undefined, error: /another protocol/ },
    ],
  ]
  for (const [answer, expected] of answers) {
    target.answer = answer
    t.match(await senderWith().send(webhookTo(target.url), storageEvent(1)), expected)
  }
  t.equal(target.received.length, answers.length, 'a redirect is not followed')
  t.equal(target.connections, answers.length, 'a connection serves one delivery')
})

test('a receiver that does not answer, and one whose body never ends', async (t) => {
  const hanging = await receiver(t, () => undefined)
  const sender = senderWith({ timeoutMilliseconds: 50 })
  t.match(await sender.send(webhookTo(hanging.url), storageEvent(1)), {
    status: undefined,
    error: 'the target did not answer in time',
  })
  const dripping = await receiver(t, (response) => void response.writeHead(200).write('and'))
  t.match(
    await senderWith().send(webhookTo(dripping.url), storageEvent(1)),
    { status: 200, error: undefined },
    'its head has decided',
  )
  const unresolved = senderWith({ timeoutMilliseconds: 50, resolve: neverResolves })
  const waiting = unresolved.send(webhookTo('http://slow.example/'), storageEvent(1))
  t.match(await waiting, { error: 'the target did not answer in time' }, 'nor a name server')
  const stopped = new AbortController()
  hanging.answer = () => stopped.abort()
  t.match(await senderWith().send(webhookTo(hanging.url), storageEvent(1), { signal: stopped.signal }), {
    status: undefined,
  })
})

test('nothing of an attempt that is over stays with the signal that would have given it up', async (t) => {
  const stopped = new AbortController()
  const { signal } = stopped
  const target = await receiver(t)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    t.match(await senderWith().send(webhookTo(target.url), storageEvent(1), { signal }), { status: 204 })
  }
  t.same(getEventListeners(signal, 'abort'), [])
  // What AbortSignal.any() makes is kept by Node.js 20 for as long as the signal that it was made of.
  const held = Reflect.ownKeys(signal).map((name) => Reflect.get(signal, name) as unknown)
  t.same(
    held.filter((one) => types.isSet(one) && one.size > 0),
    [],
  )
})

test('an attempt that is given up ends at once, and not as a timeout', async (t) => {
  const stopped = new AbortController()
  const target = await receiver(t, () => stopped.abort())
  const sent = await senderWith().send(webhookTo(target.url), storageEvent(1), { signal: stopped.signal })
  t.match(sent, { status: undefined, error: /abort/i })
  const after = await senderWith().send(webhookTo(target.url), storageEvent(1), { signal: stopped.signal })
  t.match(after, { status: undefined, error: /abort/i })
  t.equal(target.received.length, 1)
})

test('a name is resolved at every attempt, and all of its addresses must be allowed', async (t) => {
  const target = await receiver(t)
  const answers = [['127.0.0.1'], ['127.0.0.1', '169.254.169.254'], [], ['::ffff:169.254.169.254'], ['127.0.0.1']]
  const asked: string[] = []
  const sender = senderWith({
    resolve: async (name) => {
      asked.push(name)
      return answers.shift() ?? []
    },
  })
  const url = `http://receiver.example:${target.port}/hook`
  const errors: (string | undefined)[] = []
  while (answers.length > 0) errors.push((await sender.send(webhookTo(url), storageEvent(1))).error)
  t.match(errors, [undefined, /metadata/, /no address/, /metadata/, undefined])
  t.same(asked, Array(5).fill('receiver.example'))
  t.equal(target.received.length, 2)
  t.equal(target.received[0]?.headers.host, `receiver.example:${target.port}`)
})

test('without the settings that open them, http and private networks are refused at every attempt', async (t) => {
  const target = await receiver(t)
  const closed = senderWith({ rules: { allowHttp: true, allowPrivateNetworks: false } })
  const byName = `http://receiver.example:${target.port}/`
  t.match(await closed.send(webhookTo(target.url), storageEvent(1)), { error: /allow_private_networks/ })
  t.match(await closed.send(webhookTo(byName), storageEvent(1)), { error: /allow_private_networks/ })
  const strict = senderWith({ rules: { allowHttp: false, allowPrivateNetworks: true } })
  t.match(await strict.send(webhookTo(byName), storageEvent(1)), { error: /allow_http/ })
  t.match(await strict.send(webhookTo('https://user:word@example.com/'), storageEvent(1)), { error: /password/ })
  t.equal(target.connections, 0)
})

test('this server itself is never a target', async (t) => {
  const target = await receiver(t)
  const urls = [target.url, `http://receiver.example:${target.port}/`, `http://[::ffff:127.0.0.1]:${target.port}/`]
  for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
    const sender = senderWith({ ownListeners: () => [{ host, port: target.port }] })
    for (const url of urls)
      t.match(await sender.send(webhookTo(url), storageEvent(1)), { error: /this server itself/ }, url)
  }
  const own = senderWith({ ownListeners: () => [{ host: '0.0.0.0', port: 7601 }] })
  for (const host of ['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST.', 'a.localhost', '[::ffff:127.0.0.1]'])
    t.match(own.ownFault(`http://${host}:7601/hook`), /this server itself/, host)
  for (const url of ['http://127.0.0.1:7602/', 'http://localhost/', 'http://receiver.example:7601/'])
    t.equal(own.ownFault(url), undefined, url)
  const bound = senderWith({ ownListeners: () => [{ host: '10.9.8.7', port: 1 }] })
  for (const host of ['10.9.8.7', '[::ffff:10.9.8.7]', '[::ffff:a09:807]', '[0:0:0:0:0:FFFF:0A09:0807]'])
    t.match(await bound.send(webhookTo(`http://${host}:1/`), storageEvent(1)), { error: /this server itself/ }, host)
  t.equal(target.connections, 0)
  const other = senderWith({ ownListeners: () => [{ host: '127.0.0.1', port: target.port + 1 }] })
  t.match(await other.send(webhookTo(target.url), storageEvent(1)), { status: 204 })
})

test('no proxy of the environment is used', async (t) => {
  const proxy = await receiver(t)
  const target = await receiver(t)
  for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY']) {
    process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`
    t.teardown(() => delete process.env[name])
  }
  t.match(await senderWith().send(webhookTo(target.url), storageEvent(1)), { status: 204 })
  t.equal(proxy.connections, 0)
})

test('TLS: the certificate must be for the name, and of an authority that is trusted', async (t) => {
  const tls = selfSignedCertificate({ name: 'receiver.example' })
  const target = await startReceiver(statusOf(204), tls)
  t.teardown(() => target.close())
  const byName = webhookTo(`https://receiver.example:${target.port}/`)
  t.match(await senderWith().send(byName, storageEvent(1)), { error: /self-signed certificate/ })
  const trusting = senderWith({ certificates: tls.certificate })
  t.match(await trusting.send(byName, storageEvent(1)), { status: 204, error: undefined })
  const other = webhookTo(`https://other.example:${target.port}/`)
  t.match(await trusting.send(other, storageEvent(1)), { error: /altnames/ })
  t.equal(target.received.length, 1)
})

test('a secret that cannot be opened fails that webhook with the reason; a rotated one signs with both', async (t) => {
  const target = await receiver(t)
  const sealed = new SecretBox(Buffer.alloc(32, 1)).seal('whsec_', 'wh-sample')
  const sent = await senderWith().send(webhookTo(target.url, { sealedSecret: sealed }), storageEvent(1))
  t.match(sent, {
    status: undefined,
    error: 'the signing secret cannot be opened with this master key: issue a new one',
  })
  t.equal(target.connections, 0)
  for (const [until, signatures] of [
    [1_767_323_050_000_001, 2],
    [1_767_323_050_000_000, 1],
  ] as const) {
    const previousSecret = {
      sealedSecret: SECRETS.seal(EARLIER_SECRET, 'wh-sample'),
      untilMicroseconds: microsecondsOf(until),
    }
    await senderWith().send(webhookTo(target.url, { previousSecret }), storageEvent(1))
    t.equal(String(target.received.at(-1)?.headers['webhook-signature']).split(' ').length, signatures)
  }
})

test('the resolver of the system', async (t) => {
  const resolve = systemResolver()
  const { signal } = new AbortController()
  t.ok((await resolve('localhost', signal)).length > 0)
  await t.rejects(resolve('no-such-name.invalid', signal), 'a name that nobody has')
  await t.rejects(resolve('localhost', AbortSignal.abort()))
})
