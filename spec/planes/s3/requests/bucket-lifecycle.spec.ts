/** The extension lifecycle-api: rules of a bucket over S3, mapped to the rules of the store. */
import {
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3'
import tap, { test } from 'tap'
import { RULES_MAXIMUM } from '../../../../engine/lifecycle/rules.ts'
import { RULE_ID_BYTES_MAXIMUM } from '../../../../planes/s3/documents/lifecycle-configuration.ts'
import { allow, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'

const server = await startManaged({ extensions: ['lifecycle-api'] })
tap.teardown(() => server.stop())
const { raw, s3, api } = server

async function bucket(name: string): Promise<string> {
  await raw('PUT', `/${name}`)
  return name
}

async function rulesOf(Bucket: string): Promise<readonly LifecycleRule[]> {
  return (await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules ?? []
}

const LOGS: LifecycleRule = { ID: 'logs', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } }
const OLD: LifecycleRule = {
  ID: 'old versions & more',
  Status: 'Disabled',
  Filter: { Prefix: '' },
  NoncurrentVersionExpiration: { NoncurrentDays: 7 },
}

function put(Bucket: string, Rules: LifecycleRule[]) {
  return s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }))
}

test('rules are set, read as they were given, seen on the management plane, and replaced as a whole', async (t) => {
  const Bucket = await bucket('rules')
  isError(t, await raw('GET', `/${Bucket}?lifecycle`), 'NoSuchLifecycleConfiguration', 'none')
  t.equal((await put(Bucket, [LOGS, OLD])).TransitionDefaultMinimumObjectSize, 'all_storage_classes_128K')
  t.same(await rulesOf(Bucket), [LOGS, OLD])
  t.match(Object.fromEntries((await server.journal()).at(-2)?.details ?? []), {
    api: 'PutBucketLifecycleConfiguration',
  })
  const path = `/buckets/${Bucket}/lifecycle`
  t.match(await api.get('GET', path), {
    rules: [
      { id: `${Bucket}/logs`, prefix: 'logs/', enabled: true, expiration: 30, noncurrent_version_expiration: null },
      { id: `${Bucket}/old versions & more`, prefix: '', enabled: false, noncurrent_version_expiration: 7 },
    ],
  })
  t.equal((await api.call('DELETE', `/lifecycle-rules/${encodeURIComponent(`${Bucket}/logs`)}`)).status, 204)
  t.same(await rulesOf(Bucket), [OLD])
  await put(Bucket, [OLD, LOGS])
  await put(Bucket, [LOGS, OLD])
  t.same(await rulesOf(Bucket), [LOGS, OLD], 'in the order of the document')
  await put(Bucket, [{ ...LOGS, Expiration: { Days: 31 } }])
  t.same(await rulesOf(Bucket), [{ ...LOGS, Expiration: { Days: 31 } }])
  await s3.send(new DeleteBucketLifecycleCommand({ Bucket }))
  isError(t, await raw('GET', `/${Bucket}?lifecycle`), 'NoSuchLifecycleConfiguration', 'deleted')
  isDone(t, await raw('DELETE', `/${Bucket}?lifecycle`), 204, 'again')
})

test('rules of the management plane are read over S3, and keep their id when they are written back', async (t) => {
  const Bucket = await bucket('managed')
  const { id } = await api.get<{ id: string }>('POST', `/buckets/${Bucket}/lifecycle`, { prefix: 'a/', expiration: 1 })
  const read = await rulesOf(Bucket)
  t.match(read, [{ ID: id, Filter: { Prefix: 'a/' }, Status: 'Enabled', Expiration: { Days: 1 } }])
  await put(Bucket, [...read, LOGS])
  t.match(await api.get('GET', `/buckets/${Bucket}/lifecycle`), { rules: [{ id }, { id: `${Bucket}/logs` }] })
})

test('buckets have ids of their own, and a rule without one gets one', async (t) => {
  const [one, two] = [await bucket('ids-one'), await bucket('ids-two')]
  await put(one, [LOGS])
  await put(two, [{ ...LOGS, ID: undefined }, LOGS])
  t.same(await rulesOf(one), [LOGS])
  const [made, given] = await rulesOf(two)
  t.match(made?.ID, /^[\w-]{20}$/)
  t.same(given, LOGS)
  await put(two, [{ ...LOGS, ID: 'x'.repeat(RULE_ID_BYTES_MAXIMUM) }])
  t.equal((await rulesOf(two)).length, 1)
})

test('a prefix of the older form, of And, and with white space', async (t) => {
  const Bucket = await bucket('forms')
  const send = (rule: string) =>
    raw('PUT', `/${Bucket}?lifecycle`, {
      body: documentWith(`${rule}<Status>Enabled</Status><Expiration><Days>1</Days></Expiration>`),
    })
  for (const [rule, prefix] of [
    ['<Prefix>a/</Prefix>', 'a/'],
    ['<Filter><And><Prefix>b/</Prefix></And></Filter>', 'b/'],
    ['<Filter></Filter>', ''],
    ['<Filter/>', ''],
    ['<Filter><Prefix> c &amp; d </Prefix></Filter>', ' c & d '],
    [`<Filter><Prefix>${'é'.repeat(512)}</Prefix></Filter>`, 'é'.repeat(512)],
  ] as const) {
    isDone(t, await send(rule), 200, rule)
    t.equal((await rulesOf(Bucket))[0]?.Filter?.Prefix, prefix, rule)
  }
  isError(t, await send(`<Filter><Prefix>${'é'.repeat(513)}</Prefix></Filter>`), 'InvalidArgument', 'too long')
  isError(t, await send(''), 'MalformedXML', 'neither filter nor prefix')
  isError(t, await send('<Prefix/><Filter/>'), 'MalformedXML', 'both')
})

function documentWith(rule: string): string {
  return `<LifecycleConfiguration><Rule>${rule}</Rule></LifecycleConfiguration>`
}

const HEAD = '<ID>one</ID><Filter><Prefix/></Filter><Status>Enabled</Status>'
const DAY = '<Expiration><Days>1</Days></Expiration>'

test('what rules cannot say is refused by name, and the rules stay as they were', async (t) => {
  const Bucket = await bucket('unsaid')
  await put(Bucket, [LOGS])
  const send = (body: string) => raw('PUT', `/${Bucket}?lifecycle`, { body })
  for (const [name, rule] of Object.entries({
    Transition: `${HEAD}${DAY}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`,
    NoncurrentVersionTransition: `${HEAD}${DAY}<NoncurrentVersionTransition/>`,
    AbortIncompleteMultipartUpload: `${HEAD}${DAY}<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
    Date: `${HEAD}<Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration>`,
    ExpiredObjectDeleteMarker: `${HEAD}<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
    NewerNoncurrentVersions: `${HEAD}<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
    Tag: `<Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter><Status>Enabled</Status>${DAY}`,
    ObjectSizeGreaterThan: `<Filter><And><Prefix/><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></And></Filter><Status>Enabled</Status>${DAY}`,
  })) {
    const answer = await send(documentWith(rule))
    isError(t, answer, 'NotImplemented', name)
    t.match(answer.text, new RegExp(`<Message>${name} is not supported: a lifecycle rule of this server has`))
  }
  const many = Array.from(
    { length: RULES_MAXIMUM + 1 },
    (_, at) => `<Rule>${HEAD.replace('one', String(at))}${DAY}</Rule>`,
  )
  for (const [body, code] of [
    ['<LifecycleConfiguration/>', 'MalformedXML'],
    [documentWith(HEAD), 'InvalidRequest'],
    [documentWith(HEAD.replace('Enabled', 'On') + DAY), 'MalformedXML'],
    [documentWith(`${HEAD}${DAY}${DAY}`), 'MalformedXML'],
    [documentWith(`${HEAD}<Expiration/>`), 'MalformedXML'],
    [documentWith(`${HEAD}${DAY}<Other/>`), 'MalformedXML'],
    [documentWith(HEAD.replace('one', 'x'.repeat(RULE_ID_BYTES_MAXIMUM + 1)) + DAY), 'InvalidArgument'],
    ...['0', '-1', '1.5', '36501', 'x', ''].map(
      (days) => [documentWith(HEAD + DAY.replace('1', days)), 'InvalidArgument'] as const,
    ),
    [
      `<LifecycleConfiguration><Rule>${HEAD}${DAY}</Rule><Rule>${HEAD}${DAY}</Rule></LifecycleConfiguration>`,
      'InvalidArgument',
    ],
    [`<LifecycleConfiguration>${many.join('')}</LifecycleConfiguration>`, 'InvalidRequest'],
  ] as const)
    isError(t, await send(body), code, body.slice(0, 200))
  t.same(await rulesOf(Bucket), [LOGS])
  isDone(
    t,
    await send(`<LifecycleConfiguration>${many.slice(1).join('')}</LifecycleConfiguration>`),
    200,
    'as many as may be',
  )
  t.equal((await rulesOf(Bucket)).length, RULES_MAXIMUM)
})

test('rules whose record would be too long are refused by name, and all that was set can be deleted', async (t) => {
  const Bucket = await bucket('x'.repeat(63))
  const rules = (count: number, prefix: number, id: string): LifecycleRule[] =>
    Array.from({ length: count }, (_, at) => {
      const text = String(at).padStart(3, '0')
      return { ...LOGS, ID: `${text}${id}`.slice(0, 190), Filter: { Prefix: `${text}${'p'.repeat(prefix - 3)}` } }
    })
  await put(Bucket, [LOGS])
  const refused = { name: 'InvalidRequest', message: /have more than 20 KiB\. Delete the rules first/ }
  await t.rejects(put(Bucket, rules(40, 900, '')), refused)
  await t.rejects(put(Bucket, rules(RULES_MAXIMUM, 1024, 'i'.repeat(190))), refused)
  t.same(await rulesOf(Bucket), [LOGS])
  await put(Bucket, rules(17, 900, ''))
  t.same(await rulesOf(Bucket), rules(17, 900, ''))
  await s3.send(new DeleteBucketLifecycleCommand({ Bucket }))
  const longIds = (letter: string) => rules(53, 10, letter.repeat(190))
  await put(Bucket, longIds('a'))
  await t.rejects(put(Bucket, longIds('b')), refused, 'the ids of those that it replaces are in the record too')
  t.same(await rulesOf(Bucket), longIds('a'))
  const room = RULES_MAXIMUM - 53
  for (let at = 0; at < room; at += 1) {
    const managed = { prefix: 'm'.repeat(1000), expiration: 1 }
    t.match(await api.call('POST', `/buckets/${Bucket}/lifecycle`, managed), { status: 201 })
  }
  await s3.send(new DeleteBucketLifecycleCommand({ Bucket }))
  isError(t, await raw('GET', `/${Bucket}?lifecycle`), 'NoSuchLifecycleConfiguration', 'deleted')
})

test('setting rules needs its own permission; managing the bucket does not cover what removes objects', async (t) => {
  const Bucket = await bucket('permitted')
  const statuses = async (actions: readonly string[]) => {
    const { signing, s3: client } = await newIdentity(server, [allow(actions, `bucket:${Bucket}`)])
    client.destroy()
    const body = documentWith(HEAD + DAY)
    const ask = [
      await raw('PUT', `/${Bucket}?lifecycle`, { body, ...signing }),
      await raw('GET', `/${Bucket}?lifecycle`, signing),
      await raw('DELETE', `/${Bucket}?lifecycle`, signing),
    ]
    return ask.map(({ status }) => status)
  }
  t.same(await statuses(['s3:ManageBucket']), [403, 404, 403])
  t.same(await statuses(['s3:PutLifecycleConfiguration']), [200, 403, 204])
  t.same(await statuses(['s3:GetLifecycleConfiguration']), [403, 404, 403])
})

test('an id that begins with the name of the bucket is an id like others, also when it is written again', async (t) => {
  const Bucket = await bucket('named-like-ids')
  const rules = [LOGS, { ...OLD, ID: `${Bucket}/${LOGS.ID}` }]
  for (const time of ['the first time', 'again']) {
    await put(Bucket, rules)
    t.same(await rulesOf(Bucket), rules, time)
  }
})

test('answers of the management plane about these rules are those of its OpenAPI document', async (t) => {
  t.same(server.undocumented, [])
})
