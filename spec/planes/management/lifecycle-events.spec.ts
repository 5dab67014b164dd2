/**
 * What lifecycle rules remove, as clients see it over the wire: storage events, the stream and the audit log.
 * Proves: RES-AUD-11, API-RUL-09.
 */
import tap, { test } from 'tap'
import { DAY, runPass } from '../../support/lifecycle.ts'
import { startManaged } from '../../support/management-server.ts'
import { eventsDuring } from '../../support/storage-events.ts'
import { createBucket, put, setVersioning } from '../../support/wire-versions.ts'

let now = Date.now() - 60 * DAY
const server = await startManaged({ clock: () => now })
tap.teardown(() => server.stop())
const { api } = server
const store = { client: server.session.engine, catalog: server.session.catalog }

await createBucket(server, 'plain')
await put(server, 'plain/old', 'four')
await createBucket(server, 'kept')
await setVersioning(server, 'kept', 'enabled')
const first = await put(server, 'kept/twice', 'one')
await put(server, 'kept/twice', 'second')
now = Date.now()
await put(server, 'plain/young', 'x')
const rules = new Map<string, string>()
for (const bucket of ['plain', 'kept']) {
  const body = { expiration: 30, noncurrent_version_expiration: 30 }
  const { id } = await api.get<{ id: string }>('POST', `/buckets/${bucket}/lifecycle`, body)
  rules.set(bucket, id)
}
const events = await eventsDuring(api, () => runPass(store, { now }))

test('each removal is an event of the system', (t) => {
  t.match(
    events.map(({ type, bucket, object, version_id, size, metadata }) => ({
      type,
      bucket,
      object,
      ...(bucket === 'plain' || metadata['permanent'] === true ? { version_id } : {}),
      size,
      permanent: metadata['permanent'],
      marker: metadata['delete_marker'],
    })),
    [
      { type: 'object.deleted', bucket: 'plain', object: 'old', version_id: 'null', size: 4, permanent: true },
      { type: 'object.deleted', bucket: 'kept', object: 'twice', size: 0, permanent: false, marker: true },
      { type: 'object.deleted', bucket: 'kept', object: 'twice', version_id: first, size: 3, permanent: true },
    ],
  )
  for (const { metadata } of events) t.equal(metadata['principal_kind'], 'system')
  t.end()
})

test('the stream has the same lines', async (t) => {
  const { body } = await api.send('GET', '/api/v1/events/stream?follow=false&type=object.deleted')
  t.equal(String(body), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
})

test('the audit log names the component and the rule', async (t) => {
  const { events: records } = await api.get<{ events: { operation: string; metadata: object }[] }>(
    'GET',
    '/audit/events?principal=system:lifecycle&result=success',
  )
  const removals = records.filter(({ operation }) => operation !== 'lifecycle.scan')
  t.match(
    removals.map(({ operation, metadata }) => ({ operation, ...metadata })),
    [
      { operation: 'lifecycle.expire-object', rule_id: rules.get('plain'), rule_prefix: '' },
      { operation: 'lifecycle.expire-object', rule_id: rules.get('kept') },
      { operation: 'lifecycle.expire-noncurrent-version', rule_id: rules.get('kept') },
    ],
  )
})
