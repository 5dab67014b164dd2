/** Proves: DO-NOT-13. */
import { X509Certificate } from 'node:crypto'
import tap, { test } from 'tap'
import { HostNames } from '../../../../planes/s3/request/host-names.ts'
import { selfSignedCertificate } from '../../../support/self-signed-certificate.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startInThread({ hostnames: ['store.example', 'first.second.example'] })
tap.teardown(() => server.stop())
const { raw, wire } = server

function certificateOf(name: string): X509Certificate {
  return new X509Certificate(selfSignedCertificate({ name }).certificate)
}

test('the names of a store', (t) => {
  const names = new HostNames(undefined, 'Machine')
  for (const host of ['127.0.0.1', '127.0.0.1:7600', '[::1]', '[::1]:7600', '[fe80::1]:', '10.0.0.7:1', '127.0.0.1.'])
    t.equal(names.includes(host), true, host)
  for (const host of ['localhost', 'LOCALHOST:7600', 'localhost.', 'localhost.:7600', 'machine', 'mAchine:80'])
    t.equal(names.includes(host), true, host)
  for (const host of [
    '',
    '.',
    ':7600',
    'photos',
    'photos.localhost',
    'photos.machine',
    'photos.127.0.0.1',
    '127.1',
    'localhost..',
    'localhost:76x',
    'local host',
    '[::1].photos',
    'photos.[::1]',
    'store.example',
  ])
    t.equal(names.includes(host), false, host)
  t.end()
})

test('the names of the certificate are names of the store, until another one is served', (t) => {
  const names = new HostNames(undefined, 'machine')
  names.useCertificate(certificateOf('store.example'))
  t.equal(names.includes('Store.Example.:7600'), true)
  t.equal(names.includes('photos.store.example'), false)
  names.useCertificate(certificateOf('*.example'))
  t.equal(names.includes('store.example'), false, 'the certificate before')
  t.equal(names.includes('*.example'), false)
  t.equal(names.includes('photos.example'), false, 'a star would let in hosts with a bucket in front')
  t.equal(names.includes('machine'), true)
  const configured = new HostNames(['store.example'], 'machine')
  configured.useCertificate(certificateOf('other.example'))
  t.equal(configured.includes('STORE.example'), true)
  t.equal(configured.includes('other.example'), false)
  t.equal(configured.includes('machine'), false)
  t.equal(configured.includes('localhost'), true)
  t.end()
})

test('a request for another host makes, removes, reads and lists nothing', async (t) => {
  isDone(t, await raw('PUT', '/first'), 200, 'create')
  isDone(t, await raw('PUT', '/first/key', { body: 'bytes' }), 200, 'put')
  for (const host of ['photos.store.example', 'first.store.example', 'first.other.example', 'other', 'first']) {
    for (const [method, target] of [
      ['PUT', '/marker.txt'],
      ['DELETE', '/first'],
      ['GET', '/?list-type=2'],
      ['GET', '/first/key'],
      ['PUT', '/first/key'],
    ] as const) {
      const answer = await raw(method, target, { sign: { host } })
      isError(t, answer, 'NotImplemented', `${method} ${target} at ${host}`)
      t.match(answer.text, /s3\.hostnames/, 'says where to name it')
    }
  }
  t.equal((await raw('HEAD', '/marker.txt')).status, 404, 'no bucket was made')
  t.equal((await raw('GET', '/first/key')).text, 'bytes')
})

test('a bucket may have the first label of a name of the store', async (t) => {
  const sign = { host: 'first.second.example:7600' }
  isDone(t, await raw('GET', '/', { sign }), 200, 'ListBuckets')
  isDone(t, await raw('PUT', '/second', { sign }), 200, 'CreateBucket')
})

test('strangers learn nothing by the host', async (t) => {
  for (const host of ['store.example', 'other.example', 'first.other.example'])
    isError(t, await wire.exchange('GET', '/first/key', [['host', host]], Buffer.alloc(0)), 'AccessDenied', host)
})

test('with * any name is accepted, but no name that has a bucket in front of one of the others', (t) => {
  const names = new HostNames(['*', 'store.example'], 'machine')
  names.useCertificate(certificateOf('other.example'))
  for (const host of [
    'minio:9000',
    'objectstore',
    'a.b.c.example:1',
    'Store.Example',
    'other.example',
    'machine',
    '[::1]:7600',
  ])
    t.equal(names.includes(host), true, host)
  for (const host of [
    'photos.store.example',
    'a.b.store.example:7600',
    // Longer than a name of the DNS: each of its labels would be looked up with all that follow.
    `${'a.'.repeat(126)}bc`,
    `${'a.'.repeat(7000)}b`,
    'photos.other.example',
    'photos.machine',
    'photos.localhost',
    'photos.127.0.0.1',
    'photos.[::1]',
    '',
    'a..b',
    '.',
  ])
    t.equal(names.includes(host), false, host)
  t.end()
})
