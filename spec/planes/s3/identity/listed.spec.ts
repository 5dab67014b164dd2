/** What an account sees: buckets in ListBuckets, and keys below a prefix. */
import tap, { test } from 'tap'
import { allow, deny, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { isError } from '../../../support/wire-assertions.ts'
import { elements } from '../../../support/wire-client.ts'
import type { PolicyStatement } from '../../../../engine/events/values.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { raw } = server
for (const bucket of ['alpha', 'beta', 'gamma']) await raw('PUT', `/${bucket}`)
for (const key of ['in/a', 'in/b', 'inside', 'out']) await raw('PUT', `/alpha/${key}`, { body: 'x' })

/** Statuses, or names in the answers, of requests with these policies. */
async function asked(statements: readonly PolicyStatement[]) {
  const { signing, s3 } = await newIdentity(server, statements)
  s3.destroy()
  return async (target: string, element: string) => {
    const { status, text } = await raw('GET', target, signing)
    return status === 200 ? elements(text, element) : status
  }
}

test('ListBuckets shows the buckets for which its action is allowed', async (t) => {
  const LIST = ['s3:ListAllMyBuckets']
  for (const [statements, names] of [
    [[allow(['s3:GetObject', 's3:ListBucket'], 'bucket:*')], 403],
    [[allow(LIST, 'bucket:none')], 403],
    [[allow(LIST, 'bucket:alpha/*')], 403],
    [[allow(LIST, 'bucket:beta')], ['beta']],
    [
      [allow(['s3:*'], 'bucket:alpha', 'bucket:alpha/*'), allow(LIST, 'bucket:gam*')],
      ['alpha', 'gamma'],
    ],
    [[allow(LIST, 'bucket:*')], ['alpha', 'beta', 'gamma']],
    [
      [allow(LIST, 'bucket:*'), deny(LIST, 'bucket:alpha')],
      ['beta', 'gamma'],
    ],
    [[allow(LIST, 'bucket:alpha'), deny(LIST, 'bucket:*')], 403],
  ] as const)
    t.same(await (await asked(statements))('/', 'Name'), names, JSON.stringify(statements))
})

test('pages of ListBuckets are of the buckets that are seen', async (t) => {
  const ask = await asked([allow(['s3:List*'], 'bucket:alpha', 'bucket:gamma')])
  t.same(await ask('/?max-buckets=1', 'Name'), ['alpha'])
  const [token] = (await ask('/?max-buckets=1', 'ContinuationToken')) as string[]
  t.same(await ask(`/?max-buckets=1&continuation-token=${encodeURIComponent(token ?? '')}`, 'Name'), ['gamma'])
  t.same(await ask('/?prefix=beta', 'Name'), [], 'a prefix without a bucket that is seen')
})

test('a denied ListBuckets is recorded as denied', async (t) => {
  const { signing, s3 } = await newIdentity(server, [allow(['s3:GetObject'], 'bucket:*')])
  s3.destroy()
  isError(t, await raw('GET', '/', signing), 'AccessDenied', 'nothing is seen')
  t.match((await server.journal()).at(-1), { operation: 's3:GET', resource: 'bucket:*', result: 'denied' })
})

test('keys below a prefix are listed by a policy for these keys', async (t) => {
  const LISTS = ['s3:ListBucket', 's3:ListBucketVersions', 's3:ListBucketMultipartUploads']
  const ask = await asked([allow(LISTS, 'bucket:alpha/in/*')])
  const list = (prefix: string, query = 'list-type=2') =>
    ask(`/alpha?${query}&prefix=${encodeURIComponent(prefix)}`, 'Key')
  t.same(await list('in/'), ['in/a', 'in/b'])
  t.same(await list('in/a'), ['in/a'])
  t.same(await list('in/', 'versions'), ['in/a', 'in/b'])
  t.same(await list('in/', 'uploads'), [])
  for (const query of ['list-type=2', 'versions', 'uploads'])
    for (const prefix of ['', 'i', 'in', 'out']) t.equal(await list(prefix, query), 403, `${query} ${prefix}`)
  t.equal(await ask('/alpha?list-type=2', 'Key'), 403)
  t.equal(await ask('/beta?list-type=2&prefix=in/', 'Key'), 403)
})

test('a resource without a wildcard lists nothing, and a denial wins', async (t) => {
  const LIST = ['s3:ListBucket']
  const target = '/alpha?list-type=2&prefix=in/'
  for (const [statements, seen] of [
    [[allow(LIST, 'bucket:alpha/in/')], 403],
    [[allow(LIST, 'bucket:alpha/in/*'), deny(LIST, 'bucket:alpha')], 403],
    [[allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/in/*')], 403],
    [[allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/in/b')], 403],
    [[allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/in/b*')], 403],
    [[allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/i*')], 403],
    [
      [allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/out*', 'bucket:alpha/i')],
      ['in/a', 'in/b'],
    ],
    [[allow(['s3:GetObject'], 'bucket:alpha/in/*')], 403],
    [[allow(LIST, 'bucket:alpha')], ['in/a', 'in/b']],
    [[allow(LIST, 'bucket:al*')], ['in/a', 'in/b']],
  ] as const)
    t.same(await (await asked(statements))(target, 'Key'), seen, JSON.stringify(statements))
})

test('a shorter prefix does not get by a denial', async (t) => {
  const LIST = ['s3:ListBucket']
  const ask = await asked([allow(LIST, 'bucket:alpha/*'), deny(LIST, 'bucket:alpha/in/*')])
  for (const prefix of ['i', 'in', 'in/', 'in/a'])
    t.equal(await ask(`/alpha?list-type=2&prefix=${encodeURIComponent(prefix)}`, 'Key'), 403, prefix)
  t.not(await ask('/alpha?list-type=2&prefix=out', 'Key'), 403)
  const whole = await asked([allow(LIST, 'bucket:alpha'), deny(LIST, 'bucket:alpha/in/*')])
  t.same(await whole('/alpha?list-type=2&prefix=in/', 'Key'), ['in/a', 'in/b'], 'a list of all has these names too')
})
