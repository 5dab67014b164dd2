/** Presigned URLs that a front end remembers: nothing passes by them that would not pass without. */
import { test } from 'tap'
import { millisecondsOf } from '../../../../engine/brands.ts'
import { compilePolicies } from '../../../../engine/access/policy.ts'
import type { HeaderLine } from '../../../../planes/http/exchange.ts'
import { Authenticator } from '../../../../planes/s3/identity/authenticate.ts'
import type { Credential } from '../../../../planes/s3/signing/identity.ts'
import { VerifiedUrls } from '../../../../planes/s3/identity/verified-urls.ts'
import { recognize } from '../../../../planes/s3/recognize-operation.ts'
import { wireRequest } from '../wire-request.ts'
import { CREDENTIAL, HOST_H, NOW, presigned, signed } from './signing.ts'

/** An authenticator whose clock and credential can be changed. */
class World {
  now = NOW
  credential: Credential | undefined = CREDENTIAL
  readonly authenticator = new Authenticator({
    lookup: () => this.credential,
    clock: () => millisecondsOf(this.now),
  })

  /** Sends a request all the way, as the plane does. */
  admit(method: string, rawTarget: string, headers: readonly HeaderLine[] = HOST_H): void {
    const { request, target } = wireRequest(method, rawTarget, headers)
    const identity = this.authenticator.authenticate(request, target)
    if (identity === undefined) throw new Error('anonymous')
    this.authenticator.remember(request, { target, operation: recognize(method, target, request), identity })
  }

  recall(method: string, rawTarget: string, headers: readonly HeaderLine[] = HOST_H) {
    return this.authenticator.recall(wireRequest(method, rawTarget, headers).request)
  }
}

const URL = presigned({ method: 'GET', expiresSeconds: 60 })

test('a URL that was admitted is known, with all that was found out', (t) => {
  const world = new World()
  t.equal(world.recall('GET', URL), undefined, 'not before')
  world.admit('GET', URL)
  const known = world.recall('GET', URL, [...HOST_H, ['range', 'bytes=0-1'], ['user-agent', 'x']])
  t.match(known, {
    target: { bucket: 'b', key: 'k' },
    operation: { name: 'GetObject' },
    identity: { accessKey: CREDENTIAL.accessKey, mode: 'presigned', payload: { kind: 'unsigned' } },
  })
  t.end()
})

test('S1 whatever differs in what is signed or decides is looked at anew', (t) => {
  const world = new World()
  world.admit('GET', URL)
  const last = URL.at(-1) === '0' ? '1' : '0'
  const others: Readonly<Record<string, [string, string, HeaderLine[]?]>> = {
    'another method': ['HEAD', URL],
    'another key': ['GET', URL.replace('/b/k', '/b/l')],
    'the same key in another spelling': ['GET', URL.replace('/b/k', '/b/%6B')],
    'another signature': ['GET', URL.slice(0, -1) + last],
    'a later expiry': ['GET', URL.replace('X-Amz-Expires=60', 'X-Amz-Expires=600')],
    'one more parameter': ['GET', `${URL}&versionId=null`],
    'another host': ['GET', URL, [['host', 'g']]],
    'two hosts': ['GET', URL, [...HOST_H, ...HOST_H]],
    'no host': ['GET', URL, []],
    'a header of S3': ['GET', URL, [...HOST_H, ['x-amz-acl', 'private']]],
    'a signature in a header too': ['GET', URL, [...HOST_H, ['authorization', 'AWS4-HMAC-SHA256 x']]],
    'an aws-chunked body': ['GET', URL, [...HOST_H, ['content-encoding', 'aws-chunked']]],
  }
  for (const [title, [method, target, headers = HOST_H]] of Object.entries(others)) {
    t.equal(world.recall(method, target, headers), undefined, title)
  }
  t.ok(world.recall('GET', URL))
  t.end()
})

test('S13 time and credential are looked at each time', (t) => {
  const world = new World()
  world.admit('GET', URL)
  world.now = NOW + 60_000
  t.ok(world.recall('GET', URL), 'its last moment')
  world.now += 1
  t.equal(world.recall('GET', URL), undefined, 'expired')
  world.now = NOW - 900_001
  t.equal(world.recall('GET', URL), undefined, 'the clock went back: not valid yet')
  world.now = NOW
  const policies = compilePolicies([])
  world.credential = { ...CREDENTIAL, policies }
  t.equal(world.recall('GET', URL)?.identity.policies, policies, 'the policies of now')
  world.credential = { ...CREDENTIAL, secretKey: 'another' }
  t.equal(world.recall('GET', URL), undefined, 'another secret')
  world.credential = undefined
  t.equal(world.recall('GET', URL), undefined, 'revoked')
  world.credential = CREDENTIAL
  t.ok(world.recall('GET', URL))
  t.end()
})

test('only what is signed by the host alone, and short, is kept, and so many', (t) => {
  const urls = new VerifiedUrls(2)
  const add = (
    rawTarget: string,
    headers: readonly HeaderLine[] = HOST_H,
    mode: 'presigned' | 'header' = 'presigned',
  ) => {
    const { request, target } = wireRequest('GET', rawTarget, headers)
    const { accessKey, principal, credentialId, policies, secretKey } = CREDENTIAL
    const identity = { accessKey, principal, credentialId, mode, payload: { kind: 'unsigned' }, policies } as const
    urls.add(request, target, recognize('GET', target, request), identity, secretKey)
  }
  add('/b/k', signed({ method: 'GET' }), 'header')
  add(presigned({ method: 'GET', headers: [['range', 'bytes=0-1']] }), [...HOST_H, ['range', 'bytes=0-1']])
  add(presigned({ method: 'GET', path: `/b/${'k'.repeat(800)}` }))
  t.equal(urls.size, 0)
  add(URL)
  add(presigned({ method: 'GET', path: '/b/2' }))
  t.equal(urls.size, 2)
  add(presigned({ method: 'GET', path: '/b/3' }))
  t.equal(urls.size, 1)
  t.equal(urls.find(wireRequest('GET', URL, HOST_H).request), undefined)
  t.end()
})
