/**
 * The headers of a delivery, held against the specification to the byte and against the libraries of receivers.
 * Proves: RES-EVT-02, EVT-DEL-01, EVT-DEL-02, EVT-DEL-03.
 */
import { createRequire } from 'node:module'
import { createHmac } from 'node:crypto'
import { test } from 'tap'
import { signedDelivery } from '../../workers/webhooks/signing.ts'
import { EARLIER_SECRET, SIGNING_SECRET, storageEvent } from '../support/webhooks/sample-events.ts'

interface StandardWebhooks {
  readonly Webhook: new (secret: string) => { verify(body: Buffer, headers: object, options?: object): unknown }
}
interface CloudEvents {
  readonly HTTP: {
    isEvent(message: object): boolean
    toEvent(message: object): { validate(): boolean } & Readonly<Record<string, unknown>>
  }
}
const require = createRequire(import.meta.url)
const { Webhook } = require('standardwebhooks') as StandardWebhooks
const { HTTP } = require('cloudevents') as CloudEvents

function signed(secrets: [string, ...string[]] = [SIGNING_SECRET], event = storageEvent(42)) {
  const timeSeconds = Math.floor(Date.now() / 1000)
  return signedDelivery(event, { secrets, timeSeconds, deploymentId: 'd'.repeat(32) })
}

test('the four headers of the specification, and the body that they sign', async (t) => {
  const { body, headers } = signedDelivery(storageEvent(42), {
    secrets: [SIGNING_SECRET],
    timeSeconds: 1_767_323_050,
    deploymentId: 'd'.repeat(32),
  })
  t.equal(
    body.toString(),
    '{"id":"0000000000000042-0000","type":"object.created","time":"2026-01-02T03:04:05.000001Z","bucket":"photos",' +
      '"object":"2026/42.jpg","version_id":"null","size":12,"metadata":{"etag":"e"}}',
  )
  t.match(headers, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-object-store-event-id': '0000000000000042-0000',
    'x-object-store-event-type': 'object.created',
    'x-object-store-event-time': '2026-01-02T03:04:05.000001Z',
    'webhook-timestamp': '1767323050',
  })
  const hmac = createHmac('sha256', 'whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=').update(body).digest('hex')
  t.equal(headers['x-object-store-signature'], `sha256=${hmac}`)
  t.equal(
    headers['x-object-store-signature'],
    'sha256=3ebeaff6cd231d7584295d3b416aafff389d77d81f42be19b21129cb257f5909',
    'the test vector on the page',
  )
  t.equal(headers['webhook-signature'], 'v1,wwXVnaJQhdOKERc1kaj2QN+f268TtmH4RH6kHS33ALQ=', 'the other one')
})

test('receivers with the library of Standard Webhooks accept it, and nothing that was altered', async (t) => {
  const { body, headers } = signed()
  t.match(new Webhook(SIGNING_SECRET).verify(body, headers), { id: '0000000000000042-0000' })
  t.throws(() => new Webhook(EARLIER_SECRET).verify(body, headers))
  t.throws(() => new Webhook(SIGNING_SECRET).verify(Buffer.concat([body, Buffer.from(' ')]), headers))
  t.throws(() => new Webhook(SIGNING_SECRET).verify(body, { ...headers, 'webhook-id': 'another' }))
})

test('while a secret is rotated receivers with either accept it; the signature of the specification is of the new one', async (t) => {
  const { body, headers } = signed([SIGNING_SECRET, EARLIER_SECRET])
  t.ok(new Webhook(SIGNING_SECRET).verify(body, headers))
  t.ok(new Webhook(EARLIER_SECRET).verify(body, headers))
  const hmac = createHmac('sha256', SIGNING_SECRET).update(body).digest('hex')
  t.equal(headers['x-object-store-signature'], `sha256=${hmac}`)
})

test('receivers with the library of CloudEvents read it as an event in binary mode', async (t) => {
  const { body, headers } = signed(undefined, storageEvent(42, { object: 'über uns/"100%".txt' }))
  t.ok(HTTP.isEvent({ headers, body: body.toString() }))
  const event = HTTP.toEvent({ headers, body: body.toString() })
  t.ok(event.validate())
  t.match(event, {
    id: '0000000000000042-0000',
    specversion: '1.0',
    type: 'object.created',
    source: `/object-store/${'d'.repeat(32)}`,
    datacontenttype: 'application/json',
    data: { object: 'über uns/"100%".txt' },
  })
  t.equal(headers['ce-subject'], 'photos/%C3%BCber%20uns/%22100%25%22.txt')
  const ofBucket = signed(
    undefined,
    storageEvent(42, { type: 'bucket.created', object: undefined, versionId: undefined }),
  )
  t.equal(ofBucket.headers['ce-subject'], 'photos')
  for (const value of Object.values(headers)) t.match(value, /^[\x20-\x7e]*$/, 'every header is plain ASCII')
})
