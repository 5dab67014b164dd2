/**
 * What is meant for other services, and what is said twice.
 * Proves: DO-NOT-14, DO-NOT-17.
 */
import tap, { test } from 'tap'
import type { QueryParameter } from '../../../../planes/s3/request/query-parameters.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import { setVersioning } from '../../../support/wire-versions.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw, wire } = server

test('STS is refused by name, however it is asked', async (t) => {
  const body = 'Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::1:role/r'
  const form = [['content-type', 'application/x-www-form-urlencoded']] as const
  isError(t, await raw('GET', '/?Action=AssumeRole&Version=2011-06-15'), 'NotImplemented', 'GET')
  isError(t, await raw('POST', '/', { headers: [...form], body }), 'NotImplemented', 'POST')
  isError(t, await raw('POST', '/', { sign: false, headers: [...form], body }), 'NotImplemented', 'with a web identity')
  isError(t, await raw('GET', '/?Action=GetCallerIdentity', { sign: false }), 'NotImplemented', 'by nobody')
  for (const [method, target] of [
    ['POST', '/'],
    ['GET', '/?Action=AssumeRole'],
  ] as const) {
    const headers = wire.headersOf(method, target)
    const forSts = headers.map(
      ([name, value]) => [name, value.replace('/s3/aws4_request', '/sts/aws4_request')] as const,
    )
    const answer = await wire.exchange(method, target, forSts, Buffer.alloc(0))
    isError(t, answer, 'NotImplemented', `${method} signed for sts`)
  }
  t.equal((await raw('GET', '/?x=y')).status, 200)
})

test("another vendor's administration is refused by name, and a bucket may have the name of its path", async (t) => {
  for (const method of ['GET', 'PUT', 'POST', 'DELETE'])
    isError(t, await raw(method, '/minio/admin/v3/info'), 'NotImplemented', method)
  isError(t, await raw('GET', '/minio/admin/v3/info', { sign: false }), 'AccessDenied', 'to nobody')
  isError(t, await raw('GET', '/minio/other'), 'NoSuchBucket', 'any other key')
  t.equal((await raw('PUT', '/minio')).status, 200)
  t.equal((await raw('PUT', '/minio/admin/v3/info', { body: 'mine' })).status, 200)
  t.equal((await raw('GET', '/minio/admin/v3/info')).text, 'mine')
})

test('a parameter that occurs twice is refused: its values could be swapped under the signature', async (t) => {
  await raw('PUT', '/twice')
  await setVersioning(server, 'twice', 'enabled')
  const ids: string[] = []
  for (const body of ['one', 'two']) {
    ids.push(String((await raw('PUT', '/twice/key', { body })).headers['x-amz-version-id']))
  }
  const query = ids.map((id): QueryParameter => ['versionId', id])
  const link = wire.presigned('GET', '/twice/key', { query })
  const [first = '', second = ''] = ids
  const swapped = link.replace(first, '#').replace(second, first).replace('#', second)
  for (const target of [link, swapped]) isError(t, await raw('GET', target, { sign: false }), 'InvalidArgument', target)
  for (const target of [
    `/twice/key?versionId=${first}&versionId=${first}`,
    '/twice?list-type=2&prefix=a&prefix=b',
    '/twice?list-type=2&list-type=2',
    '/twice/key?partNumber=1&partNumber=2',
    '/twice?list-type=2&x-id=a&x-id=b',
    '/twice?cors&cors',
  ])
    isError(t, await raw('GET', target), 'InvalidArgument', target)
  isError(t, await raw('GET', '/twice?list-type=2&prefix=a&prefix=b', { sign: false }), 'AccessDenied', 'to nobody')
})
