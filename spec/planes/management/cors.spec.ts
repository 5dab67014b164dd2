/** What a bucket permits to pages of other origins, shown. */
import tap, { test } from 'tap'
import { startManaged } from '../../support/management-server.ts'
import { APP, makeCorsBuckets } from '../s3/cors/cors-answers.ts'

const server = await startManaged()
tap.teardown(() => server.stop())

test('the rules are shown in their order, and are not set here', async (t) => {
  await makeCorsBuckets(server)
  t.same(await server.api.get('GET', '/buckets/cors-bucket/cors'), {
    rules: [
      {
        id: 'app',
        allowed_origins: [APP, 'https://*.app.example'],
        allowed_methods: ['GET', 'PUT', 'POST', 'HEAD'],
        allowed_headers: ['content-type', 'x-amz-*'],
        expose_headers: ['ETag'],
        max_age_seconds: 600,
      },
      {
        id: null,
        allowed_origins: ['*'],
        allowed_methods: ['GET'],
        allowed_headers: [],
        expose_headers: [],
        max_age_seconds: null,
      },
    ],
  })
  t.same(await server.api.get('GET', '/buckets/plain-bucket/cors'), { rules: [] })
  t.equal((await server.api.call('GET', '/buckets/none/cors')).code, 'BUCKET_NOT_FOUND')
  t.equal((await server.api.call('PUT', '/buckets/plain-bucket/cors', { rules: [] })).code, 'METHOD_NOT_ALLOWED')
  t.same(server.undocumented, [])
})
